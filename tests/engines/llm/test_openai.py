"""OpenAI's two formats: what goes out for a profile, and what counts as a reply."""

import math
from typing import Any

import httpx2
import openai
import pytest

from decide.engines._openai_bodies import chat_body, read_chat, read_responses, responses_body
from decide.engines.chat import Inference, Profile, Token
from decide.engines.llm import LLMEngine
from decide.engines.openai import OpenAIChat
from decide.errors import AuthError, DecideError, InvalidAnswerError
from tests.engines.llm.loopback import ANSWER, chat, http, responses, serving
from tests.engines.llm.models import NOUL, asking

SCHEMA: dict[str, object] = {"type": "object"}
BY_TOKEN = Profile(probability="logprobs", max_tokens=256, request_params={"reasoning_effort": "none"})
LOGPROBS = {
    "content": [
        {"token": '{"answers": {"q0": {"verdict": ', "logprob": 0.0, "bytes": None, "top_logprobs": []},
        {
            "token": "true",
            "logprob": math.log(0.8),
            "bytes": list(b"true"),
            "top_logprobs": [
                {"token": "true", "logprob": math.log(0.8), "bytes": None},
                {"token": "false", "logprob": math.log(0.2), "bytes": None},
            ],
        },
        {"token": "}}}", "logprob": 0.0, "bytes": list(b"}}}"), "top_logprobs": []},
    ]
}
VERDICT = '{"answers": {"q0": {"verdict": true}}}'


def asked(profile: Profile | None, context: str = "") -> Inference:
    return Inference(system="rules", context=context, user="data", schema=SCHEMA, profile=profile)


def test_a_chat_is_two_messages_in_a_strict_schema() -> None:
    assert chat_body(asked(Profile(), context="where"), "m-1") == {
        "model": "m-1",
        "messages": [{"role": "system", "content": "rules"}, {"role": "user", "content": "where\n\ndata"}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "decision", "strict": True, "schema": SCHEMA},
        },
        "temperature": 0.0,
    }


def test_a_response_is_the_same_and_is_not_stored() -> None:
    assert responses_body(asked(Profile()), "m-1") == {
        "model": "m-1",
        "instructions": "rules",
        "input": [{"role": "user", "content": "data"}],
        "store": False,
        "text": {"format": {"type": "json_schema", "name": "decision", "strict": True, "schema": SCHEMA}},
        "temperature": 0.0,
    }


def test_without_a_profile_nothing_but_messages_goes_out() -> None:
    assert set(chat_body(asked(None), "m-1")) == {"model", "messages"}
    assert set(responses_body(asked(None), "m-1")) == {"model", "instructions", "input", "store"}


def test_a_model_that_is_not_named_is_left_to_the_server() -> None:
    assert "model" not in chat_body(asked(None), "")
    assert "model" not in responses_body(asked(None), "")


def test_log_probabilities_are_asked_for_where_they_are_wanted() -> None:
    wanted = {"logprobs": True, "top_logprobs": 5, "max_tokens": 256, "reasoning_effort": "none"}
    assert wanted.items() <= chat_body(asked(BY_TOKEN), "m-1").items()
    body = responses_body(asked(BY_TOKEN), "m-1")
    assert (body["include"], body["top_logprobs"]) == (["message.output_text.logprobs"], 5)
    assert (body["max_output_tokens"], body["reasoning_effort"]) == (256, "none")


def test_other_ways_to_hold_a_model_to_json() -> None:
    loose, none = Profile(response_format="json_object", temperature=None), Profile(response_format="none")

    assert chat_body(asked(loose), "m")["response_format"] == {"type": "json_object"}
    assert responses_body(asked(loose), "m")["text"] == {"format": {"type": "json_object"}}
    assert "temperature" not in chat_body(asked(loose), "m") | responses_body(asked(loose), "m")
    assert not {"response_format", "text"} & set(chat_body(asked(none), "m") | responses_body(asked(none), "m"))


def test_parameters_of_a_request_go_before_everything_else() -> None:
    profile = Profile(request_params={"temperature": 0.7, "response_format": None})

    assert chat_body(asked(profile), "m") | {"messages": None} == {
        "model": "m",
        "messages": None,
        "temperature": 0.7,
        "response_format": None,
    }


@pytest.mark.parametrize(
    ("said", "reason"),
    [("stop", "stop"), ("length", "length"), ("max_tokens", "length"), ("function_call", "tool_calls"), (None, "")],
)
def test_why_a_chat_stopped_is_put_into_our_words(said: Any, reason: str) -> None:
    assert read_chat(chat("x", said)).finish_reason == reason


def test_the_text_of_a_chat_is_its_content_and_nothing_else() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}, {"type": "text"}]

    assert read_chat(chat("x")).text == "x"
    assert read_chat(chat(parts)).text == "ab"
    for content in (None, 7, {"text": "x"}, [], [{"type": "image"}]):
        assert read_chat(chat(content)).text is None


@pytest.mark.parametrize(
    "document",
    [
        {"choices": []},
        {"choices": [1]},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": chat("x")["choices"] * 2},
        {"choices": "x"},
        {},
    ],
    ids=str,
)
def test_what_is_not_one_choice_says_nothing(document: Any) -> None:
    assert read_chat(document).text is None


def test_a_refusal_is_told_apart_and_not_kept() -> None:
    refused = chat(None)
    refused["choices"][0]["message"]["refusal"] = "I would rather not."
    part = {"type": "refusal", "refusal": "I would rather not."}

    for reply in (
        read_chat(refused),
        read_responses(responses("x", output=[{"type": "message", "content": [part]}])),
    ):
        assert (reply.text, reply.finish_reason) == (None, "refusal")


def test_a_response_that_was_cut_says_why() -> None:
    cut = responses("x", status="incomplete", incomplete_details={"reason": "max_output_tokens"})

    assert read_responses(responses("x")).finish_reason == "stop"
    assert read_responses(cut).finish_reason == "length"
    assert read_responses(responses("x", status="failed")).finish_reason == "failed"


@pytest.mark.parametrize(
    "output", [None, [], [1], [{"type": "message"}], [{"type": "message", "content": [1]}]], ids=str
)
def test_a_response_without_text_says_nothing(output: Any) -> None:
    assert read_responses(responses("x", output=output)).text is None


def test_log_probabilities_are_read_from_both_formats() -> None:
    reply = responses(VERDICT)
    reply["output"][1]["content"][0]["logprobs"] = LOGPROBS["content"]
    by_chat, by_response = read_chat(chat(VERDICT, logprobs=LOGPROBS)).tokens, read_responses(reply).tokens

    assert by_chat == by_response
    assert by_chat[1] == Token(b"true", math.log(0.8), [("true", math.log(0.8)), ("false", math.log(0.2))])


@pytest.mark.parametrize(
    "entry",
    [
        1,
        {},
        {"token": 1, "logprob": 0},
        {"token": "x", "logprob": "0"},
        {"token": "x", "logprob": 10**400},
        {"token": "x"},
    ],
    ids=lambda entry: str(entry)[:40],
)
def test_log_probabilities_that_cannot_be_read_are_none(entry: Any) -> None:
    assert read_chat(chat(VERDICT, logprobs={"content": [*LOGPROBS["content"], entry]})).tokens == ()


def test_alternatives_that_cannot_be_read_are_passed_over() -> None:
    entry = {
        "token": "x",
        "logprob": 0,
        "bytes": ["x"],
        "top_logprobs": [1, {"token": "y"}, {"token": "z", "logprob": -1}],
    }

    assert read_chat(chat("x", logprobs={"content": [entry]})).tokens == (Token("x", 0.0, [("z", -1.0)]),)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": 1}, {"prompt_tokens": -1, "completion_tokens": 1}], ids=str
)
def test_usage_that_is_not_told_is_unknown(usage: Any) -> None:
    assert read_chat({**chat("x"), "usage": usage}).usage is None


@pytest.mark.real_time
async def test_a_measured_verdict_comes_all_the_way() -> None:
    async with serving(http(200, chat(VERDICT, logprobs=LOGPROBS))) as server:
        engine = LLMEngine(OpenAIChat("m-1", base_url=f"{server.url}/v1"), profile=BY_TOKEN)
        answer = (await engine.score(asking(NOUL))).noul("n")

    assert answer.calibrated
    assert answer.noul == pytest.approx(0.8)
    assert server.asked[0].body["top_logprobs"] == 5


@pytest.mark.real_time
@pytest.mark.parametrize("content", [None, "", "I cannot answer that."])
async def test_a_choice_without_an_answer_is_invalid(content: Any) -> None:
    async with serving(http(200, chat(content))) as server:
        with pytest.raises(InvalidAnswerError) as failed:
            await LLMEngine(OpenAIChat("m-1", base_url=f"{server.url}/v1")).score(asking(NOUL))

    assert failed.value.usage is not None


@pytest.mark.real_time
async def test_a_client_of_the_callers_is_used_as_it_is() -> None:
    sent: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200, json=chat(ANSWER))

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer), follow_redirects=True) as http_client:
        client = openai.AsyncOpenAI(api_key="theirs", base_url="https://api.example.com/v9", http_client=http_client)
        model = OpenAIChat("m-1", client=client)
        assert (await LLMEngine(model).score(asking(NOUL))).noul("n").noul == 0.9

    assert str(sent[0].url) == "https://api.example.com/v9/chat/completions"
    assert sent[0].headers["authorization"] == "Bearer theirs"
    assert repr(model) == "OpenAIChat('m-1', server='AsyncOpenAI')"


@pytest.mark.real_time
async def test_azure_is_a_client_of_the_callers() -> None:
    sent: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(str(request.url))
        return httpx2.Response(200, json=chat(ANSWER))

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http_client:
        client = openai.AsyncAzureOpenAI(
            api_key="theirs", azure_endpoint="https://a.example.com", api_version="2026-01-01", http_client=http_client
        )
        await LLMEngine(OpenAIChat("mini", client=client)).score(asking(NOUL))

    assert sent == ["https://a.example.com/openai/deployments/mini/chat/completions?api-version=2026-01-01"]


@pytest.mark.real_time
@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (httpx2.Response(302, headers={"Location": "https://elsewhere.example.com"}), "misconfigured"),
        (httpx2.Response(503), "error"),
        (httpx2.ConnectTimeout("sentinel"), "timeout"),
        (httpx2.PoolTimeout("sentinel"), "busy"),
        (httpx2.UnsupportedProtocol("sentinel"), "misconfigured"),
        (httpx2.ReadError("sentinel"), "error"),
        (RuntimeError("sentinel"), "error"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
async def test_what_breaks_on_the_way_is_told_by_whose_fault_it_is(response: Any, kind: str) -> None:
    calls: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        calls.append(str(request.url))
        if isinstance(response, Exception):
            raise response
        assert isinstance(response, httpx2.Response)
        return response

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer), follow_redirects=True) as http_client:
        client = openai.AsyncOpenAI(api_key="theirs", http_client=http_client, base_url="https://api.example.com/v1")
        with pytest.raises(DecideError) as failed:
            await LLMEngine(OpenAIChat("m-1", client=client)).score(asking(NOUL))

    assert failed.value.kind == kind
    assert calls == ["https://api.example.com/v1/chat/completions"]
    assert "sentinel" not in f"{failed.value}{failed.value.__context__}{failed.value.__cause__}"


@pytest.mark.real_time
async def test_the_key_of_a_callers_client_is_not_repeated() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(418, json={"error": {"message": "bad key sk-theirs"}})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http_client:
        client = openai.AsyncOpenAI(api_key="sk-theirs", http_client=http_client, base_url="https://api.example.com/v1")
        with pytest.raises(DecideError) as failed:
            await LLMEngine(OpenAIChat("m-1", client=client)).score(asking(NOUL))

    assert not isinstance(failed.value, AuthError)
    assert failed.value.server_text == "bad key «redacted»"

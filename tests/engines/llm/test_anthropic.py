"""The messages API: what goes out for a profile, and what counts as a reply."""

from typing import Any

import anthropic
import httpx2
import pytest

from decide.engines._llm_schema import answers_schema
from decide.engines.anthropic import AnthropicMessages, messages_body, read_messages
from decide.engines.chat import Inference, Profile
from decide.engines.llm import LLMEngine
from decide.questions import ChoiceQuestion
from tests.engines.llm.loopback import messages
from tests.engines.llm.models import NOUL, asking

QUESTIONS = {"q0": ChoiceQuestion("?", ["minimum", "maximum"])}
PLAIN = {
    "type": "object",
    "properties": {
        "answers": {
            "type": "object",
            "properties": {
                "q0": {
                    "type": "object",
                    "properties": {
                        "probabilities": {
                            "type": "object",
                            "properties": {"minimum": {"type": "number"}, "maximum": {"type": "number"}},
                            "required": ["minimum", "maximum"],
                            "additionalProperties": False,
                        }
                    },
                    "required": ["probabilities"],
                    "additionalProperties": False,
                }
            },
            "required": ["q0"],
            "additionalProperties": False,
        }
    },
    "required": ["answers"],
    "additionalProperties": False,
}


def asked(profile: Profile | None) -> Inference:
    schema = answers_schema(QUESTIONS, verdicts=False)
    return Inference(system="rules", context="where", user="data", schema=schema, profile=profile)


def test_a_message_goes_out_with_structured_output_and_no_bounds_of_numbers() -> None:
    assert messages_body(asked(Profile(temperature=0.5, probability="logprobs")), "m-1") == {
        "model": "m-1",
        "max_tokens": 1024,
        "system": "rules",
        "messages": [{"role": "user", "content": "where\n\ndata"}],
        "output_config": {"format": {"type": "json_schema", "schema": PLAIN}},
    }


def test_a_looser_way_is_a_tool_that_must_be_called() -> None:
    body = messages_body(asked(Profile(response_format="json_object", max_tokens=50)), "m-1")

    assert body["tool_choice"] == {"type": "tool", "name": "decision"}
    assert body["tools"] == [{"name": "decision", "description": "Give the answer.", "input_schema": PLAIN}]
    assert body["max_tokens"] == 50
    assert "output_config" not in body


def test_without_a_profile_nothing_but_messages_goes_out() -> None:
    plain = {"model", "max_tokens", "system", "messages"}

    assert set(messages_body(asked(None), "m-1")) == plain
    assert set(messages_body(asked(Profile(response_format="none")), "m-1")) == plain


def test_parameters_of_a_request_go_before_everything_else() -> None:
    profile = Profile(response_format="none", request_params={"max_tokens": 9, "thinking": {"type": "disabled"}})

    assert {"max_tokens": 9, "thinking": {"type": "disabled"}}.items() <= messages_body(asked(profile), "m").items()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "refusal"),
        ("pause_turn", "pause_turn"),
        (None, ""),
    ],
)
def test_why_it_stopped_is_put_into_our_words(said: Any, reason: str) -> None:
    assert read_messages(messages("x", said)).finish_reason == reason


def test_what_the_tool_was_called_with_is_the_answer() -> None:
    call = {"type": "tool_use", "name": "decision", "input": {"answers": {}}}
    text = {"type": "text", "text": "Here."}
    one = read_messages(messages("x", content=[text, call]))

    assert (one.structured, one.text) == ({"answers": {}}, None)
    for content in ([call, call], [{**call, "input": "x"}, text], [1], []):
        reply = read_messages(messages("x", content=content))
        assert (reply.structured, reply.text) == (None, None)


def test_text_comes_in_blocks() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "x"}, {"type": "text", "text": "b"}]

    assert read_messages(messages("x", content=blocks)).text == "ab"
    assert read_messages(messages(None)).text is None


@pytest.mark.real_time
async def test_a_client_of_the_callers_is_used_as_it_is() -> None:
    sent: list[httpx2.Request] = []
    call = {"type": "tool_use", "name": "decision", "input": {"answers": {"q0": {"noul": 0.9}}}}

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200, json=messages("", "tool_use", content=[call]))

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http_client:
        client = anthropic.AsyncAnthropic(api_key="theirs", base_url="https://a.example.com", http_client=http_client)
        engine = LLMEngine(AnthropicMessages("m-1", client=client), profile=Profile(response_format="json_object"))
        assert (await engine.score(asking(NOUL))).noul("n").noul == 0.9

    assert str(sent[0].url) == "https://a.example.com/v1/messages"
    assert repr(engine) == "LLMEngine(AnthropicMessages('m-1', server='AsyncAnthropic'), name='llm-decider')"

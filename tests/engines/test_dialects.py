"""Every recorded exchange in its dialect: what is sent is what was recorded, and what comes back is read."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import attrs
import httpx2
import pytest

from decide.answers import Answer, ChoiceAnswer, NoulAnswer, ScoreAnswer, ScoreResult, Usage
from decide.attempt_log import AttemptLog
from decide.chain import Chain, Decided, Stopped
from decide.engines._setup import SetupError
from decide.engines.dialects import DIALECTS
from decide.engines.systemone import SystemOneEngine
from decide.errors import DecideError, EngineError, InvalidAnswerError, kind_of
from decide.questions import ChoiceQuestion, NoulQuestion, Question, ScoreRequest
from tests.engines.exchanges import ELSEWHERE, OUTCOMES, RECORDED, asked_in, engine_for, result_of
from tests.engines.wire import ANSWERED, asking, engine_over


@pytest.mark.parametrize("name", OUTCOMES)
async def test_an_exchange_comes_to_what_it_should(name: str) -> None:
    case, log, sent = RECORDED[name], AttemptLog(), list[httpx2.Request]()

    failed: DecideError | None = None
    try:
        await engine_for(name, case, sent).score_traced(asked_in(case), log)
    except DecideError as error:
        failed = error

    assert [attempt.outcome for attempt in log.report().attempts] == [OUTCOMES[name]]
    assert len(sent) == 1
    if failed is not None:
        reads_as = case.get("reads_as", {}).get("error", {})
        assert kind_of(failed) == OUTCOMES[name]
        assert failed.retry_after == reads_as.get("retry_after_s")
        assert reads_as.get("message", "") in failed.server_text
        assert failed.__context__ is None


def test_every_recorded_exchange_has_an_outcome() -> None:
    assert RECORDED.keys() - ELSEWHERE == OUTCOMES.keys()


SENT = [
    name
    for name, case in RECORDED.items()
    if name in OUTCOMES
    and case["response"]["status"] == 200
    and (case["request"]["body"] or {}).get("questions")
    and name not in {"openai_decisions/all_types", "cloudflare/failure_in_envelope"}
]
"""Exchanges whose request is one that we would send; see below for those that it could be only in part."""


@pytest.mark.parametrize("name", SENT)
async def test_a_request_is_sent_as_it_was_recorded(name: str) -> None:
    case, sent = RECORDED[name], list[httpx2.Request]()
    recorded = case["request"]
    body = dict(recorded["body"])
    if "tags" in body["questions"]:
        del body["questions"]["tags"], body["questions"]["c"]["abstain_option"]  # avrik's own
    if "mug" in body["questions"]:
        del body["questions"]["mug"]  # a box, which we do not ask for

    try:
        await engine_for(name, case, sent).score(asked_in(case))
    except DecideError:
        assert OUTCOMES[name] in {"error", "misconfigured"}

    assert sent[0].method == recorded["method"]
    assert sent[0].url.path == recorded["path"]
    assert json.loads(sent[0].content) == body
    key = "x-api-key" if "x-api-key" in recorded["headers"] else "authorization"
    assert sent[0].headers[key] == {name.lower(): text for name, text in recorded["headers"].items()}.get(
        key, "Bearer test-key"
    )


async def test_openai_is_asked_in_lists_and_answers_are_matched_by_position() -> None:
    case = RECORDED["openai_decisions/all_types"]

    result, sent = await result_of("openai_decisions/all_types")

    body, recorded = json.loads(sent[0].content), case["request"]["body"]
    assert [{**question, "name": None} for question in body["questions"]] == [
        {**question, "name": None, **OF_OURS.get(question["type"], {})} for question in recorded["questions"]
    ]
    assert (body["model"], body["input"]) == (recorded["model"], recorded["input"])
    assert result.noul("refund").noul == 0.97
    assert result.score("2").score == 0.81
    assert dict(result.score("2").probabilities) == {0: 0.19, 1: 0.81}
    assert result.noul("forbidden").unknown
    assert result.usage is not None
    assert (result.usage.input_tokens, result.usage.output_tokens) == (90, 4)


OF_OURS: dict[str, dict[str, object]] = {
    "choice": {"choices": [{"value": "true", "description": "needs a person"}, {"value": "false"}]},
    "score": {"levels": [{"label": "can wait"}, {"label": "today"}]},
}
"""What we cannot say as recorded: the ids of options are texts, and a level is its label."""


async def test_true_is_not_the_option_called_true() -> None:
    result, _ = await result_of("openai_decisions/all_types")

    assert result.choice("escalate").unknown


async def listed(answers: list[Any], questions: Mapping[str, Question]) -> ScoreResult:
    reply = {"model": "m", "answers": answers}
    engine = engine_over(lambda _: httpx2.Response(200, json=reply), dialect="openai", model="m")
    return await engine.score(ScoreRequest(text="s", questions=questions))


ESCALATE = {"e": ChoiceQuestion("?", {"true": None, "false": None})}


async def test_an_option_called_true_is_answered_by_its_name() -> None:
    listing = [{"value": "true", "probability": 0.7}, {"value": "false", "probability": 0.3}]

    result = await listed([{"type": "choice", "choice": "true", "probabilities": listing}], ESCALATE)

    assert result.choice("e").choice == "true"
    assert dict(result.choice("e").probabilities) == {"true": 0.7, "false": 0.3}


@pytest.mark.parametrize(
    "listing",
    [
        [{"value": True, "probability": 0.7}, {"value": False, "probability": 0.3}],
        [{"value": "true", "probability": 0.7}, {"value": "true", "probability": 0.3}],
        [{"value": "true"}],
        ["true"],
        "true",
    ],
)
async def test_a_listing_that_is_none_is_a_malformed_answer(listing: object) -> None:
    with pytest.raises(InvalidAnswerError, match="1 malformed"):
        await listed([{"type": "choice", "choice": "true", "probabilities": listing}], ESCALATE)


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_a_list_of_another_length_answers_nothing(count: int) -> None:
    two = {"a": NoulQuestion("?"), "b": NoulQuestion("?")}

    with pytest.raises(InvalidAnswerError):
        await listed([{"type": "predicate", "name": "a", "probability": 0.5}] * count, two)


async def test_what_yes_and_no_mean_goes_into_the_instructions_of_a_predicate() -> None:
    sent: list[httpx2.Request] = []
    engine = engine_over(recording(sent), dialect="openai", model="m")
    questions = {"n": NoulQuestion("Angry?", true="shouts", false=""), "m": NoulQuestion("Sad?")}

    with pytest.raises(DecideError):
        await engine.score(ScoreRequest(text={"a": 1}, questions=questions))

    body = json.loads(sent[0].content)
    assert [question["instructions"] for question in body["questions"]] == ["Angry?\nTrue: shouts", "Sad?"]
    assert body["input"][0]["content"] == [{"type": "input_json", "data": {"a": 1}}]


async def test_openrouter_is_given_both_sides_of_a_yes_or_no_question_or_none() -> None:
    sent: list[httpx2.Request] = []
    engine = engine_over(recording(sent), dialect="openrouter", model="typesafe/jev-1.13")
    questions = {"one": NoulQuestion("?", true="yes"), "none": NoulQuestion("?")}

    with pytest.raises(DecideError):
        await engine.score(ScoreRequest(text="s", questions=questions))

    asked = json.loads(sent[0].content)["questions"]
    assert asked["one"]["criteria"] == {"true": "yes", "false": "anything else"}
    assert "criteria" not in asked["none"]


async def test_chalk_is_sent_a_text_whatever_the_state_is() -> None:
    sent: list[httpx2.Request] = []
    engine = engine_over(recording(sent), dialect="chalk", model="ignored")

    with pytest.raises(DecideError):
        await engine.score(ScoreRequest(text={"b": 1, "a": "ü"}, questions={"n": NoulQuestion("?")}))

    assert json.loads(sent[0].content)["state"] == '{"b":1,"a":"ü"}'
    assert "model" not in json.loads(sent[0].content)


def recording(sent: list[httpx2.Request]) -> Any:
    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200, json={"model": "m"})

    return answer


ANSWERS: dict[str, dict[str, object]] = {
    "avrik/multi_label_and_abstain": {"c": None},
    "chalk/missing_key_is_unknown": {"stuck": 0.96, "ok": None},
    "chalk/probabilities_optional": {"q": "a"},
    "cloudflare/enveloped": {"q": 0.7},
    "databricks/nested_and_renamed": {"q": 0.7},
    "litellm/systemone_route_omits_refused_question": {"a": 0.4, "b": None},
    "litellm/upstream_legend_list": {"r": 0.3},
    "opendecider/extended": {"n": 0.9, "r": 1.2},
    "openrouter/ok": {"refund": 0.97, "team": "billing", "urgency": 1.66},
    "openrouter/ok_minimal_optional_fields_absent": {"c": "a", "s": 0.4},
    "parallel/refusal_in_map": {"a": None, "c": "x"},
    "typesafe_images/asset_inline_and_box": {"open": 0.08},
    "vercel/boolean_type": {"q": 0.9},
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_the_answers_of_an_exchange_are_read(name: str) -> None:
    result, _ = await result_of(name)

    assert {key: _value(answer) for key, answer in result.answers.items()} == ANSWERS[name]


def _value(answer: Answer) -> object:
    if answer.unknown:
        return None
    match answer:
        case NoulAnswer():
            return answer.noul
        case ChoiceAnswer():
            return answer.choice
        case ScoreAnswer():
            return answer.score
        case _:
            raise AssertionError(answer)


async def test_costs_and_counts_are_read_where_a_dialect_has_them() -> None:
    openrouter, _ = await result_of("openrouter/ok")
    vercel, _ = await result_of("vercel/boolean_type")
    unknown, _ = await result_of("litellm/systemone_route_omits_refused_question")

    assert openrouter.usage == Usage(input_tokens=214, output_tokens=9, cost=Decimal("0.00000899"))
    assert vercel.usage == Usage(input_tokens=9, output_tokens=1)
    assert unknown.usage is None


@pytest.mark.parametrize(("header", "cost"), [("1.2e-06", "0.0000012"), ("0", "0"), ("-1", None), ("much", None)])
async def test_a_cost_in_a_header_is_read_where_the_counts_are_known(header: str, cost: str | None) -> None:
    reply = {**ANSWERED, "usage": {"input_tokens": 1, "output_tokens": 1}}
    engine = engine_over(
        lambda _: httpx2.Response(200, json=reply, headers={"x-litellm-response-cost": header}), dialect="litellm"
    )

    usage = (await engine.score(asking())).usage

    assert usage == Usage(input_tokens=1, output_tokens=1, cost=None if cost is None else Decimal(cost))


@pytest.mark.parametrize(("case", "status"), [("loading_200", 503), ("bad_request_200", 400)])
async def test_a_failure_in_an_envelope_has_the_status_that_its_code_stands_for(case: str, status: int) -> None:
    with pytest.raises(DecideError) as caught:
        await result_of(f"agentcore_wrapped/{case}")

    assert caught.value.http_status == status


ANSWER = {"noul": {"type": "noul", "noul": 0.9}, "boolean": {"type": "boolean", "probability": 0.9}}
PREDICATE = {"type": "predicate", "name": "n", "probability": 0.9}
REPLIES: dict[str, dict[str, Any]] = {
    "systemone": {"answers": {"n": ANSWER["noul"]}},
    "cloudflare": {"result": {"answers": {"n": ANSWER["noul"]}}, "success": True},
    "databricks": {"response": {"answers": {"n": {"type": "noul", "probability": 0.9}}}},
    "vercel": {"answers": {"n": ANSWER["boolean"]}},
    "openai": {"answers": [PREDICATE]},
}
"""One decision as each dialect says it."""


@pytest.mark.parametrize("served", REPLIES)
@pytest.mark.parametrize("spoken", REPLIES)
async def test_only_the_dialect_that_was_chosen_is_understood_and_another_stops_a_chain(
    served: str, spoken: str
) -> None:
    engine = engine_over(lambda _: httpx2.Response(200, json=REPLIES[served]), dialect=spoken, model="m")
    never = engine_over(lambda _: httpx2.Response(200, json=ANSWERED), name="never")

    ended = await Chain([engine, never]).score(asking())

    if served == spoken:
        assert isinstance(ended, Decided)
        assert isinstance(ended.result, ScoreResult)
        assert ended.result.noul("n").noul == 0.9
    else:
        assert isinstance(ended, Stopped)
        assert [(attempt.outcome, attempt.detail) for attempt in ended.trace.attempts] == [
            ("misconfigured", "another dialect")
        ]


async def test_a_failure_that_an_envelope_admits_is_one_whatever_lies_beside_it() -> None:
    reply = {**REPLIES["cloudflare"], "success": False, "errors": [{"code": 1000, "message": "no"}]}
    engine = engine_over(lambda _: httpx2.Response(200, json=reply), dialect="cloudflare", model="m")

    with pytest.raises(EngineError) as caught:
        await engine.score(asking())

    assert type(caught.value) is EngineError
    assert caught.value.server_text == "no"


def test_a_dialect_that_is_not_known_is_refused_and_all_are_named() -> None:
    with pytest.raises(SetupError, match="systemone, chalk, openrouter, openai, litellm"):
        SystemOneEngine("http://127.0.0.1:8000", dialect="klingon")


def test_a_model_that_is_part_of_the_address_is_required() -> None:
    with pytest.raises(SetupError, match="model"):
        SystemOneEngine("http://127.0.0.1:8000", dialect="cloudflare")


async def test_a_route_can_be_given_and_a_dialect_made_by_hand() -> None:
    sent: list[httpx2.Request] = []
    mine = attrs.evolve(DIALECTS["systemone"], name="mine", key_header="X-Key", key_prefix="")
    engine = engine_over(recording(sent), dialect=mine, route="/ask/{model}", model="a b", api_key="k")

    with pytest.raises(DecideError):
        await engine.score(asking())

    assert sent[0].url.raw_path == b"/ask/a%20b"
    assert sent[0].headers["x-key"] == "k"
    assert "authorization" not in sent[0].headers

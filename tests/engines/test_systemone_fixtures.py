"""Recorded exchanges with real servers: what each means, and that every call is one attempt."""

import json
from typing import Any

import httpx2
import pytest

from decide.answers import ChoiceAnswer, NoulAnswer, ScoreAnswer, Usage
from decide.attempt_log import AttemptLog
from decide.distributions import choice_confidence, near_uniform, score_confidence
from decide.errors import (
    AuthError,
    DecideError,
    EngineError,
    InvalidRequestError,
    RateLimitedError,
    kind_of,
)
from decide.retry_after import retry_delay
from tests.engines.wire import ANSWERED, asking, cases, engine_over, request_of, response_of

BAD_RESPONSES = {
    "nan_literal": "invalid",
    "infinity_literal": "invalid",
    "noul_null": "invalid",
    "noul_string": "invalid",
    "noul_true": "invalid",
    "noul_above_one": "invalid",
    "noul_hair_above_one": "invalid",  # nothing is clamped
    "sum_099_two_decimals": "decided",
    "sum_120": "invalid",
    "zero_mass": "invalid",
    "negative": "invalid",
    "choice_not_offered": "invalid",
    "choice_empty": "invalid",
    "choice_not_argmax": "invalid",
    "option_missing": "decided",  # counts as 0
    "option_extra": "invalid",
    "option_nfd": "invalid",  # ids are compared code point by code point
    "option_case_and_space": "invalid",
    "probabilities_list": "invalid",
    "no_confidence": "decided",
    "confidence_above_one": "invalid",
    "confidence_null": "decided",
    "legend_list": "decided",
    "legend_null_value": "decided",
    "legend_missing": "decided",
    "levels_one_based": "invalid",
    "levels_keyed_by_label": "invalid",
    "score_is_argmax": "invalid",
    "score_int_type": "decided",
    "score_out_of_scale": "invalid",
    "missing_answer": "decided",
    "extra_answer": "decided",
    "answer_type_differs": "invalid",
    "answer_is_refusal": "abstained",
    "answer_unsupported": "abstained",
    "answers_list": "invalid",
    "answers_empty": "invalid",
    "usage_floats": "decided",
    "usage_null": "decided",
    "error_with_200": "error",
    "html_with_200": "misconfigured",
    "empty_body_200": "invalid",
    "truncated_json_200": "invalid",
    "duplicate_keys": "invalid",
    "text_plain_json": "decided",
    "bom": "decided",
    "prose_after_type": "decided",
}
ERRORS: dict[str, tuple[type[DecideError], str]] = {
    "missing_key_is_403": (AuthError, ""),
    "invalid_key_is_401": (AuthError, ""),
    "unknown_model_400": (InvalidRequestError, "Unknown model: nope"),
    "context_400_without_message": (InvalidRequestError, ""),
    "limit_400_string_detail": (InvalidRequestError, "Too many choices. Must have at most 255 choices."),
    "validation_422_list": (InvalidRequestError, "questions.q.choice.criteria: Field required"),
    "rate_limited_with_seconds": (RateLimitedError, "Rate limit exceeded"),
    "rate_limited_no_header": (RateLimitedError, "Rate limit exceeded"),
    "overloaded_529": (EngineError, "Overloaded"),
    "deep_nesting_500": (EngineError, "Internal Server Error"),
}
STRANDS_ERRORS = [case for case in cases("strands_decider") if case["response"] and case["response"]["status"] >= 400]
WAITS = {
    "seconds": 2.0,
    "fraction": 0.25,
    "ms_wins": 0.35,
    "zero": 0.0,
    "negative": None,
    "text": None,
    "empty": None,
    "huge": 600.0,
    "inf": None,
    "past_date": None,
    "bad_ms_falls_back": 3.0,
}


def name_of(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", cases("typesafe_ok"), ids=name_of)
async def test_an_answer_of_every_kind_is_read(case: dict[str, Any]) -> None:
    body = case["response"]["body"]

    result = await engine_over(lambda _: response_of(case["response"])).score(request_of(case["request"]["body"]))

    assert result.model == "jev-1.13.0"
    assert result.engine == "systemone"
    counts = body["usage"]
    assert result.usage == (Usage(**counts) if counts else None)
    assert {key: _sent(answer) for key, answer in result.answers.items()} == {
        key: _recorded(entry) for key, entry in body["answers"].items()
    }
    assert all(answer.calibrated for answer in result.answers.values())


async def test_the_request_is_sent_as_it_was_recorded_in_the_order_of_the_caller() -> None:
    recorded = cases("typesafe_ok")[0]
    sent: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return response_of(recorded["response"])

    engine = engine_over(answer, model="jev-latest", api_key="test-key")
    await engine.score(request_of(recorded["request"]["body"]))

    assert [request.method for request in sent] == ["POST"]
    assert sent[0].url.path == recorded["request"]["path"]
    assert json.dumps(json.loads(sent[0].content)) == json.dumps(recorded["request"]["body"])
    assert sent[0].headers["authorization"] == "Bearer test-key"
    assert sent[0].headers["content-type"] == "application/json"
    assert sent[0].headers["accept-encoding"] == "identity"
    assert int(sent[0].headers["content-length"]) == len(sent[0].content)


async def test_confidence_is_computed_here_and_the_servers_own_is_kept_beside_it() -> None:
    recorded = cases("strands_decider")[0]

    result = await engine_over(lambda _: response_of(recorded["response"])).score(
        request_of(recorded["request"]["body"])
    )

    risk = result.score("risk")
    assert risk.confidence == pytest.approx(score_confidence({0: 0.3464, 1: 0.3915, 2: 0.262}, 3))
    assert risk.reported_confidence == 0.2245
    assert risk.levels == ("  low ", "mid", "high")
    assert result.choice("next").confidence == pytest.approx(0.6854)
    assert result.noul("stuck").noul == 0.083


@pytest.mark.parametrize("case", cases("bad_responses"), ids=name_of)
async def test_a_bad_reply_is_told_from_a_good_one(case: dict[str, Any]) -> None:
    expected, log = BAD_RESPONSES[case["name"]], AttemptLog()
    engine = engine_over(lambda _: response_of(case["response"]))

    try:
        await engine.score_traced(request_of(case["request"]["body"]), log)
    except DecideError as error:
        assert kind_of(error) == expected  # noqa: PT017 - the same test reads good replies too
        assert error.__cause__ is None  # noqa: PT017
        assert error.__context__ is None  # noqa: PT017

    assert [attempt.outcome for attempt in log.report().attempts] == [expected]


def test_every_recorded_bad_reply_has_an_expectation() -> None:
    assert [case["name"] for case in cases("bad_responses")] == list(BAD_RESPONSES)


async def test_a_question_without_an_answer_is_unknown_and_the_others_stand() -> None:
    case = next(case for case in cases("bad_responses") if case["name"] == "missing_answer")

    result = await engine_over(lambda _: response_of(case["response"])).score(request_of(case["request"]["body"]))

    assert result.choice("t").unknown
    assert result.noul("n").noul == 0.5


@pytest.mark.parametrize("case", cases("typesafe_errors"), ids=name_of)
async def test_an_error_of_the_service_has_its_type(case: dict[str, Any]) -> None:
    kind, text = ERRORS[case["name"]]
    log = AttemptLog()
    engine = engine_over(lambda _: response_of(case["response"]))

    with pytest.raises(kind) as caught:
        await engine.score_traced(request_of(case["request"]["body"]), log)

    assert type(caught.value) is kind
    assert caught.value.server_text == text
    assert caught.value.http_status == case["response"]["status"]
    assert caught.value.retry_after == case["reads_as"]["error"].get("retry_after_s")
    assert "SECRET" not in f"{caught.value!r}{caught.value.server_text}{log.report()}"
    assert [attempt.detail for attempt in log.report().attempts] == [f"http {case['response']['status']}"]


@pytest.mark.parametrize("case", STRANDS_ERRORS, ids=name_of)
async def test_both_shapes_of_a_refusal_are_rejected_requests(case: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        await engine_over(lambda _: response_of(case["response"])).score(asking())

    assert caught.value.server_text
    assert len(caught.value.server_text) <= 200


@pytest.mark.parametrize("case", [case for case in cases("retry_after") if "headers" in case], ids=name_of)
async def test_the_wait_that_a_server_asks_for_is_read(case: dict[str, Any]) -> None:
    engine = engine_over(lambda _: httpx2.Response(429, headers=case["headers"]))

    with pytest.raises(RateLimitedError) as caught:
        await engine.score(asking())

    assert retry_delay(caught.value) == WAITS[case["name"]]


@pytest.mark.parametrize("case", cases("confidence_vectors"), ids=name_of)
async def test_confidence_follows_the_published_formulas(case: dict[str, Any]) -> None:
    options = [f"o{number}" for number in range(len(case["p"]))]
    probabilities = dict(zip(options, case["p"], strict=True))

    assert choice_confidence(probabilities.values(), len(options)) == pytest.approx(
        max(0, case["typesafe_choice"]), abs=1e-6
    )
    assert score_confidence(dict(enumerate(case["p"])), len(options)) == pytest.approx(case["typesafe_score"], abs=1e-6)
    assert near_uniform(probabilities) is case["near_uniform"]


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": 3}, {"input_tokens": "3", "output_tokens": 1}])
async def test_usage_that_was_not_reported_is_unknown_and_not_zero(usage: object) -> None:
    engine = engine_over(lambda _: httpx2.Response(200, json={**ANSWERED, "usage": usage}))

    assert (await engine.score(asking())).usage is None


def _sent(answer: object) -> tuple[object, ...]:
    match answer:
        case NoulAnswer():
            return ("noul", answer.noul)
        case ChoiceAnswer():
            return ("choice", answer.choice, dict(answer.probabilities), answer.reported_confidence)
        case ScoreAnswer():
            levels = {str(level): value for level, value in answer.probabilities.items()}
            return ("score", answer.score, levels, answer.reported_confidence)
        case _:
            raise AssertionError(answer)


def _recorded(entry: dict[str, Any]) -> tuple[object, ...]:
    kind = entry["type"]
    return (kind, entry[kind], *([] if kind == "noul" else [entry["probabilities"], entry["confidence"]]))

"""Every value as JSON and back: the Go wire form, strictly read, and nothing lost but the verdict."""

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide import (
    DURABLE,
    NARROWING,
    Attempt,
    ChoiceAnswer,
    ChoiceQuestion,
    Decision,
    EntityRef,
    ModuleSpec,
    NoulAnswer,
    NoulQuestion,
    Reference,
    RelevanceAnswer,
    RelevanceQuestion,
    Report,
    Request,
    ScoreAnswer,
    Scored,
    ScoreQuestion,
    ScoreRequest,
    ScoreResult,
    Selection,
    SessionState,
    StopPolicy,
    Taxonomy,
    Trace,
    Usage,
)
from decide.wire import from_json, loads, to_json
from tests import strategies


@given(strategies.travelling)
def test_what_is_written_is_read_back_as_an_equal_value(value: Any) -> None:
    assert from_json(type(value), loads(json.dumps(to_json(value)))) == value


@given(strategies.travelling)
def test_writing_what_was_read_writes_the_same_again(value: Any) -> None:
    document = to_json(value)
    assert to_json(from_json(type(value), document)) == document


@given(strategies.travelling, st.text(min_size=20))
def test_unknown_members_are_ignored_and_never_written_back(value: Any, name: str) -> None:
    document = to_json(value)
    assert to_json(from_json(type(value), {**document, name: {"any": [1]}})) == document


@given(strategies.attempts)
def test_when_an_attempt_started_travels_too(attempt: Attempt) -> None:
    assert from_json(Attempt, to_json(attempt)).started == attempt.started


@pytest.mark.parametrize(
    ("value", "document"),
    [
        (Scored(), {"value": "", "confidence": 0}),
        (Reference(), {"kind": ""}),
        (
            Decision(),
            {
                "module": {"value": "", "confidence": 0},
                "intent": {"value": "", "confidence": 0},
                "interaction": "",
                "canHandleDeterministically": False,
                "needsLLM": False,
            },
        ),
        (ModuleSpec(name="m"), {"name": "m", "intents": None}),
        (Taxonomy(), {"modules": None}),
        (EntityRef(), {}),
        (SessionState(), {}),
        (
            Request(),
            {"product": "", "text": "", "taxonomy": {"modules": None}, "state": {}, "now": "0001-01-01T00:00:00Z"},
        ),
        (Attempt(provider="p", outcome="x"), {"provider": "p", "outcome": "x", "latency": 0, "latencyMs": 0}),
        (Report(), {"attempts": None}),
        (Trace(), {"attempts": None}),
        (Usage(), {"inputTokens": 0, "outputTokens": 0}),
        (ScoreRequest(text="t", questions={}), {"text": "t", "questions": None}),
        (ScoreResult(), {"engine": "", "usage": {"inputTokens": 0, "outputTokens": 0}, "answers": None}),
        (Selection(), {"outcome": ""}),
        (
            DURABLE,
            {
                "name": "durable",
                "minConfidence": 0.9,
                "minGap": 0.2,
                "minProbability": 0.9,
                "strongProbability": 0.95,
                "potentialProbability": 0.6,
            },
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_what_is_always_written_is_written_when_empty(value: Any, document: dict[str, Any]) -> None:
    assert to_json(value) == document


def test_a_full_request_uses_the_wire_names() -> None:
    state = SessionState(
        focused=EntityRef(type="event", keys={"id": "1"}, title="Dentist"), pending={"kind": "move"}, last_shown=[]
    )
    moment = dt.datetime(2026, 10, 2, 12, 0, 0, 500000, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    request = Request(
        text="it",
        interaction_id="7",
        client_context={},
        state=state,
        recent=["a"],
        context={"k": 1},
        now=moment,
        tz="X",
    )
    assert to_json(request) == {
        "product": "",
        "interactionId": "7",
        "clientContext": {},
        "text": "it",
        "taxonomy": {"modules": None},
        "state": {
            "focused": {"type": "event", "keys": {"id": "1"}, "title": "Dentist"},
            "pending": {"kind": "move"},
            "lastShown": [],
        },
        "recent": ["a"],
        "context": {"k": 1},
        "now": "2026-10-02T12:00:00.500000+01:00",
        "tz": "X",
    }


def test_questions_travel_in_order_with_what_each_kind_needs() -> None:
    request = ScoreRequest(
        text={"body": "x"},
        questions={
            "z": NoulQuestion("n?", true="", false=None),
            "a": ChoiceQuestion("c?", {"x": None, "y": ""}, none_id="y"),
            "s": ScoreQuestion("s?", ["low", "high"]),
            "r": RelevanceQuestion("r?", {"x": "X"}),
        },
    )
    assert to_json(request)["questions"] == [
        {"id": "z", "kind": "noul", "instructions": "n?", "criteria": {"true": ""}},
        {
            "id": "a",
            "kind": "choice",
            "instructions": "c?",
            "candidates": [{"id": "x"}, {"id": "y", "description": ""}],
            "noneId": "y",
        },
        {"id": "s", "kind": "score", "instructions": "s?", "levels": ["low", "high"]},
        {"id": "r", "kind": "relevance", "instructions": "r?", "candidates": [{"id": "x", "description": "X"}]},
    ]


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        (NoulAnswer(), {"kind": "noul", "scores": None, "calibrated": False, "unknown": True}),
        (NoulAnswer(noul=0.0), {"kind": "noul", "scores": None, "noul": 0.0, "calibrated": False}),
        (
            ChoiceAnswer(probabilities={"a": 1.0}, confidence=0.0, calibrated=True),
            {
                "kind": "choice",
                "scores": [{"id": "a", "probability": 1.0}],
                "hasConfidence": True,
                "calibrated": True,
            },
        ),
        (ChoiceAnswer(choice="a"), {"kind": "choice", "scores": None, "choice": "a", "calibrated": False}),
        (
            ScoreAnswer(score=0.5, levels=["no", "yes"], probabilities={0: 0.5, 1: 0.5}, reported_confidence=0.1),
            {
                "kind": "score",
                "scores": None,
                "score": 0.5,
                "levels": ["no", "yes"],
                "probabilities": {"0": 0.5, "1": 0.5},
                "reportedConfidence": 0.1,
                "calibrated": False,
            },
        ),
        (
            RelevanceAnswer(probabilities={"a": 0.4}, confidence=0.3),
            {
                "kind": "relevance",
                "scores": [{"id": "a", "probability": 0.4}],
                "hasConfidence": True,
                "confidence": 0.3,
                "calibrated": False,
            },
        ),
    ],
)
def test_answers_travel_without_what_follows_from_the_rest(answer: Any, document: dict[str, Any]) -> None:
    assert to_json(ScoreResult(answers={"q": answer}))["answers"] == {"q": {"questionId": "q", **document}}


def test_an_option_that_was_scored_twice_is_still_there_twice() -> None:
    twice = ScoreResult(answers={"q": ChoiceAnswer(probabilities=[("a", 0.5), ("a", 0.5)])})
    read = from_json(ScoreResult, to_json(twice)).choice("q").probabilities
    assert list(getattr(read, "pairs", ())) == [("a", 0.5), ("a", 0.5)]


def test_a_noul_without_a_number_that_does_not_claim_to_be_unknown_is_no_silent_no() -> None:
    result = from_json(ScoreResult, {"answers": {"q": {"kind": "noul", "calibrated": True}}})
    assert result.noul("q") == NoulAnswer(noul=None, unknown=False, calibrated=True)
    assert NARROWING.evaluate(result.noul("q")).outcome == "invalid"


# latency and usage --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "seconds"),
    [
        ({}, 0.0),
        ({"latency": 7_500_000}, 0.0075),
        ({"latency": 7_000_000, "latencyMs": 3}, 0.003),
        ({"latency": 7_000_000, "latencyMs": 0}, 0.0),
        ({"latency": 7_000_000, "latencyMs": None}, 0.007),
        ({"latencyMs": 3, "latencySeconds": 0.0031}, 0.0031),
    ],
)
def test_milliseconds_win_over_nanoseconds_and_exact_seconds_over_both(members: dict[str, Any], seconds: float) -> None:
    assert from_json(Attempt, {"provider": "p", "outcome": "x", **members}).latency == seconds


def test_a_latency_is_written_in_whole_milliseconds_and_exactly_where_they_round() -> None:
    written = to_json(Attempt(provider="p", outcome="x", latency=0.0075, waited=0.25))
    assert written | {"latency": 7_500_000, "latencyMs": 7, "latencySeconds": 0.0075, "waitedMs": 250} == written
    assert "waitedSeconds" not in written


def test_an_attempt_tells_unknown_usage_from_none() -> None:
    for usage in (None, Usage(), Usage(cost=Decimal(0)), Usage(input_tokens=1, cost=Decimal("0.0000420"))):
        attempt = Attempt(provider="p", outcome="x", usage=usage)
        assert from_json(Attempt, to_json(attempt)).usage == usage
    assert to_json(Usage(cost=Decimal("0.042")))["cost"] == "0.042"


def test_a_result_whose_usage_is_all_zeros_has_unknown_usage_unless_it_says_that_zero_is_known() -> None:
    zeros = {"inputTokens": 0, "outputTokens": 0}
    assert from_json(ScoreResult, {"usage": zeros}).usage is None
    assert from_json(ScoreResult, {"usage": {**zeros, "cost": "0"}}).usage == Usage(cost=Decimal(0))
    assert from_json(ScoreResult, to_json(ScoreResult(usage=Usage()))).usage == Usage()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-10-02T12:00:00Z", dt.datetime(2026, 10, 2, 12, tzinfo=dt.UTC)),
        ("2026-10-02T12:00:00+01:00", dt.datetime(2026, 10, 2, 11, tzinfo=dt.UTC)),
        ("2026-10-02T12:00:00.123456789Z", dt.datetime(2026, 10, 2, 12, 0, 0, 123456, tzinfo=dt.UTC)),
        ("0001-01-01T00:00:00Z", None),
    ],
)
def test_times_are_read_as_go_writes_them(text: str, moment: dt.datetime | None) -> None:
    assert from_json(Request, {"now": text}).now == moment


def test_an_offset_with_seconds_is_written_in_utc() -> None:
    moment = dt.datetime(2026, 1, 1, tzinfo=dt.timezone(dt.timedelta(seconds=90)))
    assert to_json(Request(now=moment))["now"] == "2025-12-31T23:58:30Z"


def test_words_of_a_closed_vocabulary_travel_as_themselves() -> None:
    assert [to_json(word) for word in StopPolicy] == ["stop", "fall_through"]
    assert from_json(StopPolicy, "fall_through") is StopPolicy.FALL_THROUGH


def test_a_verdict_never_travels() -> None:
    decision = Decision(module=Scored("m", 0.9), intent=Scored("i", 0.9), interaction="command")
    judged, selection = NARROWING.judge(decision)
    assert judged.actionable
    assert selection.actionable
    assert from_json(Decision, to_json(judged)) == judged
    assert not from_json(Decision, to_json(judged)).actionable
    assert not from_json(Selection, to_json(selection)).actionable
    assert from_json(Decision, to_json(judged)).judged_by == "narrowing"

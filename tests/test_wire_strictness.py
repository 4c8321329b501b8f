"""Reading values from JSON is strict about types, and writing refuses what JSON cannot carry."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest

from decide import (
    NARROWING,
    Attempt,
    ChoiceAnswer,
    Decision,
    NoulQuestion,
    Request,
    ScoreRequest,
    ScoreResult,
    SelectionPolicy,
    StopPolicy,
    Taxonomy,
    Trace,
    Usage,
)
from decide.policies import InvalidPolicyError
from decide.wire import DocumentError, from_json, to_json

POLICY = to_json(NARROWING)


@pytest.mark.parametrize(
    ("kind", "document", "said"),
    [
        (Decision, [], "$: expected an object, got a list"),
        (
            Decision,
            {"module": {"value": "m", "confidence": "0.9"}},
            "$.module.confidence: expected a number, got a string",
        ),
        (Decision, {"module": {"confidence": True}}, "$.module.confidence: expected a number, got a boolean"),
        (Decision, {"module": {"confidence": None}}, "$.module.confidence: expected a number, got null"),
        (Decision, {"interaction": 1}, "$.interaction: expected a string, got a number"),
        (Decision, {"calibrated": 1}, "$.calibrated: expected true or false, got a number"),
        (Decision, {"scores": {"secret": 1, "other": "x"}}, "$.scores[1]: expected a number, got a string"),
        (Decision, {"scores": {"secret": math.nan}}, "$[0][0]: a number that is not finite"),
        (Decision, {"requiredScopes": "abc"}, "$.requiredScopes: expected a list, got a string"),
        (Decision, {"requiredScopes": ["a", 1]}, "$.requiredScopes[1]: expected a string, got a number"),
        (Decision, {"reference": 1}, "$.reference: expected an object, got a number"),
        (Decision, {"slots": {"secret": None}}, "$.slots[0]: expected a string, got null"),
        (Taxonomy, {"modules": [{"intents": []}]}, "$.modules[0].name: is required"),
        (Taxonomy, {"modules": [None]}, "$.modules[0]: expected an object, got null"),
        (Request, {"now": "yesterday"}, "$.now: expected an RFC 3339 time, got a string"),
        (Request, {"now": "2026-02-30T00:00:00Z"}, "$.now: expected an RFC 3339 time, got a string"),
        (Request, {"now": "2026-02-01T00:00:00"}, "$.now: expected an RFC 3339 time, got a string"),
        (Request, {"context": []}, "$.context: expected an object, got a list"),
        (Attempt, {"outcome": "x"}, "$.provider: is required"),
        (
            Attempt,
            {"provider": "p", "outcome": "x", "latencyMs": 1.5},
            "$.latencyMs: expected a whole number, got a number",
        ),
        (Attempt, {"provider": "p", "outcome": "x", "tries": True}, "$.tries: expected a whole number, got a boolean"),
        (Usage, {"inputTokens": 1.0}, "$.inputTokens: expected a whole number, got a number"),
        (Usage, {"cost": 0.1}, "$.cost: expected a string, got a number"),
        (Usage, {"cost": "NaN"}, "$.cost: expected a decimal number as a string, got a string"),
        (Trace, {"attempts": {}}, "$.attempts: expected a list, got an object"),
        (ScoreRequest, {"questions": []}, "$.text: is required"),
        (ScoreRequest, {"text": "t", "questions": [{"kind": "noul"}]}, "$.questions[0].id: is required"),
        (
            ScoreRequest,
            {"text": "t", "questions": [{"id": "secret", "kind": "riddle", "instructions": ""}]},
            "$.questions[0].kind: expected one of noul, choice, score, relevance",
        ),
        (
            ScoreRequest,
            {"text": "t", "questions": [{"id": "secret", "kind": "choice", "instructions": "", "candidates": None}]},
            "$.questions[0]: a choice needs 1..255 options, got 0",
        ),
        (
            ScoreRequest,
            {
                "text": "t",
                "questions": [
                    {"id": "q", "kind": "relevance", "instructions": "", "candidates": [{"id": "a"}], "noneId": "a"}
                ],
            },
            "$.questions[0].noneId: only a choice has a none-of-these option",
        ),
        (
            ScoreRequest,
            {"text": "t", "questions": [{"id": "q", "kind": "noul", "instructions": ""}] * 2},
            "$.questions[1].id: the same id as a question before it",
        ),
        (
            ScoreResult,
            {"answers": {"secret": {"kind": "choice", "scores": [{"id": "a", "probability": "1"}]}}},
            "$.answers[0].scores[0].probability: expected a number, got a string",
        ),
        (
            ScoreResult,
            {"answers": {"secret": {"kind": "x"}}},
            "$.answers[0].kind: expected one of noul, choice, score, relevance",
        ),
        (
            ScoreResult,
            {"answers": {"q": {"kind": "score", "probabilities": {"01": 1}}}},
            "$.answers[0].probabilities[0]: expected the number of a level as key",
        ),
        (SelectionPolicy, {key: POLICY[key] for key in POLICY if key != "minGap"}, "$.minGap: is required"),
        (StopPolicy, "Stop", "$: expected one of stop, fall_through"),
        (StopPolicy, 1, "$: expected a string, got a number"),
    ],
)
def test_what_is_not_of_the_right_type_is_refused_with_its_place_and_nothing_it_says(
    kind: type, document: Any, said: str
) -> None:
    with pytest.raises(DocumentError) as refused:
        from_json(kind, document)
    assert str(refused.value) == said
    assert "secret" not in said


def test_a_policy_that_contradicts_itself_lists_every_problem() -> None:
    with pytest.raises(InvalidPolicyError) as refused:
        from_json(SelectionPolicy, {**POLICY, "minGap": 2, "maxPicks": 0})
    assert len(refused.value.problems) == 2


@pytest.mark.parametrize(
    "value",
    [
        Decision(interaction_confidence=math.nan),
        Decision(scores={"a": math.inf}),
        Attempt(provider="p", outcome="x", latency=math.inf),
        Attempt(provider="p", outcome="x", started=math.nan),
        Usage(cost=Decimal("Infinity")),
        Request(context={"a": {1, 2}}),
        Request(client_context={"a": b"x"}),
        Request(now=dt.datetime(2026, 1, 1)),  # noqa: DTZ001 - having no zone is what is refused
        ScoreRequest(text="\ud800", questions={}),
    ],
)
def test_what_json_cannot_carry_is_not_written(value: Any) -> None:
    with pytest.raises(DocumentError):
        to_json(value)


@pytest.mark.parametrize("kind", [int, ChoiceAnswer, NoulQuestion, dict])
def test_other_types_do_not_travel(kind: type) -> None:
    with pytest.raises(TypeError, match="does not travel"):
        from_json(kind, {})


def test_what_is_no_value_is_not_written() -> None:
    with pytest.raises(TypeError, match="does not travel"):
        to_json(NoulQuestion("?"))

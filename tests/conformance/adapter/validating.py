"""Vectors about what is valid, and about the two readers of what an engine reports."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from typing import Any

from decide import (
    Problem,
    ScoreResult,
    merge_report,
    parse_retry_after,
    validate,
    validate_score_request,
    validate_score_result,
)
from tests.conformance.adapter import reading, writing
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]


def validate_decision(given: Doc) -> Ran:
    """
    Count what a taxonomy does not know of a decision.
    """
    return Ran(actual=_counted(validate(reading.decision(given["decision"]), reading.taxonomy(given["taxonomy"]))))


def score_request(given: Doc) -> Ran:
    """
    Say whether a request can be answered; one that cannot be built cannot.
    """
    try:
        valid = not validate_score_request(reading.score_request(given["request"]))
    except ValueError:
        valid = False
    return Ran(actual={"valid": True} if valid else {"valid": False, "isInvalidRequest": True}, expect=_without_text)


def score_result(given: Doc) -> Ran:
    """
    Count what keeps a result from answering a request.
    """
    result = ScoreResult(answers=reading.answers(given["answers"]))
    return Ran(actual=_counted(validate_score_result(reading.score_request(given["request"]), result)))


def retry_after(given: Doc) -> Ran:
    """
    Read a header. A wait that nobody asked for counts as none.
    """
    seconds = parse_retry_after(given["value"], dt.datetime.fromisoformat(given["now"]))
    return Ran(actual={"delayMs": 0 if seconds is None else round(seconds * 1000, 6)})


def merged_report(given: Doc) -> Ran:
    """
    Work a judgement into a report.
    """
    merged = merge_report(
        reading.report(given["report"]), reading.attempt(given["judged"]), answered=given.get("answered", False)
    )
    return Ran(actual={"attempts": writing.attempts(merged)}, expect=_comparable_attempts)


def _counted(problems: Collection[Problem]) -> Doc:
    return {"valid": False, "problemCount": len(problems)} if problems else {"valid": True}


def _without_text(expected: Doc) -> Doc:
    return {key: member for key, member in expected.items() if key != "text"}


def _comparable_attempts(expected: Doc) -> Doc:
    return {**expected, "attempts": [writing.compared_attempt(attempt) for attempt in expected["attempts"]]}

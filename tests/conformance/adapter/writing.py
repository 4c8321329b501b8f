"""Our values as a vector writes them: the reference's members only, in its vocabulary."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from decide import Attempt, Decision, Outcome, Reason, Report, ScoreResult, Selection, Trace
from decide.wire import to_json
from tests.conformance.adapter.numbers import milliseconds

Doc = dict[str, Any]

ADDITIVE: Final[dict[str, frozenset[str]]] = {
    "answer": frozenset({"unknown", "noul", "score", "choice", "levels", "probabilities", "reportedConfidence"}),
    "attempt": frozenset(
        {
            "clipped",
            "dimension",
            "latencySeconds",
            "malformed",
            "rule",
            "startedSeconds",
            "tries",
            "waitedMs",
            "waitedSeconds",
        }
    ),
    "decision": frozenset({"judgedBy"}),
    "policy": frozenset({"models"}),
    "trace": frozenset({"policy", "outage", "cancelled", "warnings"}),
    "usage": frozenset({"cost", "reported"}),
}
"""The members that this implementation adds to the wire form, by the value they are added to."""

_PARTS: Final = {"attempts": "attempt", "answers": "answer", "usage": "usage", "report": "report"}

_DETAIL = re.compile(f"({'|'.join(Outcome)})(: ({'|'.join(Reason)}))?")


def plain(value: Any, kind: str) -> Any:
    """
    Return *value* in the wire form, without the members that are ours alone.
    """
    return _without(to_json(value), kind)


def _without(document: Any, kind: str) -> Any:
    if not isinstance(document, dict):
        return document
    return {
        key: _part(member, _PARTS[key]) if key in _PARTS else member
        for key, member in document.items()
        if key not in ADDITIVE.get(kind, ())
    }


def _part(member: Any, kind: str) -> Any:
    if isinstance(member, list):
        return [_without(one, kind) for one in member]
    if kind == "answer" and isinstance(member, dict):
        return {key: _without(one, kind) for key, one in member.items()}
    return _without(member, kind)


def decision(value: Decision) -> Doc:
    """
    Write a decision with what may be done with it.
    """
    return {
        "decision": plain(value, "decision"),
        "actionable": value.actionable,
        "provenance": value.provenance.value,
    }


def selection(value: Selection) -> Doc:
    """
    Write a selection.
    """
    return {**plain(value, "selection"), "detail": value.detail, "actionable": value.actionable}


def attempts(values: tuple[Attempt, ...]) -> list[Doc]:
    """
    Write attempts, as far as a vector says something about them.
    """
    return [_attempt(value) for value in values]


def _attempt(value: Attempt) -> Doc:
    written = plain(value, "attempt")
    del written["latency"]
    written["latencyMs"] = math.floor(milliseconds(value.latency))
    return compared_attempt(written)


def compared_attempt(document: Doc) -> Doc:
    """
    Drop a detail that is prose: vectors keep only those that are made of outcomes and reasons.
    """
    if _DETAIL.fullmatch(document.get("detail") or ""):
        return document
    return {key: member for key, member in document.items() if key != "detail"}


def report(value: Report) -> Doc:
    """
    Write a report.
    """
    return {**plain(value, "report"), "attempts": attempts(value.attempts)}


def trace(value: Trace) -> Doc:
    """
    Write a trace.
    """
    return {**plain(value, "trace"), "attempts": attempts(value.attempts)}


def score_result(value: ScoreResult) -> Doc:
    """
    Write a result.
    """
    written = plain(value, "result")
    written.pop("report", None)
    return {**written, "hasReport": value.report is not None}

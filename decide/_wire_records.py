"""The members of every value that travels, in the order in which they are written."""

from __future__ import annotations

import math
from typing import Any, Final

import attrs

from decide._json import DocumentError, Node
from decide._wire_answers import ANSWERS
from decide._wire_fields import (
    ANYTHING,
    FLAG,
    MONEY,
    NUMBER,
    OBJECT,
    TEXT,
    TEXTS,
    TEXTS_OR_NULL,
    TIME,
    WHOLE,
    Codec,
    Record,
    always,
    field,
    given,
    list_of,
    map_of,
)
from decide._wire_questions import QUESTIONS
from decide.answers import ScoreResult, Usage
from decide.attempts import Attempt, Report
from decide.decisions import Decision, Reference, Scored
from decide.policies import SelectionPolicy
from decide.questions import ScoreRequest
from decide.requests import EntityRef, Previous, Request, SessionState
from decide.selecting import Selection
from decide.taxonomy import ModuleSpec, Taxonomy
from decide.traces import Trace

_SCORED = Record(Scored, field("value", TEXT, always), field("confidence", NUMBER, always))
_REFERENCE = Record(Reference, field("kind", TEXT, always), field("expression", TEXT), field("pronoun", FLAG))
_DECISION = Record(
    Decision,
    field("module", _SCORED.codec(), always),
    field("intent", _SCORED.codec(), always),
    field("interaction", TEXT, always),
    field("interaction_confidence", NUMBER),
    field("interaction_scores", map_of(NUMBER)),
    field("reference", _REFERENCE.codec(), given),
    field("required_scopes", TEXTS),
    field("required_data", TEXTS),
    field("slots", map_of(TEXT)),
    field("can_handle_deterministically", FLAG, always),
    field("needs_llm", FLAG, always, key="needsLLM"),
    field("presentation", TEXT),
    field("scores", map_of(NUMBER)),
    field("calibrated", FLAG),
    field("outcome", TEXT),
    field("model", TEXT),
    field("judged_by", TEXT),
)
_MODULE = Record(
    ModuleSpec,
    field("name", TEXT, always, required=True),
    field("intents", TEXTS_OR_NULL, always),
    field("scopes", TEXTS),
)
_TAXONOMY = Record(
    Taxonomy,
    field("modules", list_of(_MODULE.codec(), empty=None), always),
    field("presentations", TEXTS),
    field("data_kinds", TEXTS),
    field("entity_types", TEXTS),
    field("descriptions", map_of(TEXT)),
)
_ENTITY = Record(EntityRef, field("type", TEXT), field("keys", ANYTHING, given), field("title", TEXT))
_PREVIOUS = Record(Previous, field("kind", TEXT))
_STATE = Record(
    SessionState,
    field("focused", _ENTITY.codec(), given),
    field("selection", list_of(_ENTITY.codec())),
    field("sidebar", list_of(_ENTITY.codec())),
    field("previous", _PREVIOUS.codec(), given),
    field("pending", ANYTHING, given),
    field("last_shown", ANYTHING, given),
)
_REQUEST = Record(
    Request,
    field("product", TEXT, always),
    field("interaction_id", TEXT),
    field("client_context", OBJECT, given),
    field("text", TEXT, always),
    field("taxonomy", _TAXONOMY.codec(), always),
    field("state", _STATE.codec(), always),
    field("recent", TEXTS),
    field("context", OBJECT),
    field("now", TIME, always),
    field("tz", TEXT),
)
_USAGE = Record(
    Usage, field("input_tokens", WHOLE, always), field("output_tokens", WHOLE, always), field("cost", MONEY, given)
)


class _AttemptRecord(Record[Attempt]):
    """
    An attempt, whose durations travel in whole milliseconds, and in seconds too where that would round them.
    """

    def write(self, value: Attempt) -> dict[str, object]:
        written = super().write(value)
        written["latency"] = _nanoseconds(value.latency)
        written |= _duration("latency", value.latency)
        if value.waited:
            written |= _duration("waited", value.waited)
        return written

    def read(self, node: Node) -> Attempt:
        nanoseconds = node.find("latency")
        legacy = nanoseconds.whole() / 1e9 if nanoseconds else 0.0
        return attrs.evolve(
            super().read(node),
            latency=_read_duration(node, "latency", default=legacy),
            waited=_read_duration(node, "waited", default=0.0),
        )


def _nanoseconds(seconds: float) -> int:
    if not math.isfinite(seconds):
        raise DocumentError("$", "a duration that is not finite")
    return round(seconds * 1e9)


def _duration(name: str, seconds: float) -> dict[str, object]:
    milliseconds = _nanoseconds(seconds) // 1_000_000
    exact = {} if milliseconds / 1e3 == seconds else {f"{name}Seconds": seconds}
    return {f"{name}Ms": milliseconds, **exact}


def _read_duration(node: Node, name: str, *, default: float) -> float:
    exact, milliseconds = node.find(f"{name}Seconds"), node.find(f"{name}Ms")
    if exact is not None:
        return exact.number()
    if milliseconds is None or milliseconds.value is None:
        return default
    return milliseconds.whole() / 1e3


_ATTEMPT = _AttemptRecord(
    Attempt,
    field("provider", TEXT, always, required=True),
    field("outcome", TEXT, always, required=True),
    field("detail", TEXT),
    field("role", TEXT),
    field("usage", _USAGE.codec(), given),
    field("tries", WHOLE, lambda tries: tries != 1),
    field("started", NUMBER, key="startedSeconds"),
    field("dimension", TEXT),
    field("clipped", FLAG),
    field("malformed", WHOLE),
    field("rule", TEXT),
)
_ATTEMPTS = field("attempts", list_of(_ATTEMPT.codec(), empty=None), always)
_REPORT = Record(
    Report,
    field("strategy", TEXT),
    field("engine", TEXT),
    _ATTEMPTS,
    field("fallback_fired", FLAG),
    field("hedge_fired", FLAG),
    field("model", TEXT),
)
_TRACE = Record(
    Trace,
    field("decided_by", TEXT),
    _ATTEMPTS,
    field("engine", TEXT),
    field("strategy", TEXT),
    field("fallback_fired", FLAG),
    field("hedge_fired", FLAG),
    field("calibrated", FLAG),
    field("provenance", TEXT),
    field("outcome", TEXT),
    field("model", TEXT),
    field("stopped_by", TEXT),
    field("policy", TEXT),
    field("outage", FLAG),
    field("cancelled", FLAG),
    field("warnings", TEXTS),
)
_SCORE_REQUEST = Record(
    ScoreRequest,
    field("product", TEXT),
    field("text", ANYTHING, always, required=True),
    field("context", OBJECT),
    field("questions", QUESTIONS, always, required=True),
)


def _write_known_usage(usage: Usage | None) -> dict[str, object]:
    """
    Write the usage of a result, where all zeros mean that it is unknown: known zeros are marked.
    """
    written = _USAGE.write(usage or Usage())
    return {**written, "reported": True} if usage == Usage() else written


def _read_known_usage(node: Node) -> Usage | None:
    usage, reported = _USAGE.read(node), node.find("reported")
    return None if usage == Usage() and not (reported and reported.flag()) else usage


_SCORE_RESULT = Record(
    ScoreResult,
    field("engine", TEXT, always),
    field("model", TEXT),
    field("usage", Codec(_write_known_usage, _read_known_usage, null=True), always),
    field("answers", ANSWERS, always),
    field("report", _REPORT.codec(), given),
)
_POLICY = Record(
    SelectionPolicy,
    field("name", TEXT, always, required=True),
    field("min_confidence", NUMBER, always, required=True),
    field("min_gap", NUMBER, always, required=True),
    field("min_probability", NUMBER, always, required=True),
    field("strong_probability", NUMBER, always, required=True),
    field("potential_probability", NUMBER, always, required=True),
    field("max_picks", WHOLE, given),
    field("accept_uncalibrated_at", NUMBER, given),
    field("accept_uncalibrated_side_effects", FLAG),
    field("models", TEXTS, given),
)
_SELECTION = Record(
    Selection,
    field("outcome", TEXT, always, required=True),
    field("picks", TEXTS),
    field("proposals", TEXTS),
    field("strong", TEXTS),
    field("potential", TEXTS),
    field("reason", TEXT),
)

RECORDS: Final[dict[type, Record[Any]]] = {
    record.kind: record
    for record in (
        _SCORED,
        _REFERENCE,
        _DECISION,
        _MODULE,
        _TAXONOMY,
        _ENTITY,
        _PREVIOUS,
        _STATE,
        _REQUEST,
        _USAGE,
        _ATTEMPT,
        _REPORT,
        _TRACE,
        _SCORE_REQUEST,
        _SCORE_RESULT,
        _POLICY,
        _SELECTION,
    )
}

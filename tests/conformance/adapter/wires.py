"""Vectors about the wire form, where a member that is left out is not the same as one that is empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from decide import (
    DURABLE,
    NARROWING,
    Attempt,
    ChoiceQuestion,
    Decision,
    ModuleSpec,
    Reference,
    Report,
    Request,
    Scored,
    ScoreRequest,
    ScoreResult,
    Selection,
    SelectionPolicy,
    SessionState,
    StopPolicy,
    Taxonomy,
    Trace,
    Usage,
)
from decide.wire import from_json, to_json
from tests.conformance.adapter import reading, writing
from tests.conformance.adapter.outcome import Ran, RefusedError

Doc = dict[str, Any]

_VALUES: Final[dict[str, Callable[[], Any]]] = {
    "attempt zero": lambda: Attempt(provider="", outcome=""),
    "decision zero": Decision,
    "module zero": lambda: ModuleSpec(name=""),
    "moduleSpec zero": lambda: ModuleSpec(name=""),
    "policy durable": lambda: DURABLE,
    "policy narrowing": lambda: NARROWING,
    "policy zero": lambda: SelectionPolicy(
        name="",
        min_confidence=0,
        min_gap=0,
        min_probability=0,
        strong_probability=0,
        potential_probability=0,
    ),
    "question zero": lambda: ChoiceQuestion("", {}),
    "reference zero": Reference,
    "report zero": Report,
    "request zero": Request,
    "scored zero": Scored,
    "scoreRequest zero": lambda: ScoreRequest(text="", questions={}),
    "scoreResult zero": ScoreResult,
    "selection zero": Selection,
    "state zero": SessionState,
    "taxonomy zero": Taxonomy,
    "trace zero": Trace,
    "usage zero": Usage,
}

_KINDS: Final = {"scoreResult": "result"}


def wire(given: Doc) -> Ran:
    """
    Encode or decode one value.
    """
    return _OPERATIONS[given["op"]](given)


def _encode(given: Doc) -> Ran:
    if given["value"] not in _VALUES:
        raise RefusedError(f"no such value: {given['value']}")
    kind: str = given["value"].split()[0]
    return Ran(actual={"json": writing.plain(_VALUES[given["value"]](), _KINDS.get(kind, kind))}, exact=True)


def _encode_attempt(given: Doc) -> Ran:
    described = {key: member for key, member in given["attempt"].items() if key != "latencyNs"}
    attempt = from_json(Attempt, {**described, "latency": given["attempt"].get("latencyNs", 0)})
    return Ran(actual={"json": writing.plain(attempt, "attempt")}, exact=True)


def _decode_attempt(given: Doc) -> Ran:
    return Ran(actual={"latencyNs": round(from_json(Attempt, given["json"]).latency * 1e9)}, exact=True)


def _encode_decision(given: Doc) -> Ran:
    return Ran(actual={"json": writing.plain(reading.decision(given["decision"]), "decision")}, exact=True)


def _stop_policy(given: Doc) -> Ran:
    try:
        stop = from_json(StopPolicy, given["text"])
    except ValueError:
        return Ran(actual={"ok": False}, exact=True)
    return Ran(actual={"ok": True, "text": to_json(stop)}, exact=True)


def _stop_policy_string(given: Doc) -> Ran:
    position = next(value for key, value in given.items() if key != "op")
    words = dict(enumerate(StopPolicy))
    if position not in words:
        raise RefusedError("the vocabulary is closed")
    return Ran(actual={"text": to_json(words[position])}, exact=True)


_OPERATIONS: Final[dict[str, Callable[[Doc], Ran]]] = {
    "encode": _encode,
    "encodeAttempt": _encode_attempt,
    "decodeAttempt": _decode_attempt,
    "encodeDecision": _encode_decision,
    "stopPolicy": _stop_policy,
    "stopPolicyString": _stop_policy_string,
}

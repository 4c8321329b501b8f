"""Vectors that take one decision through judging, editing, encoding and judging again."""

from __future__ import annotations

import json
from typing import Any

from decide import Chain, Decision, Taxonomy, deterministic
from decide.wire import DocumentError, from_json, loads, to_json
from tests.conformance.adapter import reading, writing
from tests.conformance.adapter.judging import state
from tests.conformance.adapter.numbers import number, numbers
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]

_NAMES = {
    "interactionConfidence": "interaction_confidence",
    "interactionScores": "interaction_scores",
    "needsLLM": "needs_llm",
    "requiredScopes": "required_scopes",
    "requiredData": "required_data",
    "canHandleDeterministically": "can_handle_deterministically",
}
_EMPTIED = frozenset({"reference", "requiredScopes", "requiredData", "slots", "scores", "interactionScores"})
"""Members that null empties when it is decoded into a value."""

_NUMBERS = frozenset({"confidence", "interaction_confidence"})
_MAPS_OF_NUMBERS = frozenset({"scores", "interaction_scores"})


def seal_rejudge(given: Doc) -> Ran:
    """
    Thread one decision through every step, noting what it says about itself after each.
    """
    taxonomy = reading.taxonomy(given["taxonomy"])
    decision = reading.decision({})
    states: list[Doc] = []
    for step in given["steps"]:
        decision, noted = _step(decision, step, taxonomy)
        states.append({**state(decision), **noted})
    return Ran(actual={"steps": states})


def _step(decision: Decision, step: Doc, taxonomy: Taxonomy) -> tuple[Decision, Doc]:
    match step["do"]:
        case "set":
            return reading.decision(step["decision"]), {}
        case "deterministic":
            return deterministic(decision), {}
        case "judge":
            judged, selection = reading.policy(step["policy"]).judge(decision)
            return judged, {"selection": writing.selection(selection)}
        case "edit":
            _edit(decision, step["fields"])
            return decision, {}
        case "roundtrip":
            return from_json(Decision, loads(json.dumps(to_json(decision)))), {}
        case "decodeInto":
            return decode_into(decision, step["json"])
        case "rejudge":
            judged = _chain(step).rejudge(decision, taxonomy)
            return judged, {"ok": judged.actionable}
        case other:
            raise ValueError(f"no such step: {other}")


def _chain(step: Doc) -> Chain:
    return Chain(
        [],
        min_confidence=reading.floor(step),
        policy=reading.optional_policy(step.get("policy")),
        keep_non_selected=step.get("keepNonSelected", False),
    )


def _edit(decision: Decision, fields: Doc) -> None:
    for path, value in fields.items():
        *parents, name = path.split(".")
        target: object = decision
        for parent in parents:
            target = getattr(target, parent)
        object.__setattr__(target, _NAMES.get(name, name), _edited(_NAMES.get(name, name), value))


def _edited(name: str, value: Any) -> Any:
    if name in _NUMBERS:
        return number(value)
    if name in _MAPS_OF_NUMBERS:
        return numbers(value)
    return tuple(value) if isinstance(value, list) else value


def decode_into(decision: Decision, text: str) -> tuple[Decision, Doc]:
    """
    Values here are not decoded into: the nearest is a new one, which keeps what the document does not mention.
    """
    try:
        document = loads(text)
        return from_json(Decision, _merged(to_json(decision), document)), {}
    except DocumentError:
        return decision, {"decodeError": True}


def _merged(old: Any, new: Any) -> Any:
    """
    Work *new* into *old*: null empties what can be empty, and leaves anything else as it is.
    """
    if new is None:
        return old
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    emptied = {key for key in _EMPTIED & new.keys() if new[key] is None}
    merged = {**old, **{key: _merged(old.get(key), member) for key, member in new.items()}}
    return {key: member for key, member in merged.items() if key not in emptied}

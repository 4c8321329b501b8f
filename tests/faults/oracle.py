"""Whether a reply may be acted on, decided a second time from the description of the wire, without any code of ours."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from decide import ChoiceQuestion, NoulQuestion, Question, ScoreQuestion

MAX_DEPTH = 100
TIE = 1e-9


def answers_in(status: int, content_type: str, body: bytes, dialect: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the entries of a reply that is one, as System One spells them; none of any other."""
    document = _document(status, content_type, body)
    match dialect:
        case "cloudflare":
            document = {} if document.get("success") is False else _inner(document, "result")
        case "databricks":
            document = _inner(document, "response")
        case _:
            pass
    entries = document.get("answers")
    if dialect == "openai":
        listed = entries if isinstance(entries, list) and len(entries) == len(names) else []
        entries = {
            name: _listed(entry)
            for name, entry in zip(names, listed, strict=False)
            if isinstance(entry, dict) and entry.get("name") in (None, name)
        }
    found = entries if isinstance(entries, dict) else {}
    return {name: _respelled(entry, dialect) for name, entry in found.items()}


def _document(status: int, content_type: str, body: bytes) -> dict[str, Any]:
    page = content_type.startswith("text/html") or body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    if page or not 200 <= status < 300:
        return {}
    try:
        document = json.loads(
            body.decode("utf-8-sig"), parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once
        )
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return {}
    if not isinstance(document, dict) or _depth(document) > MAX_DEPTH:
        return {}
    version = document.get("protocol", 1)
    return {} if version != 1 or isinstance(version, bool | float) else document


def _inner(document: Mapping[str, Any], envelope: str) -> dict[str, Any]:
    inner = document.get(envelope)
    return inner if isinstance(inner, dict) else {}


def _respelled(entry: object, dialect: str) -> object:
    if not isinstance(entry, dict):
        return entry
    kind = {"vercel": "boolean", "openai": "predicate"}.get(dialect, "noul")
    if entry.get("type") == kind and (kind != "noul" or (dialect == "databricks" and "probability" in entry)):
        return {**entry, "type": "noul", "noul": entry.get("probability")}
    return entry


def _listed(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with its list of probabilities as an object; without any when they are not told apart."""
    listed = entry.get("probabilities")
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        return entry if listed is None else {**entry, "probabilities": listed}
    of_choice = entry.get("type") == "choice"
    values = [one.get("value") for one in listed]
    if not all(type(value) is (str if of_choice else int) for value in values) or len(set(values)) < len(values):
        return {**entry, "probabilities": listed}
    found = {str(one["value"]): one.get("probability") for one in listed}
    legend = {} if of_choice else {"legend": {str(one["value"]): one.get("label") for one in listed}}
    return {**entry, "probabilities": found, **legend}


def may_act(question: Question, entry: object) -> bool:
    """Say whether some policy may act on *entry*: it answers the question, and contradicts neither it nor itself."""
    if not isinstance(entry, dict) or entry.get("abstain") is True:
        return False
    confidence = entry.get("confidence")
    sound = confidence is None or _is_probability(confidence)
    match question:
        case NoulQuestion():  # which has no confidence: what is called so is one of the members that nobody knows
            return entry.get("type") == "noul" and _is_probability(entry.get("noul"))
        case ChoiceQuestion():
            return sound and entry.get("type") == "choice" and _chooses(list(question.candidates), entry)
        case ScoreQuestion():
            return sound and entry.get("type") == "score" and _scores(list(question.levels), entry)
        case _:
            raise AssertionError(question)


def _chooses(options: list[str], entry: Mapping[str, Any]) -> bool:
    given = entry.get("probabilities")
    if not _is_distribution(given, options):
        return False
    pick = entry.get("choice")
    if not isinstance(pick, str) or pick not in options:
        return False
    return max(given.values()) - given.get(pick, 0) <= _rounding(given) + TIE


def _scores(levels: list[str], entry: Mapping[str, Any]) -> bool:
    given, score, count = entry.get("probabilities"), entry.get("score"), len(levels)
    if not _is_distribution(given, [str(level) for level in range(count)]):
        return False
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= count - 1:
        return False
    mean = sum(int(level) * value for level, value in given.items())
    if abs(score - mean) > 0.02 + _rounding(given) * (1 + count * (count - 1) / 2):
        return False
    return _is_legend(levels, entry.get("legend"))


def _is_legend(levels: list[str], legend: object) -> bool:
    if legend is None:
        return True
    numbered = {str(at): text for at, text in enumerate(legend)} if isinstance(legend, list) else legend
    if not isinstance(numbered, dict) or not numbered.keys() <= {str(level) for level in range(len(levels))}:
        return False
    plain = [level.strip() for level in levels]
    said = {int(number): text.strip() for number, text in numbered.items() if isinstance(text, str)}
    return all(plain[number] == text or text not in plain for number, text in said.items())


def _is_distribution(given: object, options: list[str]) -> TypeGuard[dict[str, float]]:
    if not isinstance(given, dict) or not given or not given.keys() <= set(options):
        return False
    if not all(map(_is_probability, given.values())):
        return False
    tolerance = max(0.05, min(len(given) * _rounding(given), 0.099))
    return abs(sum(given.values()) - 1) <= tolerance


def _is_probability(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _rounding(given: Mapping[str, float]) -> float:
    """Return half of the last decimal of the number that shows most, one decimal at least."""
    shown = 1
    for value in given.values():
        mantissa, _, exponent = f"{float(value)!r}".partition("e")
        decimals = len(mantissa.partition(".")[2].rstrip("0")) - int(exponent or 0)
        shown = max(shown, decimals)
    return 0.5 * 10.0**-shown


def _depth(value: object) -> int:
    deepest, level = 0, [value]
    while level := [one for one in level if isinstance(one, dict | list)]:
        deepest += 1
        level = [part for one in level for part in (one.values() if isinstance(one, dict) else one)]
    return deepest


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def _finite(text: str) -> float:
    if not math.isfinite(float(text)):
        raise ValueError(text)
    return float(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError(pairs)
    return dict(pairs)

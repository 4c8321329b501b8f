"""OpenAI's decisions: questions and answers in lists, matched by position, and yes or no called a predicate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from decide.engines._systemone_encode import WireRequest
from decide.engines.dialects._dialect import Dialect, Document, UnreadableError, as_noul, check_spelling
from decide.engines.limits import Limits

PREDICATE: Final = "predicate"


def _body(asked: WireRequest, model: str) -> dict[str, object]:
    head: dict[str, object] = {"model": model} if model else {}
    return {
        **head,
        "input": _input(asked),
        "questions": [_question(name, question) for name, question in asked.questions.items()],
    }


def _input(asked: WireRequest) -> object:
    if isinstance(asked.text, str) and not asked.context:
        return asked.text
    text: dict[str, object] = (
        {"type": "input_text", "text": asked.text}
        if isinstance(asked.text, str)
        else {"type": "input_json", "data": asked.text}
    )
    parts = [text, {"type": "input_json", "data": asked.context}] if asked.context else [text]
    return [{"type": "message", "role": "user", "content": parts}]


def _question(name: str, question: Mapping[str, object]) -> dict[str, object]:
    kind, instructions, criteria = question["type"], question["instructions"], question.get("criteria")
    if kind == "choice" and isinstance(criteria, Mapping):
        return {
            "type": "choice",
            "name": name,
            "instructions": instructions,
            "choices": [
                {"value": option} if text is None else {"value": option, "description": text}
                for option, text in criteria.items()
            ],
        }
    if kind == "score" and isinstance(criteria, list):
        levels = [{"label": level} for level in criteria]
        return {"type": "score", "name": name, "instructions": instructions, "levels": levels}
    return {"type": PREDICATE, "name": name, "instructions": f"{instructions}{_sides(criteria)}"}


def _sides(criteria: object) -> str:
    """
    Return what yes and no mean, for the instructions: a predicate has no criteria.
    """
    if not isinstance(criteria, Mapping):
        return ""
    named = (("True", criteria.get("true")), ("False", criteria.get("false")))
    return "".join(f"\n{side}: {text}" for side, text in named if text)


def _reply(asked: WireRequest, document: Document) -> Document:
    answers = document.get("answers")
    answered = answers if isinstance(answers, list) else []
    if len(answered) != len(asked.questions):
        raise UnreadableError(f"{len(answered)} answers to {len(asked.questions)} questions")
    by_name = dict(zip(asked.questions, answered, strict=True))
    check_spelling((by_name[name] for name in by_name if asked.questions[name]["type"] == "noul"), PREDICATE)
    return {**document, "answers": {name: _entry(entry, name) for name, entry in by_name.items()}}


def _entry(entry: object, name: str) -> object:
    """
    Return an answer as a System One server would have sent it; none when it names another question than its place does.
    """
    if not isinstance(entry, dict):
        return entry
    if entry.get("name") not in (None, name):
        return None
    match entry.get("type"):
        case "choice":
            return {**entry, "probabilities": _by_value(entry.get("probabilities"))}
        case "score":
            return {**entry, **_by_level(entry.get("probabilities"))}
        case _:
            return as_noul(entry, PREDICATE)


def _by_value(listed: object) -> object:
    """
    Return probabilities by option; true is not the option "true".
    """
    found = _pairs(listed, "probability")
    if found is None or not all(isinstance(value, str) for value, _ in found):
        return listed
    by_value = dict(found)
    return by_value if len(by_value) == len(found) else listed


def _by_level(listed: object) -> dict[str, object]:
    """
    Return probabilities and labels by the number of the level.
    """
    probabilities, labels = _pairs(listed, "probability"), _pairs(listed, "label")
    if probabilities is None or labels is None:
        return {}
    if not all(type(level) is int for level, _ in probabilities):
        return {}
    by_level = {str(level): number for level, number in probabilities}
    if len(by_level) < len(probabilities):
        return {}
    return {"probabilities": by_level, "legend": {str(level): label for level, label in labels}}


def _pairs(listed: object, member: str) -> list[tuple[object, object]] | None:
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
        return None
    members: Iterable[Mapping[str, object]] = listed
    return [(one.get("value"), one.get(member)) for one in members]


OPENAI: Final = Dialect(
    name="openai",
    write=_body,
    read=_reply,
    route="/v1/decisions",
    listed=True,
    yes_no=PREDICATE,
    limits=Limits(questions=400, least_options=2, options=255),
)

"""Questions as JSON: in a request, in the form that is hashed, and as a person writes them into a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from decide._json import DocumentError, Node, canonical, plain, type_name
from decide._wire_fields import Codec
from decide.errors import InvalidRequestError
from decide.questions import (
    ChoiceQuestion,
    NoulQuestion,
    Question,
    RelevanceQuestion,
    ScoreQuestion,
)

_KINDS: Final[dict[type[Question], str]] = {
    NoulQuestion: "noul",
    ChoiceQuestion: "choice",
    ScoreQuestion: "score",
    RelevanceQuestion: "relevance",
}


def write_question(key: str, question: Question) -> dict[str, object]:
    """
    Return *question* as it stands in a request.
    """
    head: dict[str, object] = {"id": key, "kind": _KINDS[type(question)], "instructions": question.instructions}
    match question:
        case NoulQuestion():
            return {**head, "criteria": criteria} if (criteria := _criteria(question)) else head
        case ScoreQuestion():
            return {**head, "levels": list(question.levels)}
        case ChoiceQuestion(none_id=none_id) if none_id:
            return {**head, "candidates": _write_candidates(question.candidates), "noneId": none_id}
        case ChoiceQuestion() | RelevanceQuestion():
            return {**head, "candidates": _write_candidates(question.candidates)}


def canonical_request(model: str, questions: Mapping[str, Question]) -> str:
    """
    Return the text whose hash names what was asked: the model and the questions, sorted, without the state.

    Criteria that are left out stay out, and blank ones stay blank.
    """
    asked: dict[str, object] = {}
    for key, question in questions.items():
        head = {"type": _KINDS[type(question)], "instructions": question.instructions}
        asked[key] = {**head, "criteria": criteria} if (criteria := _criteria(question)) else head
    return canonical({"model": model, "questions": asked})


def questions_from(document: object) -> dict[str, Question]:
    """
    Read questions written as an object: `{"team": {"kind": "choice", "instructions": "Who?", "criteria": {"a": ""}}}`.

    `type` may stand for `kind`. `criteria` holds the options of a choice or a relevance question (also `candidates`,
    also as a list of ids), the levels of a score (also `levels`), or what true and false mean for a noul. The order of
    the object is kept, but keys are checked in sorted order, so that the same mistake always blames the same key.

    Raises:
        InvalidRequestError: Naming the question, also in its `key`, and what is wrong with it.
    """
    try:
        root = plain(document)
    except DocumentError as error:
        raise InvalidRequestError(f"the questions are not JSON: {error}") from None
    if not isinstance(root, dict):
        raise InvalidRequestError(f"expected an object of questions, got {type_name(root)}")
    if not root:
        raise InvalidRequestError("no questions to evaluate")
    found = {key: _question_from(key, root[key]) for key in sorted(root)}
    return {key: found[key] for key in root}


def _question_from(key: str, document: object) -> Question:
    node = Node(document, "")
    try:
        return _read_body(node, node.find("kind") or node.need("type"), "criteria")
    except DocumentError as error:
        raise InvalidRequestError(f'"{key}"{error}', key=key) from None


def read_question(node: Node) -> tuple[str, Question]:
    """
    Read a question of a request; return its key and the question.
    """
    key = node.need("id").text()
    return key, _read_body(node, node.need("kind"), "")


def _read_body(node: Node, kind: Node, criteria: str) -> Question:
    instructions = node.need("instructions").text()
    read = _BODIES.get(kind.text())
    if read is None:
        raise DocumentError(kind.path, "expected one of " + ", ".join(_BODIES))
    if read is not _choice and _none_id(node):
        raise DocumentError(f"{node.path}.noneId", "only a choice has a none-of-these option")
    try:
        return read(node, instructions, criteria)
    except DocumentError:
        raise
    except ValueError as error:
        raise DocumentError(node.path, str(error)) from None


def _noul(node: Node, instructions: str, _: str) -> NoulQuestion:
    criteria = node.find("criteria")
    if criteria is None or criteria.value is None:
        return NoulQuestion(instructions)
    return NoulQuestion(instructions, true=_optional(criteria, "true"), false=_optional(criteria, "false"))


def _choice(node: Node, instructions: str, criteria: str) -> ChoiceQuestion:
    candidates = _read_candidates(_either(node, "candidates", criteria))
    return ChoiceQuestion(instructions, candidates, none_id=_none_id(node))


def _score(node: Node, instructions: str, criteria: str) -> ScoreQuestion:
    return ScoreQuestion(instructions, [level.text() for level in _either(node, "levels", criteria).items()])


def _relevance(node: Node, instructions: str, criteria: str) -> RelevanceQuestion:
    return RelevanceQuestion(instructions, _read_candidates(_either(node, "candidates", criteria)))


_BODIES: Final[dict[str, Callable[[Node, str, str], Question]]] = {
    "noul": _noul,
    "choice": _choice,
    "score": _score,
    "relevance": _relevance,
}


def _either(node: Node, key: str, other: str) -> Node:
    return node.find(key) or (node.need(other) if other else node.need(key))


def _none_id(node: Node) -> str:
    member = node.find("noneId")
    return member.text() if member else ""


def _optional(node: Node, key: str) -> str | None:
    member = node.find(key)
    return None if member is None or member.value is None else member.text()


def _criteria(question: Question) -> Mapping[str, str | None] | Sequence[str]:
    match question:
        case NoulQuestion(true=true, false=false):
            meanings = {"true": true, "false": false}
            return {key: meaning for key, meaning in meanings.items() if meaning is not None}
        case ScoreQuestion(levels=levels):
            return levels
        case ChoiceQuestion(candidates=candidates) | RelevanceQuestion(candidates=candidates):
            return candidates


def _write_candidates(candidates: Mapping[str, str | None]) -> list[dict[str, str]]:
    return [
        {"id": name} if description is None else {"id": name, "description": description}
        for name, description in candidates.items()
    ]


def _read_candidates(node: Node) -> list[tuple[str, str | None]]:
    if node.value is None:
        return []
    if isinstance(node.value, dict):
        return [(name, None if member.value is None else member.text()) for name, member in node.members()]
    return [
        (item.text(), None) if isinstance(item.value, str) else (item.need("id").text(), _optional(item, "description"))
        for item in node.items()
    ]


def _read_questions(node: Node) -> dict[str, Question]:
    found: dict[str, Question] = {}
    for item in () if node.value is None else node.items():
        key, question = read_question(item)
        if key in found:
            raise DocumentError(f"{item.path}.id", "the same id as a question before it")
        found[key] = question
    return found


QUESTIONS: Final[Codec[Mapping[str, Question]]] = Codec(
    lambda questions: [write_question(key, question) for key, question in questions.items()] or None,
    _read_questions,
)

"""A request as a System One server reads it, and under which names its answers will come back."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping

import attrs

from decide._json import DocumentError, plain
from decide.errors import InvalidRequestError
from decide.questions import ChoiceQuestion, NoulQuestion, Question, RelevanceQuestion, ScoreQuestion, ScoreRequest

WireQuestion = dict[str, object]


@attrs.frozen(kw_only=True)
class WireRequest:
    """
    What is asked, in the terms of the wire.

    Attributes:
        text: The text or object that the questions are about.
        context: Further facts; empty for none.
        questions: Wire questions by wire name, in the caller's order.
        names: The wire names of every question: its own key, or one for each candidate of a relevance question.
    """

    text: object = attrs.field(repr=False)
    context: Mapping[str, object] = attrs.field(repr=False)
    questions: dict[str, WireQuestion] = attrs.field(repr=False)
    names: dict[str, tuple[str, ...]] = attrs.field(repr=False)

    @property
    def state(self) -> object:
        """
        The text or object, or both it and the facts as members of one object.
        """
        return {"text": self.text, "context": self.context} if self.context else self.text


def wire_request(request: ScoreRequest) -> WireRequest:
    """
    Put *request* into the terms of the wire.

    The state goes as it is; with further facts beside it, it becomes an object of `text` and `context`. The wire has no
    question for several of many, so that a relevance question becomes one yes/no question for each candidate, under a
    name that no other question has.

    Raises:
        InvalidRequestError: If nothing is asked, or the state cannot be written as JSON.
    """
    if not request.questions:
        raise InvalidRequestError("no questions", detail="no questions")
    taken = {unicodedata.normalize("NFC", key) for key in request.questions}
    questions: dict[str, WireQuestion] = {}
    names: dict[str, tuple[str, ...]] = {}
    for key, question in request.questions.items():
        named = dict(_wire_questions(key, question, taken))
        questions.update(named)
        names[key] = tuple(named)
    return WireRequest(
        text=_sendable(request.text, "the state"),
        context=_sendable_facts(request.context),
        questions=questions,
        names=names,
    )


def written(body: object) -> bytes:
    """
    Write the body of a request, every mapping in the caller's order.

    Raises:
        InvalidRequestError: If something in it is no JSON, or a text no Unicode.
    """
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError):
        # Raised below and not here, where it would keep an error that quotes the text as its context.
        pass
    raise InvalidRequestError("the request cannot be sent as JSON", detail="the request cannot be sent as JSON")


def _sendable_facts(context: Mapping[str, object]) -> Mapping[str, object]:
    facts = _sendable(context, "the context") if context else {}
    return facts if isinstance(facts, Mapping) else {}


def _sendable(value: object, what: str) -> object:
    problem = ""
    try:
        return plain(value)
    except DocumentError as error:
        problem = error.problem
    raise InvalidRequestError(f"{what} cannot be sent as JSON: {problem}", detail=f"{what} cannot be sent as JSON")


def _wire_questions(key: str, question: Question, taken: set[str]) -> Iterator[tuple[str, WireQuestion]]:
    match question:
        case NoulQuestion():
            yield key, _noul(question.instructions, question.true, question.false)
        case ChoiceQuestion():
            yield key, {"type": "choice", "instructions": question.instructions, "criteria": dict(question.candidates)}
        case ScoreQuestion():
            yield key, {"type": "score", "instructions": question.instructions, "criteria": list(question.levels)}
        case RelevanceQuestion():
            for number, (candidate, description) in enumerate(question.candidates.items(), start=1):
                yield _free(f"{key}_{number}", taken), _relevant(question.instructions, candidate, description)


def _noul(instructions: str, true: str | None, false: str | None) -> WireQuestion:
    criteria = {side: text for side, text in (("true", true), ("false", false)) if text is not None}
    return {"type": "noul", "instructions": instructions, **({"criteria": criteria} if criteria else {})}


def _relevant(instructions: str, candidate: str, description: str | None) -> WireQuestion:
    described = f"{candidate}: {description}" if description else candidate
    return _noul(f"{instructions}\nCandidate: {described}", true=described, false="anything else")


def _free(name: str, taken: set[str]) -> str:
    while unicodedata.normalize("NFC", name) in taken:
        name += "_"
    taken.add(unicodedata.normalize("NFC", name))
    return name

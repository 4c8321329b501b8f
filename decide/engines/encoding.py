"""How questions are put to a decision model: what gives it nothing to go by, and how a text that is too long is cut."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import attrs

from decide.questions import ChoiceQuestion, NoulQuestion, Question, RelevanceQuestion, ScoreQuestion, ScoreRequest

ELLIPSIS: Final = "…"


class Degenerate(StrEnum):
    """
    Why the options of a choice tell a model nothing.
    """

    ALL_EMPTY = "all_empty"
    ALL_EQUAL_KEY = "all_equal_key"
    ALL_IDENTICAL = "all_identical"


class DegenerateCriteriaWarning(UserWarning):
    """
    A choice whose options are not told apart by what they say. It is asked all the same.

    Attributes:
        key: The question. Caller content: not in the message.
        reason: What is wrong with it.
    """

    def __init__(self, position: int, key: str, reason: Degenerate) -> None:
        super().__init__(f"question {position}: {_WORDS[reason]}; describe every option by what picking it does")
        self.key = key
        self.reason = reason


_WORDS = {
    Degenerate.ALL_EMPTY: "no option is described",
    Degenerate.ALL_EQUAL_KEY: "every option is described by its own id",
    Degenerate.ALL_IDENTICAL: "all options are described alike",
}


def degenerate(question: Question) -> Degenerate | None:
    """
    Say why the options of a choice give a model nothing to go by; None for any other question, and for a single option.
    """
    if not isinstance(question, ChoiceQuestion) or len(question.candidates) < 2:
        return None
    texts = {key: text or "" for key, text in question.candidates.items()}
    if not any(texts.values()):
        return Degenerate.ALL_EMPTY
    if all(text == key for key, text in texts.items()):
        return Degenerate.ALL_EQUAL_KEY
    return Degenerate.ALL_IDENTICAL if len(set(texts.values())) == 1 else None


def cut(text: str, at_most: int) -> str:
    """
    Return *text* with at most *at_most* characters; what was cut ends in "…", which counts as one.

    Raises:
        ValueError: If not even that fits.
    """
    if at_most < 1:
        raise ValueError("at_most: must be 1 or above")
    return text if len(text) <= at_most else f"{text[: at_most - 1]}{ELLIPSIS}"


def share(texts: Sequence[str], at_most: int) -> tuple[str, ...]:
    """
    Cut *texts* so that together they have at most *at_most* characters.

    Each has an equal share, and what a short one leaves goes to the others.

    Raises:
        ValueError: If there is less than one character for each.
    """
    if at_most < len(texts):
        raise ValueError(f"at_most: must be {len(texts)} or above, one for each text")
    cuts = list(texts)
    room, left = at_most, len(texts)
    for position in sorted(range(len(texts)), key=lambda one: len(texts[one])):
        cuts[position] = cut(texts[position], room // left)
        room -= len(cuts[position])
        left -= 1
    return tuple(cuts)


@attrs.frozen(kw_only=True)
class Caps:
    """
    How long the texts of a request may be, in characters. None is no cap.

    Attributes:
        state: The state, when it is a text.
        noul: Everything a yes/no question says.
        choice: Everything a choice says, ids apart.
        score: Everything a score says.
        relevance: Everything a relevance question says, ids apart.
    """

    state: int | None = None
    noul: int | None = None
    choice: int | None = None
    score: int | None = None
    relevance: int | None = None


def capped(request: ScoreRequest, caps: Caps) -> ScoreRequest:
    """
    Return *request* with everything cut that is longer than its cap, each cut ending in "…".

    Raises:
        ValueError: If a cap leaves less than one character for each text of a question.
    """
    text = request.text
    if isinstance(text, str) and caps.state is not None:
        text = cut(text, caps.state)
    questions = {key: _capped(question, caps) for key, question in request.questions.items()}
    return attrs.evolve(request, text=text, questions=questions)


def _capped(question: Question, caps: Caps) -> Question:
    match question:
        case NoulQuestion():
            instructions, true, false = _shared([question.instructions, question.true, question.false], caps.noul)
            return attrs.evolve(question, instructions=instructions or "", true=true, false=false)
        case ScoreQuestion():
            instructions, *levels = _shared([question.instructions, *question.levels], caps.score)
            return attrs.evolve(question, instructions=instructions or "", levels=[level or "" for level in levels])
        case ChoiceQuestion() | RelevanceQuestion():
            cap = caps.choice if isinstance(question, ChoiceQuestion) else caps.relevance
            instructions, *texts = _shared([question.instructions, *question.candidates.values()], cap)
            candidates = dict(zip(question.candidates, texts, strict=True))
            return attrs.evolve(question, instructions=instructions or "", candidates=candidates)


def _shared(texts: Sequence[str | None], cap: int | None) -> list[str | None]:
    if cap is None:
        return list(texts)
    said = [position for position, text in enumerate(texts) if text]
    cuts = dict(zip(said, share([texts[position] or "" for position in said], cap), strict=True))
    return [cuts.get(position, text) for position, text in enumerate(texts)]

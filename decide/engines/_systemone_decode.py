"""The answers of a System One server as ours, each checked against what was asked; a bad one spoils only itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from decide import distributions
from decide.answers import Answer, ChoiceAnswer, NoulAnswer, RelevanceAnswer, ScoreAnswer, ScoreResult, Usage
from decide.distributions import is_number, is_probability
from decide.engines._systemone_encode import WireRequest
from decide.engines._usage import UNREADABLE_MODEL, read_model
from decide.errors import InvalidAnswerError
from decide.questions import (
    MAX_LEVELS,
    ChoiceQuestion,
    NoulQuestion,
    Question,
    RelevanceQuestion,
    ScoreQuestion,
    ScoreRequest,
)
from decide.results import answer_problems

SELF_REPORTED_MODELS: Final = ("sparrow-",)
"""How the ids of models begin whose numbers are known not to be measured, whatever server they speak through."""

_ABSENT: Final = object()
_TIE = 1e-9
_LEVELS = {str(level): level for level in range(MAX_LEVELS)}


class _MalformedError(Exception):
    """
    One answer cannot be used. Never leaves this module.
    """


@attrs.frozen(kw_only=True)
class Reading:
    """
    What a reply says, question by question.

    Attributes:
        result: An answer to every question, an explicit unknown where the reply has none that can be used.
        answered: Answers of the reply that can be used.
        malformed: Answers of the reply that cannot.
        spoiled: The questions that are unknown because their answer was malformed, not because it was declined.
        odd_model: The reply names a model that may not stand in a trace.
    """

    result: ScoreResult
    answered: int
    malformed: int
    spoiled: frozenset[str] = attrs.field(repr=False)
    odd_model: bool


def read_answers(
    request: ScoreRequest,
    asked: WireRequest,
    document: Mapping[str, object],
    *,
    engine: str,
    calibrated: bool,
    usage: Usage | None,
) -> Reading:
    """
    Read a reply that was already found to hold answers.

    Args:
        request: What the caller asked.
        asked: What was sent.
        document: The reply. Unknown members are ignored, and so are answers to questions that were not asked.
        engine: The engine's name, for the result.
        calibrated: Whether the engine's numbers count as measured, unless the reply says otherwise or its model is
            known better.
        usage: What the reply cost.

    Raises:
        InvalidAnswerError: If no answer can be used, and at least one is malformed rather than declined.
    """
    model = read_model(document.get("model"))
    claims = calibrated and document.get("calibrated") is not False and not model.startswith(SELF_REPORTED_MODELS)
    entries = document.get("answers")
    reader = _Reader(entries=entries if isinstance(entries, dict) else {}, calibrated=claims)
    answers = {key: reader.read(key, question, asked.names[key]) for key, question in request.questions.items()}
    if reader.malformed and not reader.answered:
        raise _nothing_usable(request, reader, engine, usage)
    return Reading(
        result=ScoreResult(engine=engine, model=model, usage=usage, answers=answers),
        answered=reader.answered,
        malformed=reader.malformed,
        spoiled=frozenset(reader.spoiled),
        odd_model=model == UNREADABLE_MODEL,
    )


def _nothing_usable(request: ScoreRequest, reader: _Reader, engine: str, usage: Usage | None) -> InvalidAnswerError:
    asked = enumerate(request.questions.items(), start=1)
    position, key, question = next((at, key, question) for at, (key, question) in asked if key in reader.spoiled)
    kind = type(question).__name__.removesuffix("Question").lower()
    return InvalidAnswerError(
        f"{engine}: no answer of the reply can be used, {reader.malformed} malformed: question {position}, {kind}",
        detail=f"{reader.malformed} malformed",
        key=key,
        usage=usage,
    )


class _Reader:
    """
    The entries of one reply, and a count of what became of those that were asked for.
    """

    def __init__(self, *, entries: Mapping[str, object], calibrated: bool) -> None:
        self._entries = entries
        self._calibrated = calibrated
        self.answered = 0
        self.malformed = 0
        self.spoiled: set[str] = set()

    def read(self, key: str, question: Question, names: tuple[str, ...]) -> Answer:
        match question:
            case NoulQuestion():
                return self._noul(key, names[0])
            case ChoiceQuestion():
                return self._one(key, names[0], question) or ChoiceAnswer(unknown=True, none_id=question.none_id)
            case ScoreQuestion():
                return self._one(key, names[0], question) or ScoreAnswer(unknown=True, levels=question.levels)
            case RelevanceQuestion():
                found = {
                    candidate: self._noul(key, name).noul
                    for candidate, name in zip(question.candidates, names, strict=True)
                }
                known = {candidate: value for candidate, value in found.items() if value is not None}
                return RelevanceAnswer(probabilities=known, unknown=not known, calibrated=self._calibrated)

    def _noul(self, key: str, name: str) -> NoulAnswer:
        answer = self._one(key, name, NoulQuestion(""))
        return answer if isinstance(answer, NoulAnswer) else NoulAnswer()

    def _one(self, key: str, name: str, question: Question) -> Answer | None:
        try:
            answer = _answer(question, self._entries.get(name, _ABSENT), calibrated=self._calibrated)
        except _MalformedError:
            self.malformed += 1
            self.spoiled.add(key)
            return None
        self.answered += answer is not None
        return answer


def _answer(question: Question, entry: object, *, calibrated: bool) -> Answer | None:
    if entry is _ABSENT:
        return None
    if not isinstance(entry, dict):
        raise _MalformedError
    kind = entry.get("type")
    if kind in ("refusal", "unsupported") or entry.get("abstain") is True:
        return None
    answer: Answer
    match question:
        case NoulQuestion() if kind == "noul":
            answer = NoulAnswer(noul=_probability(entry.get("noul")), calibrated=calibrated)
        case ChoiceQuestion() if kind == "choice":
            answer = _choice(question, entry, calibrated=calibrated)
        case ScoreQuestion() if kind == "score":
            answer = _score(question, entry, calibrated=calibrated)
        case _:
            raise _MalformedError
    if any(answer_problems(question, answer)):
        raise _MalformedError
    return answer


def _choice(question: ChoiceQuestion, entry: Mapping[str, object], *, calibrated: bool) -> ChoiceAnswer:
    pick, probabilities, reported = entry.get("choice"), _probabilities(entry), _reported(entry)
    if not isinstance(pick, str) or pick not in question.candidates:
        raise _MalformedError
    if probabilities:
        top = max(probabilities.values())
        if top - probabilities.get(pick, 0.0) > distributions.rounding(probabilities.values()) + _TIE:
            raise _MalformedError
    return ChoiceAnswer(
        choice=pick,
        probabilities=probabilities,
        confidence=(
            distributions.choice_confidence(probabilities.values(), len(question.candidates))
            if probabilities
            else reported
        ),
        reported_confidence=reported,
        none_id=question.none_id,
        calibrated=calibrated,
    )


def _score(question: ScoreQuestion, entry: Mapping[str, object], *, calibrated: bool) -> ScoreAnswer:
    score, reported, levels = entry.get("score"), _reported(entry), len(question.levels)
    if not isinstance(score, int | float) or not is_number(score) or not 0 <= score <= levels - 1:
        raise _MalformedError
    _check_legend(question.levels, entry.get("legend"))
    probabilities: dict[int, float] = {}
    for name, value in _probabilities(entry).items():
        level = _LEVELS.get(name, levels)
        if level >= levels:
            raise _MalformedError
        probabilities[level] = value
    return ScoreAnswer(
        score=float(score),
        levels=question.levels,
        probabilities=probabilities,
        confidence=distributions.score_confidence(probabilities, levels) if probabilities else reported,
        reported_confidence=reported,
        calibrated=calibrated,
    )


def _check_legend(levels: tuple[str, ...], legend: object) -> None:
    """
    Refuse a legend that numbers the levels in another way than they were asked.

    Its wording is the server's: some trim it, some leave it out.
    """
    if legend is None:
        return
    if isinstance(legend, list):
        legend = {str(number): text for number, text in enumerate(legend)}
    if not isinstance(legend, dict):
        raise _MalformedError
    for name, text in legend.items():
        level = _LEVELS.get(name, len(levels))
        if level >= len(levels):
            raise _MalformedError
        if text != levels[level] and isinstance(text, str) and _renumbers(levels, level, text.strip()):
            raise _MalformedError


def _renumbers(levels: tuple[str, ...], level: int, said: str) -> bool:
    asked = [text.strip() for text in levels]
    return said != asked[level] and said in asked


def _probabilities(entry: Mapping[str, object]) -> dict[str, float]:
    found = entry.get("probabilities")
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _MalformedError
    for value in found.values():
        if type(value) is not float or not 0.0 <= value <= 1.0:
            return {option: _probability(value) for option, value in found.items()}
    return found


def _reported(entry: Mapping[str, object]) -> float | None:
    confidence = entry.get("confidence")
    return None if confidence is None else _probability(confidence)


def _probability(value: object) -> float:
    if not isinstance(value, int | float) or not is_probability(value):
        raise _MalformedError
    return float(value)

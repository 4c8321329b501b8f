"""A control for experiments: an engine whose numbers stand on the wrong options."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import TypeVar

import attrs

from decide import distributions
from decide.answers import Answer, ChoiceAnswer, NoulAnswer, RelevanceAnswer, ScoreAnswer, ScoreResult
from decide.attempt_log import AttemptLog
from decide.providers import AnyProvider, ScoreCall, adapt
from decide.questions import ScoreRequest

T = TypeVar("T")


def shuffled(engine: AnyProvider, seed: int) -> ShuffledEngine:
    """
    Return a control for an experiment: *engine*, with its numbers on the wrong options.

    Whatever is measured of an engine should be lost on its control. A result that survives does not come from the
    answers.

    Raises:
        TypeError: If the engine does not answer questions.
    """
    return ShuffledEngine(engine, seed)


class ShuffledEngine:
    """
    An engine that moves every number of another's answers to an option that it was not meant for.

    The same seed moves the same way, per question and its number of options. A yes/no answer is turned round.
    """

    def __init__(self, engine: AnyProvider, seed: int) -> None:
        ready = adapt(engine)
        if ready.score is None:
            raise TypeError(f"engine {ready.name!r} does not answer questions")
        self._score: ScoreCall = ready.score
        self._seed = seed
        self.name: str = f"{ready.name}-shuffled"
        self.decision_timeout: float | None = ready.timeout

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        """
        Have the engine answer, and move its numbers.
        """
        result = await self._score(request, AttemptLog())
        answers = {key: self._moved(key, answer) for key, answer in result.answers.items()}
        return attrs.evolve(result, engine=self.name, answers=answers, report=None)

    def _moved(self, key: str, answer: Answer) -> Answer:
        if answer.unknown:
            return answer
        match answer:
            case NoulAnswer():
                return attrs.evolve(answer, noul=None if answer.noul is None else 1.0 - answer.noul)
            case ChoiceAnswer():
                probabilities = self._deranged(key, answer.probabilities)
                choice = max(probabilities, key=probabilities.__getitem__) if probabilities else answer.choice
                return attrs.evolve(answer, probabilities=probabilities, choice=choice)
            case ScoreAnswer():
                levels = self._deranged(key, answer.probabilities)
                confidence = distributions.score_confidence(levels, len(answer.levels)) if levels else answer.confidence
                score = sum(level * value for level, value in levels.items()) if levels else answer.score
                return attrs.evolve(answer, probabilities=levels, score=score, confidence=confidence)
            case RelevanceAnswer():
                return attrs.evolve(answer, probabilities=self._deranged(key, answer.probabilities))

    def _deranged(self, key: str, probabilities: Mapping[T, float]) -> dict[T, float]:
        """
        Move every number to another place, all places around one circle in a random order.
        """
        circle = list(probabilities)
        random.Random(f"{self._seed}:{key}:{len(circle)}").shuffle(circle)  # noqa: S311 - repeatable, not secret
        return _in_order(probabilities, zip(circle, circle[1:] + circle[:1], strict=True))


def _in_order(probabilities: Mapping[T, float], moves: Iterable[tuple[T, T]]) -> dict[T, float]:
    source = dict(moves)
    return {option: probabilities[source[option]] for option in probabilities}

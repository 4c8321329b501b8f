"""The two things a chain asks its engines for, judged by the chain's own bars."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import attrs

from decide._askings import Deciding, Scoring
from decide._chain_judging import Judge
from decide._legs import Ending, failed
from decide.answers import ScoreResult, Usage
from decide.attempt_log import AttemptLog
from decide.decisions import Decision
from decide.errors import MEANINGS, Kind, first_kind, kinds_of
from decide.outcomes import AttemptOutcome
from decide.providers import Engine
from decide.requests import Request

T = TypeVar("T")

_UNKNOWN_TO_CHAINS = frozenset({Kind.UNSUPPORTED, Kind.CANCELLED})


@attrs.frozen
class ChainDeciding:
    """
    Ask for a decision, judged by the chain.
    """

    request: Request
    bars: Judge

    def call(self, engine: Engine) -> Callable[[AttemptLog], Awaitable[Decision | None]] | None:
        """
        Return how to ask *engine*, or None when it only answers questions.
        """
        return Deciding(self.request).call(engine)

    def judge(self, answer: Decision | None) -> Ending[Decision]:
        """
        Return what the chain's bars make of *answer*.
        """
        if answer is None:
            return Ending(outcome=AttemptOutcome.ABSTAINED)
        return self.bars.judge(answer, self.request.taxonomy)

    def usage(self, _: Decision | None, /) -> Usage | None:
        """
        Return None: a decision does not say what it cost.
        """
        return None

    def failed(self, error: Exception) -> Ending[Decision]:
        """
        Return what *error* means in a chain.
        """
        return plain(failed(error))


@attrs.frozen
class ChainScoring:
    """
    Ask for answers to questions, judged by the chain.
    """

    asked: Scoring
    keep: bool

    def call(self, engine: Engine) -> Callable[[AttemptLog], Awaitable[ScoreResult | None]] | None:
        """
        Return how to ask *engine*, or None when it only decides.
        """
        return self.asked.call(engine)

    def judge(self, answer: ScoreResult | None) -> Ending[ScoreResult]:
        """
        Return what the chain's policy makes of *answer*.
        """
        ending = self.asked.judge(answer)
        if self.keep and ending.outcome is AttemptOutcome.UNCERTAIN:
            return attrs.evolve(ending, outcome=AttemptOutcome.DECIDED, kept=True)
        return ending

    def usage(self, answer: ScoreResult | None, /) -> Usage | None:
        """
        Return what *answer* says it cost.
        """
        return self.asked.usage(answer)

    def failed(self, error: Exception) -> Ending[ScoreResult]:
        """
        Return what *error* means in a chain.
        """
        return plain(failed(error))


def plain(ending: Ending[T]) -> Ending[T]:
    """
    Return *ending* in a chain's words, which know no unsupported and no cancelled engine error.

    What else the error is names it then; if it is nothing else, it is an `error`.
    """
    if ending.kind not in _UNKNOWN_TO_CHAINS or ending.error is None:
        return ending
    kind = first_kind((kinds_of(ending.error) - _UNKNOWN_TO_CHAINS) | {Kind.ERROR})
    return attrs.evolve(ending, outcome=MEANINGS[kind].outcome, kind=kind)

"""What the four combinators share: their engines made ready, and the two ways to ask them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, TypeVar

import anyio.lowlevel

from decide._askings import Deciding, Scoring, refuse_invalid
from decide._checks import positive_seconds
from decide._legs import Asking
from decide.answers import ScoreResult
from decide.attempt_log import AttemptLog
from decide.compose._settle import Legs, with_report
from decide.decisions import Decision
from decide.policies import SelectionPolicy, strictest
from decide.providers import AnyProvider, Engine, adapt
from decide.questions import ScoreRequest
from decide.requests import Request

T = TypeVar("T")

DEFAULT_TIMEOUT: Final = 1.5
"""Seconds an engine has that does not declare its own `decision_timeout`."""


class Combinator:
    """
    Several engines that act as one.
    """

    strategy: ClassVar[str]

    def __init__(
        self,
        engines: Sequence[AnyProvider],
        *,
        name: str,
        policy: SelectionPolicy | None,
        default_timeout: float,
        fail_over: Iterable[str] = (),
    ) -> None:
        if not engines:
            raise ValueError(f"{self.strategy} needs at least one engine")
        self._engines: tuple[Engine, ...] = tuple(adapt(engine) for engine in engines)
        _refuse_twins(self._engines)
        self._name = name or f"{self.strategy}({','.join(engine.name for engine in self._engines)})"
        self._policy = policy
        default = positive_seconds("default_timeout", default_timeout)
        self._timeouts = tuple(engine.timeout or default for engine in self._engines)
        self._fail_over = frozenset(fail_over)
        self._layers = 1 + max(engine.layers for engine in self._engines)
        self._retries = any(engine.retries for engine in self._engines)
        self._exclusives = frozenset[int]().union(*(engine.exclusives for engine in self._engines))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name}>"

    @property
    def name(self) -> str:
        """
        What traces call it.
        """
        return self._name

    @property
    def decision_timeout(self) -> float:
        """
        The most seconds it takes.
        """
        return max(self._timeouts)

    @property
    def policy(self) -> SelectionPolicy | None:
        """
        The policy that judges here; without one, the strictest of those that judge in the engines.
        """
        return self._policy or strictest(engine.policy for engine in self._engines)

    @property
    def deterministic(self) -> bool:
        """
        Whether no model is involved in any of its engines.
        """
        return all(engine.deterministic for engine in self._engines)

    async def decide(self, request: Request) -> Decision | None:
        """
        Return a decision, or None when an engine abstained and none did better.

        Raises:
            NoAnswerError: If no engine answered.
        """
        return await self.decide_traced(request, AttemptLog())

    async def decide_traced(self, request: Request, log: AttemptLog) -> Decision | None:
        """
        As `decide`, writing every attempt into *log*.
        """
        return await self._answer(Deciding(request, self._policy), log)

    async def score(self, request: ScoreRequest) -> ScoreResult:
        """
        Return answers to every question.

        Raises:
            InvalidRequestError: If no engine could answer the request.
            NoAnswerError: If no engine answered.
        """
        return await self.score_traced(request, AttemptLog())

    async def score_traced(self, request: ScoreRequest, log: AttemptLog) -> ScoreResult:
        """
        As `score`, writing every attempt into *log*.
        """
        log.strategy = self.strategy
        refuse_invalid(request)
        result = await self._answer(Scoring(request, self._policy), log)
        return with_report(result, log)

    async def _answer(self, asking: Asking[T], log: AttemptLog) -> T | None:
        log.strategy = self.strategy
        await anyio.lowlevel.checkpoint_if_cancelled()
        legs = Legs(asking, self._engines, self._timeouts, self._fail_over, log)
        await self._run(legs)
        return legs.conclude(self._name)

    async def _run(self, legs: Legs[T]) -> None:
        raise NotImplementedError


def _refuse_twins(engines: Sequence[Engine]) -> None:
    names: set[str] = set()
    exclusives: set[int] = set()
    for engine in engines:
        if engine.name in names:
            raise ValueError(f"two engines are called {engine.name!r}: give one another name")
        if engine.exclusives & exclusives:
            raise ValueError(f"engine {engine.name!r} answers one question at a time and cannot be in two legs")
        names.add(engine.name)
        exclusives |= engine.exclusives

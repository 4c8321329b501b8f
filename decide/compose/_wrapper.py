"""What a breaker and a budget share: they stand in front of one engine and are otherwise invisible."""

from __future__ import annotations

from typing import TypeVar

import anyio.lowlevel

from decide._askings import Deciding, Scoring
from decide._legs import Asking, bounded, unsupported
from decide.answers import ScoreResult
from decide.attempt_log import AttemptLog
from decide.decisions import Decision
from decide.errors import EngineTimeoutError, InvalidAnswerError
from decide.policies import SelectionPolicy
from decide.providers import AnyProvider, adapt
from decide.questions import ScoreRequest
from decide.requests import Request

T = TypeVar("T")


class Wrapper:
    """
    One engine with a gate in front of it, under the engine's own name.
    """

    def __init__(self, engine: AnyProvider) -> None:
        self._engine = adapt(engine)
        self._layers = 1 + self._engine.layers
        self._exclusives = self._engine.exclusives
        self._retries = self._engine.retries

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def name(self) -> str:
        """
        The engine's.
        """
        return self._engine.name

    @property
    def decision_timeout(self) -> float | None:
        """
        The engine's.
        """
        return self._engine.timeout

    @property
    def policy(self) -> SelectionPolicy | None:
        """
        The engine's.
        """
        return self._engine.policy

    @property
    def deterministic(self) -> bool:
        """
        The engine's.
        """
        return self._engine.deterministic

    async def decide(self, request: Request) -> Decision | None:
        """
        Have the engine decide, if the gate is open.
        """
        return await self.decide_traced(request, AttemptLog())

    async def decide_traced(self, request: Request, log: AttemptLog) -> Decision | None:
        """
        As `decide`, writing into *log* what the engine writes.
        """
        return await self._pass(Deciding(request), log)

    async def score(self, request: ScoreRequest) -> ScoreResult:
        """
        Have the engine answer questions, if the gate is open.
        """
        return await self.score_traced(request, AttemptLog())

    async def score_traced(self, request: ScoreRequest, log: AttemptLog) -> ScoreResult:
        """
        As `score`, writing into *log* what the engine writes.
        """
        result = await self._pass(Scoring(request), log)
        if result is None:
            raise InvalidAnswerError("the engine returned no result", detail="no result")
        return result

    async def _pass(self, asking: Asking[T], log: AttemptLog) -> T | None:
        if asking.call(self._engine) is None:
            raise unsupported(self._engine)
        await anyio.lowlevel.checkpoint_if_cancelled()
        return await self._guard(asking, log)

    async def _guard(self, asking: Asking[T], log: AttemptLog) -> T | None:
        raise NotImplementedError

    async def _ask(self, asking: Asking[T], log: AttemptLog) -> T | None:
        """
        Ask the engine until the log's deadline. One that writes nothing itself is named here, unless it was cut off.
        """
        try:
            answer = await bounded(asking, self._engine, log)
        except EngineTimeoutError:
            raise
        except Exception:
            self._name_engine(log)
            raise
        self._name_engine(log)
        return answer

    def _name_engine(self, log: AttemptLog) -> None:
        if not self._engine.traced:
            log.engine = self._engine.name

"""Engines that block, kept in threads of their own so that they hold up nobody else."""

from __future__ import annotations

import math
from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol, TypeVar

import anyio
import anyio.to_thread
import attrs

from decide._checks import whole
from decide.answers import ScoreResult
from decide.decisions import Decision
from decide.errors import BusyError
from decide.questions import ScoreRequest
from decide.requests import Request

R = TypeVar("R")


class BlockingProvider(Protocol):
    """
    An engine with a plain, blocking `decide`.
    """

    @property
    def name(self) -> str:
        """
        What traces call the engine.
        """
        ...

    def decide(self, request: Request, /) -> Decision | None:
        """
        Return a decision, or None to abstain. Raise to fail.
        """
        ...


class BlockingScorer(Protocol):
    """
    An engine with a plain, blocking `score`.
    """

    @property
    def name(self) -> str:
        """
        What traces call the engine.
        """
        ...

    def score(self, request: ScoreRequest, /) -> ScoreResult:
        """
        Return an answer to every question. Raise to fail.
        """
        ...


@attrs.frozen(kw_only=True)
class ThreadStats:
    """
    Where the threads of an engine stand.

    Attributes:
        running: Threads at work, abandoned ones included.
        abandoned: Threads at work whose call is over; what they return or raise is dropped.
        max: The most threads at once.
    """

    running: int
    abandoned: int
    max: int


class Threaded:
    """
    A blocking engine as an async one; made by `in_thread`.
    """

    def __init__(self, engine: BlockingProvider | BlockingScorer, *, max_threads: int) -> None:
        self._engine: Any = engine
        self._max = whole("max_threads", max_threads, least=1)
        self._running = 0
        self._abandoned = 0
        self._lock = Lock()
        self.name: str = engine.name
        self.decision_timeout: float | None = getattr(engine, "decision_timeout", None)
        self.deterministic: bool = getattr(engine, "deterministic", False)
        # Whoever puts this engine to use looks for what it can do, and finds the same as in the engine itself.
        vars(self).update({name: None for name in ("decide", "score") if not callable(getattr(engine, name, None))})
        self._exclusives = frozenset({id(engine)}) if getattr(engine, "exclusive", False) else frozenset[int]()

    def __repr__(self) -> str:
        return f"<in_thread {self.name}>"

    async def decide(self, request: Request, /) -> Decision | None:
        """
        Have the engine decide, in a thread. None, and no method, where the engine only answers questions.

        Raises:
            BusyError: If all threads are at work.
        """
        decision: Decision | None = await self._run(self._engine.decide, request)
        return decision

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        """
        Have the engine answer questions, in a thread. None, and no method, where the engine only decides.

        Raises:
            BusyError: If all threads are at work.
        """
        result: ScoreResult = await self._run(self._engine.score, request)
        return result

    def stats(self) -> ThreadStats:
        """
        Return where the threads stand now.
        """
        with self._lock:
            return ThreadStats(running=self._running, abandoned=self._abandoned, max=self._max)

    async def _run(self, work: Callable[[Any], Any], request: Request | ScoreRequest) -> Any:
        job = _Job()
        self._take()
        # The limiter is as good as none: our permits outlive an abandoned call, which a limiter's do not.
        try:
            return await anyio.to_thread.run_sync(
                self._work, job, work, request, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(math.inf)
            )
        finally:
            self._leave(job)

    def _work(self, job: _Job, work: Callable[[Any], R], request: Request | ScoreRequest) -> R | None:
        with self._lock:
            if job.over:
                return None
            job.begun = True
        try:
            return work(request)
        finally:
            self._end(job)

    def _take(self) -> None:
        with self._lock:
            if self._running >= self._max:
                at_work = "1 thread at work" if self._max == 1 else f"{self._max} threads at work"
                raise BusyError(f"engine {self.name!r}: no thread is free, {at_work}", detail=at_work)
            self._running += 1

    def _end(self, job: _Job) -> None:
        with self._lock:
            self._running -= 1
            self._abandoned -= job.abandoned
            job.over = True

    def _leave(self, job: _Job) -> None:
        """
        Abandon the thread, if it is still at work.
        """
        with self._lock:
            if job.over:
                return
            if job.begun:
                job.abandoned = True
                self._abandoned += 1
            else:
                # No thread has taken it up, and none will: the permit comes back here.
                job.over = True
                self._running -= 1


@attrs.define
class _Job:
    begun: bool = False
    over: bool = False
    abandoned: bool = False


def in_thread(engine: BlockingProvider | BlockingScorer, *, max_threads: int = 8) -> Threaded:
    """
    Make an engine with plain, blocking methods usable as any other.

    Each call runs in a thread. A call that is cut off leaves its thread behind, because a thread cannot be stopped: its
    permit comes back when it ends, and when
    none is left a call ends `busy` at once. `stats()` counts the abandoned ones.

    Args:
        engine: It has a `name` and a blocking `decide` or `score`.
        max_threads: The most threads of this engine at once.

    Raises:
        ValueError: If *max_threads* is below 1.
    """
    return Threaded(engine, max_threads=max_threads)

"""An engine that answers only so many at once, and a queue in front of it."""

from __future__ import annotations

from typing import TypeVar

from decide._checks import seconds, whole
from decide._legs import Asking
from decide._turn_queue import TurnQueue
from decide.attempt_log import AttemptLog
from decide.compose._wrapper import Wrapper
from decide.deadlines import charged
from decide.errors import BusyError
from decide.providers import AnyProvider

T = TypeVar("T")


class Turns(Wrapper):
    """
    Let only *at_once* callers at an engine; the others wait for their turn, in order.

    Waiting is ours, not the engine's: a caller whose turn does not come in time ends `busy`, which trips no breaker and
    starts a backup, and the wait is recorded
    apart from the latency. One set of turns may be shared between tasks, event loops and threads of a process.

    Args:
        engine: The engine. The turns have its name, timeout and traces.
        at_once: Callers at once.
        wait: Seconds to wait for a turn at most; 0 takes a free turn or none.

    Raises:
        ValueError: If a setting is out of range.
    """

    def __init__(self, engine: AnyProvider, *, at_once: int = 1, wait: float = 1.0) -> None:
        super().__init__(engine)
        self._queue = TurnQueue(whole("at_once", at_once, least=1))
        self._longest = seconds("wait", wait)

    async def _guard(self, asking: Asking[T], log: AttemptLog) -> T | None:
        await self._take_turn(log)
        try:
            return await self._ask(asking, log)
        finally:
            self._queue.pass_on()

    async def _take_turn(self, log: AttemptLog) -> None:
        if self._queue.take_free():
            return
        started = log.now()
        try:
            with charged(exempt=self.deterministic) as until:
                came = await self._queue.take(min(self._longest, min(log.deadline, until) - started))
        finally:
            log.waited += log.now() - started
        if not came:
            raise BusyError(f"engine {self.name!r}: no turn came free in time", detail="no turn")

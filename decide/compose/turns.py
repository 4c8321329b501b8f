"""An engine that answers only so many at once, and a queue in front of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import attrs

from decide._checks import seconds, whole
from decide._legs import Asking
from decide.attempt_log import AttemptLog
from decide.compose._wrapper import Wrapper
from decide.deadlines import charged
from decide.errors import BusyError
from decide.providers import AnyProvider

T = TypeVar("T")


def _native_loop() -> object:
    return anyio.lowlevel.current_token().native_token


def _soon(loop: Any) -> Callable[[Callable[[], None]], object]:
    """
    Return how to run something in *loop* from another thread: asyncio's way, or trio's.
    """
    soon: Callable[[Callable[[], None]], object] = getattr(loop, "call_soon_threadsafe", None) or loop.run_sync_soon
    return soon


@attrs.define(eq=False)
class _Waiter:
    """
    One caller in the queue, woken through its own loop, which may not be that of the caller who leaves.
    """

    event: anyio.Event = attrs.field(factory=anyio.Event)
    loop: object = attrs.field(factory=_native_loop)
    has_turn: bool = False

    def wake(self) -> None:
        """
        Let the caller go on.
        """
        if self.loop is _native_loop():
            self.event.set()
        else:
            _soon(self.loop)(self.event.set)


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
        self._free = whole("at_once", at_once, least=1)
        self._longest = seconds("wait", wait)
        self._queue: deque[_Waiter] = deque()
        self._lock = Lock()

    async def _guard(self, asking: Asking[T], log: AttemptLog) -> T | None:
        await self._take_turn(log)
        try:
            return await self._ask(asking, log)
        finally:
            self._pass_on()

    async def _take_turn(self, log: AttemptLog) -> None:
        waiter = self._queue_up()
        if waiter is None:
            return
        started = log.now()
        try:
            with charged(exempt=self.deterministic) as until:
                longest = min(self._longest, min(log.deadline, until) - started)
                with anyio.move_on_after(longest):
                    await waiter.event.wait()
        except BaseException:
            if self._leave_queue(waiter):
                self._pass_on()
            raise
        finally:
            log.waited += log.now() - started
        if not self._leave_queue(waiter):
            raise BusyError(f"engine {self.name!r}: no turn came free in time", detail="no turn")

    def _queue_up(self) -> _Waiter | None:
        with self._lock:
            if self._free > 0 and not self._queue:
                self._free -= 1
                return None
            waiter = _Waiter()
            self._queue.append(waiter)
            return waiter

    def _leave_queue(self, waiter: _Waiter) -> bool:
        """
        Say whether the turn has come; if not, nobody will give it any more.
        """
        with self._lock:
            if not waiter.has_turn:
                self._queue.remove(waiter)
            return waiter.has_turn

    def _pass_on(self) -> None:
        with self._lock:
            if not self._queue:
                self._free += 1
                return
            waiter = self._queue.popleft()
            waiter.has_turn = True
        waiter.wake()

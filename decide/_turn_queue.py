"""A queue for places that there are only so many of, shared by tasks, event loops and threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Any

import anyio
import anyio.lowlevel
import attrs


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


class TurnQueue:
    """
    So many turns, taken in the order in which they were asked for.

    Args:
        at_once: Turns that may be taken at once.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._queue: deque[_Waiter] = deque()
        self._lock = Lock()

    def take_free(self) -> bool:
        """
        Take a turn that nobody waits for, if there is one.
        """
        with self._lock:
            if self._free > 0 and not self._queue:
                self._free -= 1
                return True
            return False

    async def take(self, within: float) -> bool:
        """
        Wait for a turn, *within* seconds at most, and say whether it came. Cancelled, it has none.
        """
        waiter = self._queue_up()
        if waiter is None:
            return True
        try:
            with anyio.move_on_after(within):
                await waiter.event.wait()
        except BaseException:
            if self._leave(waiter):
                self.pass_on()
            raise
        return self._leave(waiter)

    def pass_on(self) -> None:
        """
        Give a turn back. Never waits.
        """
        with self._lock:
            if not self._queue:
                self._free += 1
                return
            waiter = self._queue.popleft()
            waiter.has_turn = True
        waiter.wake()

    def _queue_up(self) -> _Waiter | None:
        with self._lock:
            if self._free > 0 and not self._queue:
                self._free -= 1
                return None
            waiter = _Waiter()
            self._queue.append(waiter)
            return waiter

    def _leave(self, waiter: _Waiter) -> bool:
        """
        Say whether the turn has come; if not, nobody will give it any more.
        """
        with self._lock:
            if not waiter.has_turn:
                self._queue.remove(waiter)
            return waiter.has_turn

"""What has to be closed when an event loop ends, whoever runs it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from threading import Lock
from typing import Protocol
from weakref import WeakSet

import anyio.lowlevel


class Closing(Protocol):
    """
    Something that keeps things for several event loops.
    """

    def close_loop(self, loop: object) -> None:
        """
        Close what is kept for *loop*, without waiting.
        """
        ...


class _LoopEnd:
    """
    What is to be closed with one loop.

    Neither asyncio nor trio calls anybody when a loop ends, but both close the async generators that were begun on it
    and not finished: `asyncio.run`, `asyncio.Runner`, `anyio.run` and `trio.run` do, and so does every loop whose owner
    calls `shutdown_asyncgens`. One generator a loop, held here, is therefore told when its loop ends.
    """

    def __init__(self) -> None:
        self.closing: WeakSet[Closing] = WeakSet()
        self._generator: AsyncGenerator[None] | None = None

    async def begin(self, loop: object) -> None:
        self._generator = self._run(loop)
        await anext(self._generator)

    async def _run(self, loop: object) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            with _lock:
                _ends.pop(loop, None)
                _ended.add(loop)
            for one in self.closing:
                one.close_loop(loop)


_lock = Lock()
_ends: dict[object, _LoopEnd] = {}
_ended: WeakSet[object] = WeakSet()


def current_loop() -> object:
    """
    Return what stands for the event loop that runs.
    """
    return anyio.lowlevel.current_token().native_token


async def close_at_end_of(loop: object, one: Closing) -> bool:
    """
    Have *one* closed when *loop*, the one that runs, ends; False when it is already ending.
    """
    with _lock:
        if loop in _ended:
            return False
        end = _ends.get(loop)
        if end is None:
            _forget_closed()
            end = _ends[loop] = new = _LoopEnd()
        else:
            new = None
        end.closing.add(one)
    if new is not None:
        await new.begin(loop)
    return True


def _forget_closed() -> None:
    """
    Let go of loops that were closed without their generators, by somebody who ran them by hand.
    """
    for loop in list(_ends):
        closed = getattr(loop, "is_closed", None)
        if closed is not None and closed():
            end = _ends.pop(loop)
            for one in end.closing:
                one.close_loop(loop)

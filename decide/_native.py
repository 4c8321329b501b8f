"""
Everything this library takes from asyncio itself; on other backends it stands for nothing.

The one module that may import it. asyncio alone lets anybody raise a CancelledError, counts who asked for one, and runs
a timer without a task.
"""

from __future__ import annotations

import math
from asyncio import CancelledError, Task, TimerHandle, wait
from asyncio import current_task as _current_task
from collections.abc import Callable

import anyio
import anyio.lowlevel

__all__ = [
    "CancelledError",
    "Task",
    "TimerHandle",
    "cancel_requests",
    "clock",
    "current_task",
    "heed",
    "nobody_asked",
    "wait",
]


def current_task() -> Task[object] | None:
    """
    Return the asyncio task that runs; None on other backends.
    """
    try:
        return _current_task()
    except RuntimeError:
        return None


def clock() -> Callable[[], float]:
    """
    Return the clock of the loop that runs, to be read many times at the price of one look-up.
    """
    task = current_task()
    return anyio.current_time if task is None else task.get_loop().time


def cancel_requests() -> int:
    """
    Return how often the current task was asked to cancel by asyncio's own means; always 0 on other backends.

    A request that has not reached the task yet is not counted: it will arrive as a cancellation that was asked for.
    """
    task = current_task()
    return 0 if task is None else task.cancelling() - bool(getattr(task, "_must_cancel", False))


def nobody_asked(scope: anyio.CancelScope, requests_before: int) -> bool:
    """
    Say whether a cancellation that just left an engine is the engine's own invention.

    Args:
        scope: Our scope around the engine.
        requests_before: `cancel_requests()` from before the engine was called.
    """
    return (
        not scope.cancel_called
        and anyio.current_effective_deadline() != -math.inf
        and cancel_requests() == requests_before
    )


async def heed(requests_before: int) -> None:
    """
    Raise the cancellation that somebody asked for and an engine kept to itself.

    Args:
        requests_before: `cancel_requests()` from before the engine was called.
    """
    await anyio.lowlevel.checkpoint_if_cancelled()
    if cancel_requests() > requests_before:
        raise CancelledError

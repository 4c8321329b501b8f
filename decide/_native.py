"""
Everything this library takes from asyncio itself; on other backends it stands for nothing.

The one module that may import it, and only where it runs already: with trio, nobody pays for it. asyncio alone lets
anybody raise a CancelledError, and counts who asked for one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel

if TYPE_CHECKING:
    from asyncio import Task


def current_task() -> Task[object] | None:
    """
    Return the asyncio task that runs; None on other backends.
    """
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return None
    try:
        task: Task[object] | None = asyncio.current_task()
    except RuntimeError:
        return None
    return task


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


async def heed(requests_before: int, given_up: Callable[[], bool]) -> None:
    """
    Raise the cancellation that somebody asked for and an engine kept to itself.

    Args:
        requests_before: `cancel_requests()` from before the engine was called.
        given_up: Whether the caller of a task beside it has given up.
    """
    await anyio.lowlevel.checkpoint_if_cancelled()
    if cancel_requests() > requests_before or given_up():
        raise anyio.get_cancelled_exc_class()


async def wait(tasks: Iterable[Task[None]]) -> None:
    """
    Wait for all of *tasks*, on asyncio, without looking at what they ended with.
    """
    from asyncio import wait as wait_for_all  # noqa: PLC0415 - see above

    await wait_for_all(tasks)

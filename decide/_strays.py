"""
Telling a cancellation that somebody asked for from one that an engine made up.

The one module that may import asyncio before a combinator does: asyncio alone lets anybody raise a CancelledError, and
only it counts who asked.
"""

from __future__ import annotations

import asyncio
import math

import anyio


def cancel_requests() -> int:
    """
    Return how often the current task was asked to cancel by asyncio's own means; always 0 on other backends.
    """
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return 0
    return 0 if task is None else task.cancelling()


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

"""Callers of every temper: patient, in a hurry, gone before they asked, or cancelled at any scheduling point."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import nullcontext

import anyio
import anyio.lowlevel
import attrs

from decide import time_budget
from decide.chain import Ended
from tests.soak.engines import FatalError, on_asyncio


@attrs.define
class Call:
    """
    One call and how it ended for its caller.

    Attributes:
        text: Its number, which is what the engines are asked.
        seconds: How long it took, on the loop's clock.
        ended: What it returned; None when it did not return.
        cancelled: It raised a cancellation that the caller had asked for.
        fatal: It raised what an engine raised that is no error.
        problems: What the caller found wrong about its own scope.
        budget: Seconds of a time budget around it.
    """

    text: str
    seconds: float = 0.0
    ended: Ended | None = None
    cancelled: bool = False
    fatal: bool = False
    problems: list[str] = attrs.field(factory=list)
    budget: float | None = None


async def place(dice: random.Random, text: str, ask: Callable[[], Awaitable[Ended]]) -> Call:
    """
    Make one call as a caller whom *dice* choose, and say how it ended.
    """
    call = Call(text, budget=dice.choice((*[None] * 16, 0.02, 0.3, 1.0, 5.0)))
    if dice.random() < 0.5:
        await anyio.sleep(dice.randrange(100) / 10)
    with anyio.CancelScope() as around:
        deadline, requests = anyio.current_effective_deadline(), _requests()
        began = anyio.current_time()
        await _as_some_caller(dice, call, ask)
        call.seconds = anyio.current_time() - began
        if around.cancel_called or anyio.current_effective_deadline() != deadline or _requests() != requests:
            call.problems.append("the caller's scope was touched")
        await anyio.lowlevel.checkpoint()
    if around.cancelled_caught:
        call.problems.append("a cancellation that nobody asked for")
    return call


async def _as_some_caller(dice: random.Random, call: Call, ask: Callable[[], Awaitable[Ended]]) -> None:
    async def asked() -> None:
        with nullcontext() if call.budget is None else time_budget(call.budget) as budget:
            try:
                call.ended = await ask()
            except FatalError:
                call.fatal = True
            finally:
                if budget is not None and (budget._waiting or budget.spent > anyio.current_time() + 1e-6):
                    call.problems.append(f"time budget: {budget._waiting} still charged, {budget.spent} s spent")

    tempers = ("patient", "hurried", "gone", "fickle", "killed" if on_asyncio() else "fickle")
    temper = dice.choices(tempers, (12, 3, 1, 3, 2))[0]
    seconds, steps = dice.choice((0.0, 0.0, dice.randrange(30) / 10)), dice.randrange(12)
    if temper == "patient":
        await asked()
    elif temper == "killed":
        await _kill(call, asked, seconds, steps)
    else:
        with anyio.CancelScope() as scope:
            if temper == "fickle":
                async with anyio.create_task_group() as group:
                    group.start_soon(_cancel_later, scope, seconds, steps)
                    await asked()
                    _note_if_ignored(call, scope)
                    group.cancel_scope.cancel()
            else:
                if temper == "gone":
                    scope.cancel()
                else:
                    scope.deadline = anyio.current_time() + seconds + 0.1
                await asked()
                # A deadline that is due has cancelled nobody before the loop looks at its clock.
                if temper == "gone" or on_asyncio():
                    _note_if_ignored(call, scope)
        call.cancelled = scope.cancelled_caught and call.ended is None and not call.fatal


async def _cancel_later(scope: anyio.CancelScope, seconds: float, steps: int) -> None:
    if seconds:
        await anyio.sleep(seconds)
    for _ in range(steps):
        await anyio.lowlevel.checkpoint()
    scope.cancel()


def _note_if_ignored(call: Call, scope: anyio.CancelScope) -> None:
    if scope.cancel_called and call.ended is not None:
        call.problems.append("an answer after the caller had given up")


async def _kill(call: Call, asked: Callable[[], Awaitable[None]], seconds: float, steps: int) -> None:
    """
    Cancel the call as asyncio's own users do.
    """
    task: asyncio.Future[None] = asyncio.ensure_future(asked())
    if seconds:
        await asyncio.wait([task], timeout=seconds)
    for _ in range(1 + steps):
        await asyncio.sleep(0)
    killed = task.cancel()
    await asyncio.wait([task])
    if task.cancelled():
        call.cancelled = not call.fatal
    else:
        error = task.exception()
        if error is not None:
            raise error
        if killed and call.ended is not None:
            call.problems.append("an answer after the caller's task was cancelled")


def _requests() -> int:
    task = asyncio.current_task() if on_asyncio() else None
    return 0 if task is None else task.cancelling()

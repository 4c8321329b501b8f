"""What the same things cost written by hand on anyio, the same on asyncio and on trio."""

from __future__ import annotations

from functools import partial

import anyio
import anyio.lowlevel
from _floors import DELAY, answer
from _measuring import Call, Event


class AnyioLoop:
    """
    Whatever loop anyio runs on.
    """

    def event(self) -> Event:
        return anyio.Event()

    async def turn(self) -> None:
        await anyio.lowlevel.checkpoint()

    async def crowd(self, call: Call, count: int) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(count):
                group.start_soon(call)


async def cancel_scope() -> object:
    with anyio.CancelScope():
        return await answer()


async def move_on_after() -> object:
    with anyio.move_on_after(DELAY):
        return await answer()
    return None


def hedged(engine: Call) -> Call:
    """
    Return a call that asks once more when *engine* is silent for a while.
    """
    return partial(_hedge, engine)


async def _hedge(engine: Call) -> object:
    won: list[object] = []
    async with anyio.create_task_group() as group:
        win = partial(_win, won, group.cancel_scope)
        group.start_soon(win, engine)
        group.start_soon(_late, win, engine)
    return won[0]


hedge = hedged(answer)


async def race() -> object:
    won: list[object] = []
    async with anyio.create_task_group() as group:
        for engine in (answer, answer):
            group.start_soon(_win, won, group.cancel_scope, engine)
    return won[0]


async def _win(won: list[object], scope: anyio.CancelScope, engine: Call) -> None:
    won.append(await engine())
    scope.cancel()


async def _late(win: Call, engine: Call) -> None:
    await anyio.sleep(DELAY)
    await win(engine)

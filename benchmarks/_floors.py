"""What the same things cost written by hand on asyncio, for those who need no trace, no verdict and no trio."""

from __future__ import annotations

import asyncio
from functools import partial

from _measuring import Call

DELAY = 60.0


async def answer() -> int:
    return 1


async def bare() -> int:
    return await answer()


def hedged(engine: Call) -> Call:
    """
    Return a call that asks once more when *engine* is silent for a while.
    """
    return partial(_hedge, engine)


async def _hedge(engine: Call) -> object:
    tasks = {asyncio.create_task(engine())}
    try:
        done, _ = await asyncio.wait(tasks, timeout=DELAY)
        if not done:
            tasks.add(asyncio.create_task(engine()))
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        await _end(tasks)


hedge = hedged(answer)
"""What this costs while the engine answers at once is the unit of the goals: H."""


async def race() -> object:
    tasks = {asyncio.create_task(answer()), asyncio.create_task(answer())}
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        await _end(tasks)


async def _end(tasks: set[asyncio.Task[object]]) -> None:
    losers = [task for task in tasks if not task.done()]
    for task in losers:
        task.cancel()
    if losers:
        await asyncio.wait(losers)

"""What is left of many calls whose losers were cancelled: nothing."""

import asyncio
import gc
import sys
import types
import warnings
from collections import Counter
from collections.abc import Callable

import anyio
import pytest

from decide import Chain, Hedged, Provider, Race
from decide.compose import Breaker, Budget, Retry, Turns
from tests.fakes import REQUEST, Engine, answers, cleans_up, hangs
from tests.soak.engines import on_asyncio
from tests.soak.soak import left_over

AT_ONCE = 50
BLOCKS = 500
"""Blocks of memory that an interpreter may keep for caches of its own, far fewer than one a call."""


class Forgetful(Engine):
    """An engine that remembers only the calls that still run."""

    async def _behave(self) -> object:
        self.calls = [call for call in self.calls if call.ended is None]
        return await super()._behave()


def gated_and_hedged() -> Provider:
    gated = Budget(Breaker(Turns(Forgetful("a", hangs()), at_once=AT_ONCE)), max_calls=10**6)
    return Hedged(gated, Forgetful("b", answers(after=0.1)), delay=0.1)


def slow_to_let_go() -> Provider:
    backup = Retry(Forgetful("b", answers(after=0.1)), retries=1)
    return Hedged(Forgetful("a", cleans_up(0.1)), backup, delay=0.1)


def nested_race() -> Provider:
    losers = Hedged(Forgetful("b", hangs()), Forgetful("c", hangs()), delay=0.05)
    return Race(Forgetful("a", answers(after=0.1)), losers)


@pytest.mark.parametrize(
    ("shape", "calls"), [(gated_and_hedged, 10_000), (slow_to_let_go, 2_000), (nested_race, 2_000)]
)
async def test_thousands_of_cancelled_losers_leave_nothing_behind(shape: Callable[[], Provider], calls: int) -> None:
    chain = Chain([shape()])
    complaints: list[object] = []
    if on_asyncio():
        asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(told))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await ask(chain, 10 * AT_ONCE)
        running, objects, blocks = left_over(), objects_alive(), sys.getallocatedblocks()
        await ask(chain, calls)

        assert left_over() == running
        assert objects_alive() == objects
        assert sys.getallocatedblocks() - blocks < BLOCKS
    assert complaints == []


async def ask(chain: Chain, calls: int) -> None:
    """Make so many calls, some at once."""

    async def one_after_the_other() -> None:
        for _ in range(calls // AT_ONCE):
            await chain.decide(REQUEST)

    async with anyio.create_task_group() as group:
        for _ in range(AT_ONCE):
            group.start_soon(one_after_the_other)


def objects_alive() -> Counter[str]:
    """Count what calls are made of: our objects, the loops', coroutines, frames and exceptions."""
    gc.collect()
    kinds = (types.CoroutineType, types.FrameType, types.TracebackType, BaseException)
    ours = ("decide.", "anyio.", "trio.", "asyncio.", "_asyncio")
    return Counter(
        type(one).__qualname__
        for one in gc.get_objects()
        if isinstance(one, kinds) or type(one).__module__.startswith(ours)
    )

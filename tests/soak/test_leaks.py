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

from decide import Chain, EngineError, Hedged, Provider, Race
from decide.compose import Breaker, Budget, Fallback, Retry, Single, Turns
from tests.fakes import REQUEST, Behaviour, Engine, answers, cleans_up, hangs
from tests.soak.engines import on_asyncio
from tests.soak.soak import left_over
from tests.test_rig import ON_ASYNCIO

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
        # Less is fine: a worker thread of an earlier test may end meanwhile.
        assert objects_alive() - objects == Counter()
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
        if isinstance(one, kinds) or str(type(one).__module__).startswith(ours)
    )


async def failing() -> object:
    raise EngineError("x", http_status=503)


CYCLE_FREE: dict[str, Callable[[Provider], Provider]] = {
    "alone": lambda engine: engine,
    "single": Single,
    "fallback": lambda engine: Fallback(engine, Forgetful("z")),
    "breaker": lambda engine: Breaker(engine, threshold=10**6),
    "budget": lambda engine: Budget(engine, max_calls=10**6),
    "turns": Turns,
}
ASYNCIO_ONLY: dict[str, Callable[[Provider], Provider]] = {
    "hedged": lambda engine: Hedged(engine, Forgetful("z", answers(after=0.2)), delay=0.1),
    "race": lambda engine: Race(engine, Forgetful("z", answers(after=0.2))),
}


MOST_LEFT_OF_A_CALL = 150

BEHAVIOURS = {"answers": answers(), "answers late": answers(after=0.5), "hangs": hangs(), "fails": failing}


@pytest.mark.parametrize("behaviour", BEHAVIOURS.values(), ids=BEHAVIOURS)
@pytest.mark.parametrize("shape", CYCLE_FREE.values(), ids=CYCLE_FREE)
async def test_a_call_leaves_no_cycles_to_collect(shape: Callable[[Provider], Provider], behaviour: Behaviour) -> None:
    await no_cycles(shape(Forgetful("a", behaviour)))


@ON_ASYNCIO
@pytest.mark.parametrize("behaviour", BEHAVIOURS.values(), ids=BEHAVIOURS)
@pytest.mark.parametrize("shape", ASYNCIO_ONLY.values(), ids=ASYNCIO_ONLY)
async def test_a_call_beside_another_leaves_none_either(
    shape: Callable[[Provider], Provider], behaviour: Behaviour
) -> None:
    await no_cycles(shape(Forgetful("a", behaviour)))


async def no_cycles(engine: Provider) -> None:
    """
    See that calls, some cut off by their caller, are gone without a garbage collection.

    From CPython 3.12 on, the frames in an error's traceback know who called them: a call that keeps the error of its
    engine, as every failed one does, is a cycle until the next collection. There, only what one call leaves is bounded.
    """
    chain = Chain([engine])
    await ask(chain, AT_ONCE)
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            await chain.decide(REQUEST)
            with anyio.move_on_after(0.05):
                await chain.decide(REQUEST)
        left = gc.collect()
    finally:
        gc.enable()
    assert left < (20 if sys.version_info < (3, 12) else 40 * MOST_LEFT_OF_A_CALL)

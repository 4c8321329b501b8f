"""What is left of a loser: nothing. No task, no reference, no warning, no exception that nobody reads, no busy loop."""

import asyncio
import gc
import logging
import time
import warnings
import weakref
from collections.abc import Callable

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from decide import Chain, Hedged, Provider, Race, Request
from tests.compose.asking import directly, each, of, outcomes, trace_of
from tests.fakes import REQUEST, TAXONOMY, Behaviour, Engine, answers, cleans_up, fails, hangs, shields, steps
from tests.test_rig import ON_ASYNCIO

BUILDS: dict[str, tuple[Callable[[Engine, Engine], Provider]]] = {
    "hedged": (lambda loser, winner: Hedged(loser, winner, delay=0.0),),
    "race, the loser first": (Race,),
    "race, the winner first": (lambda loser, winner: Race(winner, loser),),
}


@ON_ASYNCIO
@each("build", BUILDS)
@each(
    "behaviour",
    {
        "fails in its clean-up": (cleans_up(0.0, error=RuntimeError("boom")),),
        "fails in a long clean-up": (cleans_up(0.5, error=RuntimeError("boom")),),
        "fails at the same instant": (fails(RuntimeError("boom"), after=0.01),),
        "fails late, out of reach": (shields(fails(RuntimeError("boom"), after=0.5)),),
    },
)
async def test_a_loser_that_dies_badly_stays_quiet(
    build: Callable[[Engine, Engine], Provider], behaviour: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    noise: list[dict[str, object]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: noise.append(context))
    before = asyncio.all_tasks()

    trace = await trace_of(build(Engine("a", behaviour), Engine("b", answers(after=0.01))))
    gc.collect()
    for _ in range(3):
        await anyio.lowlevel.checkpoint()

    assert trace.engine == "b"
    assert of("a", trace.attempts).outcome in {"cancelled", "error"}
    assert not noise
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert asyncio.all_tasks() == before


@each("build", BUILDS)
async def test_no_error_of_a_loser_reaches_the_caller(build: Callable[[Engine, Engine], Provider]) -> None:
    loser = Engine("a", cleans_up(0.0, error=RuntimeError("boom")))

    trace = await trace_of(build(loser, Engine("b", answers(after=0.01))))

    assert outcomes(trace.attempts).count(("b", "decided")) == 1
    assert of("a", trace.attempts).outcome == "cancelled"


@pytest.mark.real_time
@each("build", BUILDS)
async def test_waiting_for_a_stubborn_loser_costs_no_cpu(build: Callable[[Engine, Engine], Provider]) -> None:
    loser = Engine("a", cleans_up(1.0))
    spent = time.process_time()

    await trace_of(build(loser, Engine("b", answers(after=0.01))))

    assert time.process_time() - spent < 0.3


async def _lose(times: int) -> list[weakref.ref[object]]:
    """Hedge so often and keep weak hands on what hung on each call."""
    loser, winner = Engine("a", steps(1, hangs())), Engine("b", steps(1))
    chain = Chain([Hedged(loser, winner, delay=0.0)])
    held: list[weakref.ref[object]] = []
    for _ in range(times):
        held += await _lose_once(chain)
    return held


async def _lose_once(chain: Chain) -> list[weakref.ref[object]]:
    request = Request(text="x", taxonomy=TAXONOMY)
    trace = (await chain.decide(request)).trace
    assert outcomes(trace.attempts) == [("a", "cancelled"), ("b", "decided")]
    return [weakref.ref(request), weakref.ref(trace)]


def _objects() -> int:
    gc.collect()
    return len(gc.get_objects())


async def test_ten_thousand_lost_hedges_leave_nothing_behind() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await _lose(1_000)
        before = _objects()
        held = await _lose(9_000)
        await anyio.sleep(0.01)  # asyncio itself remembers the last cancellation of a task until it waits again
        gc.collect()

        assert not [reference for reference in held if reference() is not None]
        held.clear()
        assert _objects() - before < 1_000


async def test_a_call_is_not_held_by_the_error_it_ended_in() -> None:
    request = Request(text="x", taxonomy=TAXONOMY)
    held = weakref.ref(request)
    engine = Race(Engine("a", fails(ValueError)), Engine("b", fails(ValueError)))

    await Chain([engine]).decide(request)
    del request
    gc.collect()

    assert held() is None


async def test_each_call_of_a_combinator_is_a_call_of_its_own() -> None:
    race = Race(Engine("a", answers(after=0.2)), Engine("b", answers(after=0.1)))
    chain = Chain([race])
    seen: list[tuple[str, int]] = []

    async def one_call() -> None:
        trace = (await chain.decide(REQUEST)).trace
        seen.append((trace.engine, len(trace.attempts)))

    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(one_call)

    assert seen == [("b", 2)] * 50


async def test_a_combinator_may_be_used_in_one_loop_after_another() -> None:
    race = Race(Engine("a"), Engine("b", hangs()))

    assert await directly(race) is not None

    def elsewhere() -> bool:
        return anyio.run(directly, race) is not None

    assert await anyio.to_thread.run_sync(elsewhere)

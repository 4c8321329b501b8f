"""When an attempt started, how long it took and how long it waited: its own times, never those of what is around it."""

import anyio
import pytest

from decide.compose import Fallback, Hedged, Race, Single, Turns
from tests.compose.asking import directly, of, trace_of
from tests.compose.shapes import Shape, in_every_shape
from tests.fakes import Engine, TracedEngine, answers, fails, hangs

of_both_kinds = pytest.mark.parametrize("engine", [Engine, TracedEngine])


@of_both_kinds
@in_every_shape
@pytest.mark.parametrize("seconds", [0.0, 0.2])
async def test_an_engine_took_its_own_time_whenever_it_was_asked(
    shape: Shape, engine: type[Engine], seconds: float
) -> None:
    backup = engine("b", answers(after=seconds))

    trace = await trace_of(shape(Single(Fallback(Engine("a", fails(ValueError("x"), after=0.3)), backup))))

    last = of("b", trace.attempts)
    assert (last.started, last.latency) == pytest.approx((0.3, seconds))


@of_both_kinds
async def test_a_hedge_started_when_it_fired(engine: type[Engine]) -> None:
    hedged = Hedged(Engine("a", hangs()), Single(engine("b", answers(after=0.2))), delay=0.5)

    trace = await trace_of(Race(hedged))

    primary, backup = trace.attempts
    assert (primary.started, primary.latency) == pytest.approx((0.0, 0.7))
    assert (backup.started, backup.latency) == pytest.approx((0.5, 0.2))


@of_both_kinds
async def test_waiting_comes_first_and_then_the_engine(engine: type[Engine]) -> None:
    turns = Turns(engine("a", answers(after=0.4)), wait=60)

    async with anyio.create_task_group() as group:
        group.start_soon(directly, turns)
        await anyio.sleep(0.1)
        trace = await trace_of(Fallback(Engine("b", fails(ValueError("x"), after=0.1)), Single(turns)))

    second = of("a", trace.attempts)
    assert (second.started, second.waited, second.latency) == pytest.approx((0.1, 0.2, 0.4))


async def test_waiting_for_a_combinator_is_no_wait_of_its_engines() -> None:
    turns = Turns(Fallback(Engine("a", answers(after=0.4))), wait=60)

    async with anyio.create_task_group() as group:
        group.start_soon(directly, turns)
        await anyio.sleep(0.1)
        trace = await trace_of(Single(turns))

    first = of("a", trace.attempts)
    assert (first.started, first.waited, first.latency) == pytest.approx((0.3, 0.0, 0.4))

"""Cancellations that nobody asked for, at the worst of moments."""

import asyncio

import anyio
import pytest

from decide.compose import Breaker, Hedged
from tests.compose.asking import Ask, for_both_operations, of, outcomes, trace_of
from tests.compose.shapes import Shape, in_every_shape
from tests.fakes import Behaviour, Engine, TracedEngine, cleans_up, fails, hangs, shields, swallows
from tests.test_rig import ON_ASYNCIO

pytestmark = ON_ASYNCIO


def stray(*, after: float = 0.0) -> Behaviour:
    return fails(asyncio.CancelledError(), after=after)


@in_every_shape
@for_both_operations
@pytest.mark.parametrize(
    "behaviour",
    [
        stray(after=1.0),
        shields(stray(after=2.0)),
        swallows(stray()),
        swallows(stray(after=0.5)),
        cleans_up(0.5, error=asyncio.CancelledError()),
    ],
    ids=["at the timeout", "late", "in place of the timeout's", "after the timeout's", "in the clean-up"],
)
async def test_one_that_comes_once_the_time_is_up_is_the_timeout(
    shape: Shape, asked: Ask, behaviour: Behaviour
) -> None:
    with anyio.CancelScope() as scope:
        trace = await trace_of(shape(Engine("a", behaviour, timeout=1.0)), asked=asked)

    assert outcomes(trace.attempts)[0] == ("a", "timeout")
    assert not scope.cancelled_caught
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


@in_every_shape
async def test_one_that_comes_as_the_caller_gives_up_is_the_callers(shape: Shape) -> None:
    with anyio.move_on_after(0.5) as scope:
        await trace_of(shape(Engine("a", shields(stray(after=0.7)), timeout=1.0)))

    assert scope.cancel_called


async def test_an_overtaken_engine_that_cancels_itself_while_it_lets_go_loses_quietly() -> None:
    breaker = Breaker(Engine("a", cleans_up(0.5, after=hangs(), error=asyncio.CancelledError())), slow_threshold=1)

    trace = await trace_of(Hedged(breaker, Engine("b"), delay=0.1))

    assert outcomes(trace.attempts) == [("a", "cancelled"), ("b", "decided")]
    assert of("a", trace.attempts).latency == pytest.approx(0.6)
    assert breaker.state == "open"


@in_every_shape
async def test_an_engine_that_cancels_itself_cannot_write_that_somebody_else_did(shape: Shape) -> None:
    trace = await trace_of(shape(TracedEngine("a", stray(after=0.1))))

    assert outcomes(trace.attempts)[0] == ("a", "error")
    assert of("a", trace.attempts).detail == "cancelled itself"

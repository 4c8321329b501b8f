"""A breaker and time: engines that hang, hold on or block, and those that a hedge overtakes."""

from collections.abc import Callable

import anyio
import pytest

from decide import (
    Breaker,
    DecideError,
    Fallback,
    Hedged,
    Provider,
    Race,
    Single,
)
from decide.attempt_log import AttemptLog
from tests.compose.asking import directly, each, outcomes, trace_of
from tests.compose.tripping import BROKEN, ask, tripped
from tests.fakes import (
    Behaviour,
    Clock,
    Engine,
    Says,
    answers,
    block,
    cleans_up,
    fails,
    hangs,
    shields,
    swallows,
)


@pytest.mark.parametrize(
    "around", [lambda engine: engine, Single, Race, Fallback], ids=["-", "single", "race", "fallback"]
)
@each(
    "behaviour",
    {
        "hangs": (hangs(),),
        "shields itself": (shields(answers(after=9.0)),),
        "swallows the timeout": (swallows(),),
        "answers at the instant of its timeout": (answers(after=1.0),),
    },
)
async def test_an_engine_that_takes_too_long_opens_its_breaker(
    around: Callable[[Provider], Provider], behaviour: Behaviour
) -> None:
    breaker = Breaker(Engine("a", behaviour, timeout=1.0), threshold=2)

    await trace_of(around(breaker))
    await trace_of(around(breaker))

    assert breaker.stats().state == "open"


async def test_an_engine_that_holds_on_past_its_timeout_is_to_blame_though_the_caller_gave_up_meanwhile() -> None:
    breaker = Breaker(Engine("a", shields(answers(after=9.0)), timeout=1.0), threshold=1)

    with anyio.move_on_after(2.0):
        await trace_of(breaker)

    assert breaker.stats().state == "open"


async def test_an_engine_that_blocks_the_thread_past_its_timeout_opens_its_breaker() -> None:
    async def blocking() -> object:
        block(1.5)
        return Says.YES

    breaker = Breaker(Engine("a", blocking, timeout=1.0), threshold=1)

    await trace_of(breaker)

    assert breaker.stats().state == "open"


@pytest.mark.parametrize("spare", [fails(BROKEN), hangs()], ids=["fails", "hangs"])
async def test_a_hedge_that_does_not_win_hides_no_timeout(spare: Behaviour) -> None:
    breaker = Breaker(Engine("a", hangs(), timeout=1.0), threshold=1)

    await trace_of(Hedged(breaker, Engine("b", spare, timeout=2.0), delay=0.1))

    assert breaker.stats().state == "open"
    assert breaker.stats().slow == 0


@pytest.mark.parametrize(
    "between", [lambda engine: engine, Single, Fallback, Race], ids=["-", "single", "fallback", "race"]
)
@each(
    "behaviour",
    {
        "hangs": (hangs(),),
        "shields itself and answers": (shields(answers(after=2.0)),),
        "swallows it and answers": (swallows(),),
        "turns it into an error": (swallows(fails(ValueError("x"))),),
        "fails in its clean-up": (cleans_up(0.1, error=RuntimeError("x")),),
    },
)
async def test_an_engine_that_hedges_overtake_is_slow(
    between: Callable[[Provider], Provider], behaviour: Behaviour
) -> None:
    breaker = Breaker(Engine("a", behaviour, timeout=9.0), slow_threshold=3)
    hedged = Hedged(between(breaker), Engine("b", answers(after=0.1)), delay=0.1)

    await trace_of(hedged)
    await trace_of(hedged)
    assert (breaker.stats().slow, breaker.stats().failures) == (2, 0)
    await trace_of(hedged)

    assert breaker.stats().state == "open"


async def test_an_overtaken_engine_is_not_blamed_for_failing() -> None:
    breaker = Breaker(Engine("a", hangs(), timeout=9.0), threshold=1)

    for _ in range(10):
        await trace_of(Hedged(breaker, Engine("b", answers(after=0.1)), delay=0.1))

    assert breaker.stats().state == "closed"
    assert breaker.stats().failures == 0


async def test_an_engine_that_lost_a_race_is_neither_slow_nor_failed() -> None:
    breaker = Breaker(Engine("a", hangs(), timeout=9.0), threshold=1, slow_threshold=1)

    await trace_of(Race(breaker, Engine("b", answers(after=0.1))))

    assert (breaker.stats().state, breaker.stats().slow, breaker.stats().failures) == ("closed", 0, 0)


async def test_a_backup_that_is_cancelled_because_the_primary_won_is_not_slow() -> None:
    breaker = Breaker(Engine("b", hangs(), timeout=9.0), threshold=1, slow_threshold=1)

    await trace_of(Hedged(Engine("a", answers(after=0.5)), breaker, delay=0.1))

    assert (breaker.stats().state, breaker.stats().slow, breaker.stats().failures) == ("closed", 0, 0)


async def test_an_overtaken_probe_does_not_keep_everyone_waiting() -> None:
    clock = Clock()
    breaker, _ = await tripped(hangs(), answers(), clock=clock)
    clock.now = 10.0

    await trace_of(Hedged(breaker, Engine("b", answers(after=0.1)), delay=0.1))
    assert breaker.stats().state == "half-open"
    clock.now = 11.0
    await ask(breaker)

    assert breaker.stats().state == "closed"


async def test_no_engine_is_called_for_which_a_probe_left_no_time() -> None:
    clock = Clock()
    never = Engine("b")
    fallback = Fallback(Engine("a", fails(BROKEN), hangs(), timeout=20.0), never, fail_over=["timeout"])
    breaker = Breaker(fallback, threshold=1, cooldown=1.0, probe_timeout=5.0, clock=clock)
    await ask(breaker)
    clock.now, log = 1.0, AttemptLog()

    with pytest.raises(DecideError):
        await directly(breaker, log)

    assert not never.calls
    assert outcomes(log.report().attempts) == [("a", "timeout")]
    assert breaker.stats().state == "open"

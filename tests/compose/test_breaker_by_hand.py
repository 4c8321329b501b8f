"""A breaker that is opened and closed by hand."""

import math

import pytest

from decide import Decision, EngineError, QuotaError
from decide.compose import Breaker, BreakerStats, FailureRate
from tests.compose.breakers import BAD, GOOD, ask, ask_often, limited
from tests.fakes import Clock, Engine, Says, fails


async def test_it_can_be_opened_by_hand_for_a_while() -> None:
    clock = Clock()
    breaker = Breaker(Engine("a"), cooldown=1.0, clock=clock)

    breaker.force_open(60.0)

    assert await ask(breaker) == "refused"
    clock.now = 59.9
    assert await ask(breaker) == "refused"
    clock.now = 60.0
    assert await ask(breaker) == "ok"
    assert breaker.state == "closed"


async def test_opened_by_hand_without_an_end_it_stays_open_until_reset() -> None:
    clock = Clock()
    breaker = Breaker(Engine("a"), clock=clock)

    breaker.force_open()
    clock.now = 10.0**9

    assert await ask(breaker) == "refused"
    breaker.reset()
    assert await ask(breaker) == "ok"


async def test_opening_by_hand_shortens_no_open_time() -> None:
    clock = Clock()
    breaker = Breaker(Engine("a", limited(300.0), GOOD), threshold=1, clock=clock)
    await ask(breaker)

    breaker.force_open(1.0)

    clock.now = 299.0
    assert await ask(breaker) == "refused"
    clock.now = 300.0
    assert await ask(breaker) == "ok"


async def test_a_reset_forgets_an_open_time_without_end() -> None:
    clock = Clock()
    breaker = Breaker(Engine("a"), clock=clock)

    breaker.force_open()
    breaker.reset()
    breaker.force_open(5.0)

    clock.now = 5.0
    assert await ask(breaker) == "ok"


async def test_a_reset_forgets_failures_slow_calls_and_shares() -> None:
    rate = FailureRate(least_calls=4)
    breaker = Breaker(Engine("a", BAD), threshold=4, failure_rate=rate, clock=Clock())
    await ask_often(breaker, 3)

    breaker.reset()

    assert breaker.stats() == BreakerStats(state="closed", failures=0, slow=0)
    assert await ask_often(breaker, 3) == ["failed"] * 3


@pytest.mark.parametrize("by_hand", ["open", "reset"])
async def test_calls_under_way_when_it_was_set_by_hand_change_nothing(by_hand: str) -> None:
    clock = Clock()
    breaker = Breaker(Engine("a", BAD), threshold=1, clock=clock)

    async def fail_after_a_hand_was_laid_on() -> Decision:
        if by_hand == "open":
            breaker.force_open(60.0)
        else:
            breaker.reset()
        raise EngineError("x")

    breaker = Breaker(Engine("a", fail_after_a_hand_was_laid_on, GOOD), threshold=1, cooldown=1.0, clock=clock)

    assert await ask(breaker) == "failed"
    assert breaker.stats().failures == 0
    clock.now = 60.0
    assert await ask(breaker) == "ok"


async def test_a_probe_under_way_when_it_was_reset_makes_room_for_nobody_twice() -> None:
    clock = Clock()
    asked: list[str] = []

    async def reset_while_probing() -> object:
        breaker.reset()
        asked.extend(await ask_often(breaker, 2))
        return Says.YES

    engine = Engine("a", BAD, reset_while_probing, GOOD)
    breaker = Breaker(engine, threshold=1, cooldown=1.0, clock=clock)
    await ask(breaker)
    clock.now = 1.0

    assert await ask(breaker) == "ok"
    assert asked == ["ok", "ok"]
    assert breaker.state == "closed"


async def test_changes_by_hand_are_told_like_any_other() -> None:
    changes: list[tuple[str, str, str]] = []
    breaker = Breaker(Engine("a"), on_change=lambda *change: changes.append(change))

    breaker.force_open()
    breaker.force_open()
    breaker.reset()

    assert changes == [("a", "closed", "open"), ("a", "open", "closed")]


@pytest.mark.parametrize("duration", [-1.0, math.nan, math.inf])
def test_a_time_by_hand_that_makes_no_sense_is_refused(duration: float) -> None:
    breaker = Breaker(Engine("a"))

    with pytest.raises(ValueError, match="duration"):
        breaker.force_open(duration)

    assert breaker.state == "closed"


async def test_a_listener_that_raises_when_the_probe_is_admitted_does_not_lose_the_probe() -> None:
    def listen(*change: str) -> None:
        raise RuntimeError(change)

    clock = Clock()
    engine = Engine("a", BAD, fails(QuotaError("x")), GOOD)
    breaker = Breaker(engine, threshold=1, cooldown=1.0, probe_interval=0, on_change=listen, clock=clock)
    await ask(breaker)
    clock.now = 1.0

    assert await ask_often(breaker, 2) == ["failed", "ok"]
    assert len(engine.calls) == 3

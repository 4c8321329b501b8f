"""A breaker that opens on a share of failures, whether in a row or not."""

import math

import pytest

from decide import QuotaError
from decide.compose import Breaker, FailureRate
from tests.compose.breakers import BAD, GOOD, ask_often
from tests.fakes import Clock, Engine, fails


async def test_an_engine_that_fails_often_but_never_in_a_row_opens_it() -> None:
    engine = Engine("a", *[BAD, GOOD] * 50)
    breaker = Breaker(engine, failure_rate=FailureRate(rate=0.5, least_calls=20), clock=Clock())

    ended = await ask_often(breaker, 30)

    assert ended.count("refused") == 30 - 21
    assert breaker.state == "open"


async def test_without_a_rate_it_does_not() -> None:
    breaker = Breaker(Engine("a", *[BAD, GOOD] * 50), clock=Clock())

    assert "refused" not in await ask_often(breaker, 100)


async def test_fewer_calls_than_the_least_say_nothing() -> None:
    breaker = Breaker(Engine("a", BAD), threshold=100, failure_rate=FailureRate(least_calls=5), clock=Clock())

    assert await ask_often(breaker, 6) == ["failed"] * 5 + ["refused"]


async def test_a_share_just_below_the_rate_keeps_it_closed_and_one_that_reaches_it_opens_it() -> None:
    script = [GOOD] * 94 + [BAD] * 6
    below = Breaker(Engine("a", *script), threshold=100, failure_rate=FailureRate(rate=0.07), clock=Clock())
    reached = Breaker(
        Engine("a", *[GOOD] * 93, *[BAD] * 7), threshold=100, failure_rate=FailureRate(rate=0.07), clock=Clock()
    )

    await ask_often(below, 100)
    await ask_often(reached, 100)

    assert (below.state, reached.state) == ("closed", "open")


async def test_calls_that_are_older_than_the_window_do_not_count() -> None:
    clock = Clock()
    rate = FailureRate(rate=0.5, least_calls=4, window=10.0)
    breaker = Breaker(Engine("a", BAD, BAD, BAD, GOOD, GOOD, GOOD, BAD), threshold=100, failure_rate=rate, clock=clock)

    await ask_often(breaker, 3)
    clock.now = 11.0
    await ask_often(breaker, 4)

    assert breaker.state == "closed"


async def test_what_says_nothing_about_the_engine_is_in_no_share() -> None:
    neutral = fails(QuotaError("x"))
    script = [neutral] * 10 + [BAD] * 3
    breaker = Breaker(Engine("a", *script), threshold=100, failure_rate=FailureRate(least_calls=4), clock=Clock())

    await ask_often(breaker, 13)

    assert breaker.state == "closed"


async def test_a_recovered_engine_starts_with_a_clean_record() -> None:
    clock = Clock()
    script = [BAD] * 4 + [GOOD] + [BAD] * 3 + [GOOD]
    rate = FailureRate(rate=0.5, least_calls=4)
    breaker = Breaker(Engine("a", *script), threshold=100, cooldown=1.0, failure_rate=rate, clock=clock)

    await ask_often(breaker, 4)
    clock.now = 1.0
    ended = await ask_often(breaker, 3)

    assert ended == ["ok", "failed", "failed"]
    assert breaker.state == "closed"


async def test_a_run_of_failures_still_opens_it_below_the_least_calls() -> None:
    breaker = Breaker(Engine("a", BAD), threshold=3, failure_rate=FailureRate(least_calls=20), clock=Clock())

    assert await ask_often(breaker, 4) == ["failed"] * 3 + ["refused"]


@pytest.mark.parametrize(
    "settings",
    [
        {"rate": 0.0},
        {"rate": 1.1},
        {"rate": math.nan},
        {"least_calls": 0},
        {"least_calls": 2.5},
        {"window": 0.0},
        {"window": math.inf},
    ],
    ids=str,
)
def test_a_rate_that_makes_no_sense_is_refused_by_its_name(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        FailureRate(**settings)  # type: ignore[arg-type] # wrong on purpose

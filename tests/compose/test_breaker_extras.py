"""What a breaker can do on request: open on a wait, stay open longer, space its probes, and not count an error."""

import pytest

from decide import QuotaError, RateLimitedError
from decide.compose import Breaker, Race, Single
from tests.compose.breakers import BAD, GOOD, ask, ask_often, limited
from tests.fakes import Clock, Engine, fails


async def test_the_first_failure_that_asks_for_a_wait_opens_it_on_request() -> None:
    clock = Clock()
    engine = Engine("a", limited(120.0), GOOD)
    breaker = Breaker(engine, open_on_retry_after=True, cooldown=30.0, clock=clock)

    ended = await ask_often(breaker, 2)
    clock.now = 119.9
    ended += await ask_often(breaker, 1)
    clock.now = 120.0
    ended += await ask_often(breaker, 1)

    assert ended == ["failed", "refused", "refused", "ok"]
    assert len(engine.calls) == 2


@pytest.mark.parametrize("wait", [None, 0.0])
async def test_a_failure_that_asks_for_no_wait_does_not(wait: float | None) -> None:
    breaker = Breaker(Engine("a", limited(wait), GOOD), open_on_retry_after=True, clock=Clock())

    assert await ask_often(breaker, 2) == ["failed", "ok"]


async def test_without_the_request_it_takes_a_run_of_them() -> None:
    breaker = Breaker(Engine("a", limited(120.0)), threshold=3, clock=Clock())

    assert await ask_often(breaker, 4) == ["failed"] * 3 + ["refused"]


@pytest.mark.parametrize("interval", [0.0, 1.0, 5.0])
async def test_a_probe_that_says_nothing_makes_the_next_one_wait(interval: float) -> None:
    clock = Clock()
    engine = Engine("a", BAD, fails(QuotaError("x")), GOOD)
    breaker = Breaker(engine, threshold=1, cooldown=10.0, probe_interval=interval, clock=clock)

    await ask(breaker)
    clock.now = 10.0
    ended = await ask_often(breaker, 2 if interval else 1)
    clock.now = 10.0 + interval
    ended.append(await ask(breaker))

    assert ended == (["failed", "refused", "ok"] if interval else ["failed", "ok"])


async def test_the_open_time_does_not_grow_unless_asked_to() -> None:
    assert await open_times(Clock(), failed_probes=4, max_cooldown=None) == [10.0] * 5


async def test_the_open_time_doubles_with_each_failed_probe_up_to_the_most() -> None:
    assert await open_times(Clock(), failed_probes=4, max_cooldown=50.0) == [10.0, 20.0, 40.0, 50.0, 50.0]


async def test_a_most_below_the_cooldown_shortens_nothing() -> None:
    assert await open_times(Clock(), failed_probes=1, max_cooldown=1.0) == [10.0, 10.0]


async def test_an_engine_that_stays_away_for_thousands_of_probes_is_still_probed() -> None:
    assert (await open_times(Clock(), failed_probes=1100, max_cooldown=50.0))[-1] == 50.0


async def test_a_recovered_engine_starts_with_the_short_open_time_again() -> None:
    clock = Clock()
    engine = Engine("a", BAD, BAD, GOOD, BAD, GOOD)
    breaker = Breaker(engine, threshold=1, cooldown=10.0, max_cooldown=100.0, clock=clock)

    ended = []
    for clock.now in (0.0, 10.0, 30.0, 30.0, 40.0):
        ended.append(await ask(breaker))

    assert ended == ["failed", "failed", "ok", "failed", "ok"]


async def open_times(clock: Clock, *, failed_probes: int, max_cooldown: float | None) -> list[float]:
    """How long it stayed open, each time, while its engine stays away."""
    breaker = Breaker(Engine("a", BAD), threshold=1, cooldown=10.0, max_cooldown=max_cooldown, clock=clock)
    await ask(breaker)
    lasted = []
    for _ in range(failed_probes + 1):
        opened = clock.now
        for seconds in (10.0, 20.0, 40.0, 50.0):
            clock.now = opened + seconds
            if await ask(breaker) == "failed":
                lasted.append(seconds)
                break
    return lasted


class NotMineError(Exception):
    """An error of the engine that a caller does not hold against it."""


async def test_an_excluded_error_is_not_counted_in_any_state() -> None:
    clock = Clock()
    engine = Engine("a", *[fails(NotMineError())] * 3, BAD, fails(NotMineError()), GOOD)
    breaker = Breaker(engine, threshold=1, cooldown=10.0, excluded=[NotMineError], clock=clock)

    assert await ask_often(breaker, 5) == ["failed"] * 4 + ["refused"]
    clock.now = 10.0
    assert await ask(breaker) == "failed"
    assert breaker.state == "half-open"
    clock.now = 11.0
    assert await ask(breaker) == "ok"


@pytest.mark.parametrize("around", [Single, Race])
async def test_an_excluded_error_is_found_in_a_combinator(around: type[Single] | type[Race]) -> None:
    breaker = Breaker(around(Engine("a", fails(NotMineError()))), threshold=1, excluded=[NotMineError])

    assert await ask_often(breaker, 3) == ["failed"] * 3


async def test_an_excluded_kind_excludes_its_kin_only() -> None:
    breaker = Breaker(Engine("a", BAD), threshold=1, excluded=[RateLimitedError], clock=Clock())

    assert await ask_often(breaker, 2) == ["failed", "refused"]

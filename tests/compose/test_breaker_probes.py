"""A breaker that opened: one probe at a time, and nothing that an old or a stubborn call can break."""

import anyio
import pytest

from decide import (
    Breaker,
    RateLimitedError,
    Single,
    UnavailableError,
)
from tests.compose.asking import directly, each, of, trace_of
from tests.compose.tripping import BROKEN, NEUTRAL, NoiseError, ask, tripped
from tests.fakes import (
    Behaviour,
    Clock,
    Engine,
    answers,
    cleans_up,
    fails,
    hangs,
    shields,
    swallows,
)


@each("behaviour", NEUTRAL)
async def test_what_the_engine_is_not_to_blame_for_decides_no_probe(behaviour: Behaviour) -> None:
    clock = Clock()
    breaker, engine = await tripped(behaviour, answers(), clock=clock, excluded=[NoiseError])

    clock.now = 10.0
    await ask(breaker)
    assert breaker.stats().state == "half-open"
    await ask(breaker)
    assert len(engine.calls) == 2, "the next probe waits its interval"
    clock.now = 11.0
    await ask(breaker)
    assert breaker.stats().state == "closed"


@pytest.mark.parametrize("callers", [100, 1000])
async def test_half_open_lets_one_probe_through(callers: int) -> None:
    clock = Clock()
    breaker, engine = await tripped(answers(after=0.2), clock=clock)
    clock.now = 10.0
    refused: list[float] = []
    begun = anyio.current_time()

    async def one_call() -> None:
        try:
            await directly(breaker)
        except UnavailableError:
            refused.append(anyio.current_time() - begun)

    async with anyio.create_task_group() as group:
        for _ in range(callers):
            group.start_soon(one_call)

    assert len(engine.calls) == 2
    assert len(refused) == callers - 1
    assert max(refused) == 0.0
    assert breaker.stats().state == "closed"


async def test_a_probe_that_fails_opens_it_for_a_full_new_period() -> None:
    clock = Clock()
    breaker, engine = await tripped(fails(BROKEN), answers(), clock=clock)

    clock.now = 12.0
    await ask(breaker)
    assert breaker.stats().state == "open"
    clock.now = 21.9
    await ask(breaker)
    assert len(engine.calls) == 2
    clock.now = 22.0
    await ask(breaker)
    assert breaker.stats().state == "closed"


PROBES: dict[str, tuple[Behaviour, str]] = {
    "hangs": (hangs(), "open"),
    "shields itself and answers too late": (shields(answers(after=3.0)), "open"),
    "swallows the timeout": (swallows(), "open"),
    "fails in its clean-up": (cleans_up(0.1, error=ValueError("x")), "open"),
    "answers in time": (answers(after=1.9), "closed"),
}


@each("behaviour,state", PROBES)
async def test_a_probe_has_its_own_time(behaviour: Behaviour, state: str) -> None:
    clock = Clock()
    breaker, _ = await tripped(behaviour, clock=clock, probe_timeout=2.0)
    clock.now = 10.0

    trace = await trace_of(Single(breaker))

    assert breaker.stats().state == state
    assert of("a", trace.attempts).outcome == ("decided" if state == "closed" else "timeout")


@each(
    "behaviour",
    {
        "hangs": (hangs(),),
        "shields itself": (shields(answers(after=2.0)),),
        "swallows it": (swallows(),),
        "fails in its clean-up": (cleans_up(0.0, error=ValueError("x")),),
    },
)
async def test_a_probe_whose_caller_gives_up_makes_room_for_the_next(behaviour: Behaviour) -> None:
    clock = Clock()
    breaker, _ = await tripped(behaviour, answers(), clock=clock)
    clock.now = 10.0

    with anyio.move_on_after(0.5):
        await directly(breaker)

    assert breaker.stats().state == "half-open"
    clock.now = 11.0
    await ask(breaker)
    assert breaker.stats().state == "closed"


async def test_a_probe_that_raises_no_error_makes_room_for_the_next() -> None:
    clock = Clock()
    breaker, _ = await tripped(fails(KeyboardInterrupt()), answers(), clock=clock, probe_interval=0.0)
    clock.now = 10.0

    with pytest.raises(KeyboardInterrupt):
        await directly(breaker)
    await ask(breaker)

    assert breaker.stats().state == "closed"


async def test_results_of_calls_from_before_it_opened_change_nothing() -> None:
    clock = Clock()
    script = [answers(after=1.0), fails(BROKEN, after=2.0), fails(BROKEN), answers()]
    breaker = Breaker(Engine("a", *script, timeout=60), threshold=1, cooldown=10.0, clock=clock)

    async with anyio.create_task_group() as group:
        group.start_soon(ask, breaker)
        await anyio.sleep(0.1)
        group.start_soon(ask, breaker)
        await anyio.sleep(0.1)
        await ask(breaker)
        assert breaker.stats().state == "open"
        await anyio.sleep(1.0)
        assert breaker.stats().state == "open", "a late success does not close it"
        clock.now = 10.0
        await ask(breaker)
        assert breaker.stats().state == "closed"

    assert breaker.stats().state == "closed", "a late failure does not open it again"
    assert breaker.stats().failures == 0


@each(
    "waits,allowed_at",
    {
        "a short wait does not shorten the period": ([1.0, None], 30.0),
        "nor when it comes late": ([None, 1.0], 30.0),
        "a long wait extends it": ([120.0], 120.0),
        "also when it comes late": ([None, 120.0], 120.0),
        "and no later one shortens it again": ([None, 120.0, 40.0], 120.0),
        "ten minutes are the most": ([10_000.0], 600.0),
        "late or not": ([None, 10_000.0], 600.0),
    },
)
async def test_the_longest_wait_that_was_asked_for_counts(waits: list[float | None], allowed_at: float) -> None:
    clock = Clock()
    script = [
        fails(RateLimitedError("x", retry_after=wait), after=0.1 * (place + 1)) for place, wait in enumerate(waits)
    ]
    breaker = Breaker(Engine("a", *script, answers()), threshold=1, cooldown=30.0, clock=clock)
    async with anyio.create_task_group() as group:
        for _ in waits:
            group.start_soon(ask, breaker)

    clock.now = allowed_at - 0.1
    with pytest.raises(UnavailableError):
        await directly(breaker)
    clock.now = allowed_at
    await directly(breaker)

    assert breaker.stats().state == "closed"

"""A breaker: what counts, what does not, and who is told."""

import threading
import time
from collections.abc import Callable

import anyio
import pytest

from decide import (
    Breaker,
    Budget,
    Chain,
    EngineError,
    Fallback,
    InvalidRequestError,
    Provider,
    Single,
    UnavailableError,
    UnsupportedError,
)
from tests.compose.asking import directly, each, of, outcomes, scored_directly, trace_of
from tests.compose.tripping import BROKEN, COUNTED, NEUTRAL, NoiseError, ask, tripped
from tests.fakes import (
    REQUEST,
    Behaviour,
    Clock,
    DecidingOnly,
    Engine,
    Says,
    abstains,
    answers,
    fails,
)


async def test_failures_in_a_row_open_it_and_a_success_starts_over() -> None:
    row = [fails(BROKEN)] * 4
    engine = Engine("a", *([*row, answers()] * 10), *[fails(BROKEN)] * 5)
    breaker = Breaker(engine, threshold=5)

    await ask(breaker, 50)
    assert breaker.stats().state == "closed"
    await ask(breaker, 4)
    assert breaker.stats().state == "closed"
    await ask(breaker)
    assert breaker.stats().state == "open"


async def test_failures_further_apart_than_the_window_are_no_row() -> None:
    clock = Clock()
    breaker = Breaker(Engine("a", fails(BROKEN)), threshold=2, window=10.0, clock=clock)

    await ask(breaker)
    clock.now = 10.5
    await ask(breaker)
    assert breaker.stats().state == "closed"
    clock.now = 20.5
    await ask(breaker)
    assert breaker.stats().state == "open"


async def test_an_open_breaker_refuses_at_once_and_says_so() -> None:
    breaker, engine = await tripped(answers(), clock=Clock())

    with pytest.raises(UnavailableError, match="'a'"):
        await directly(breaker)

    assert len(engine.calls) == 1


@pytest.mark.parametrize("jump", [24 * 3600.0, -24 * 3600.0], ids=["a day ahead", "a day back"])
async def test_jumps_of_the_wall_clock_change_nothing(jump: float, monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time
    breaker = Breaker(Engine("a", fails(BROKEN), answers()), threshold=1, cooldown=30.0)
    await ask(breaker)

    monkeypatch.setattr(time, "time", lambda: real() + jump)

    with pytest.raises(UnavailableError):
        await directly(breaker)
    assert breaker.stats().state == "open"


async def test_it_has_the_name_the_timeout_and_the_class_of_its_engine() -> None:
    breaker = Breaker(Engine("a", timeout=3.0, deterministic=True))

    assert (breaker.name, breaker.decision_timeout, breaker.deterministic) == ("a", 3.0, True)


@each(
    "behaviour",
    {
        "a decision": (answers(),),
        "an abstention": (abstains(),),
        "an unsure answer": (answers(Says.UNSURE),),
        "an invalid answer": (answers(Says.NONSENSE),),
    },
)
async def test_any_answer_is_a_sign_of_health(behaviour: Behaviour) -> None:
    breaker = Breaker(Engine("a", fails(BROKEN), behaviour, fails(BROKEN)), threshold=2)

    await ask(breaker, 3)

    assert breaker.stats().state == "closed"


@each("behaviour", COUNTED)
async def test_what_the_engine_is_to_blame_for_counts(behaviour: Behaviour) -> None:
    breaker = Breaker(Engine("a", behaviour), threshold=2)

    await ask(breaker)
    assert breaker.stats().failures == 1
    await ask(breaker)
    assert breaker.stats().state == "open"


@each("behaviour", NEUTRAL)
@pytest.mark.parametrize("around", [lambda engine: engine, Single], ids=["alone", "in a combinator"])
async def test_what_the_engine_is_not_to_blame_for_does_not_count(
    behaviour: Behaviour, around: Callable[[Provider], Provider]
) -> None:
    breaker = Breaker(around(Engine("a", fails(BROKEN), behaviour)), threshold=2, excluded=[NoiseError])

    await ask(breaker, 10)

    assert breaker.stats().failures == 1
    assert breaker.stats().state == "closed"


async def test_an_excluded_error_reaches_the_trace_in_every_state() -> None:
    clock = Clock()
    breaker, _ = await tripped(fails(NoiseError()), clock=clock, excluded=[NoiseError], probe_interval=0.0)
    clock.now = 10.0

    for _ in range(3):
        trace = await trace_of(Single(breaker))
        assert (of("a", trace.attempts).outcome, of("a", trace.attempts).detail) == ("error", "NoiseError")
        assert breaker.stats().state == "half-open"


async def test_one_callers_bad_requests_take_the_engine_away_from_nobody() -> None:
    async def refuse_every_second() -> object:
        calls.append(None)
        mine = len(calls)
        await anyio.sleep(0.01)
        if mine % 2:
            raise InvalidRequestError("too long", http_status=422)
        return Says.YES

    calls: list[None] = []
    seen: list[str] = []
    breaker = Breaker(Engine("a", refuse_every_second), threshold=3)

    async def one_call() -> None:
        async with limit:
            seen.append(of("a", (await trace_of(breaker)).attempts).outcome)

    limit = anyio.CapacityLimiter(10)
    async with anyio.create_task_group() as group:
        for _ in range(100):
            group.start_soon(one_call)

    assert (seen.count("decided"), seen.count("rejected")) == (50, 50)
    assert (breaker.stats().state, breaker.stats().failures) == ("closed", 0)


async def test_changes_are_told_after_they_happened_and_outside_the_lock() -> None:
    clock = Clock()
    told: list[tuple[str, str, str]] = []

    def on_change(name: str, before: str, after: str) -> None:
        told.append((name, before, after))
        reader = threading.Thread(target=lambda: told.append((breaker.stats().state, "", "")))
        reader.start()
        reader.join(timeout=5.0)

    breaker = Breaker(
        Engine("a", fails(BROKEN), answers()), threshold=1, cooldown=1.0, clock=clock, on_change=on_change
    )

    await ask(breaker)
    clock.now = 1.0
    await ask(breaker)

    assert told == [
        ("a", "closed", "open"),
        ("open", "", ""),
        ("a", "open", "half-open"),
        ("half-open", "", ""),
        ("a", "half-open", "closed"),
        ("closed", "", ""),
    ]


async def test_a_listener_that_raises_breaks_neither_the_call_nor_the_circuit() -> None:
    def on_change(*_: str) -> None:
        raise RuntimeError("the listener is broken")

    clock = Clock()
    breaker = Breaker(
        Engine("a", fails(BROKEN), answers()), threshold=1, cooldown=1.0, clock=clock, on_change=on_change
    )

    with pytest.raises(EngineError, match="broken"):
        await directly(breaker)
    clock.now = 1.0
    assert await directly(breaker) is not None

    assert breaker.stats().state == "closed"


async def test_an_engine_without_the_operation_does_not_touch_it() -> None:
    breaker = Breaker(DecidingOnly("a"), threshold=1)

    with pytest.raises(UnsupportedError):
        await scored_directly(breaker)

    assert (breaker.stats().state, breaker.stats().failures) == ("closed", 0)


async def test_decisions_and_answers_share_one_circuit() -> None:
    breaker = Breaker(Engine("a", fails(BROKEN)), threshold=2)

    await ask(breaker)
    with pytest.raises(EngineError):
        await scored_directly(breaker)

    assert breaker.stats().state == "open"


async def test_one_engine_may_stand_behind_a_breaker_that_two_chains_share() -> None:
    breaker = Breaker(Engine("a", fails(BROKEN)), threshold=2)

    for _ in range(2):
        await Chain([breaker, Engine("b")]).decide(REQUEST)
    trace = await trace_of(Fallback(breaker, Engine("b")))

    assert outcomes(trace.attempts) == [("a", "unavailable"), ("b", "decided")]


@each(
    "settings",
    {
        "no threshold": ({"threshold": 0},),
        "a threshold that is no count": ({"threshold": 1.5},),
        "a truth for a threshold": ({"threshold": True},),
        "no window": ({"window": 0},),
        "a window that never ends": ({"window": float("inf")},),
        "a cooldown that is no number": ({"cooldown": float("nan")},),
        "a negative cooldown": ({"cooldown": -1},),
        "no time for a probe": ({"probe_timeout": 0},),
        "a slow threshold of nothing": ({"slow_threshold": 0},),
        "a negative interval": ({"probe_interval": -0.1},),
    },
)
def test_a_setting_that_makes_no_sense_is_refused_by_its_name(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        Breaker(Engine("a"), **settings)  # type: ignore[arg-type]


def test_zeros_that_make_sense_are_taken() -> None:
    breaker = Breaker(Engine("a"), cooldown=0, probe_interval=0)

    assert breaker.state == breaker.stats().state == "closed"


async def test_a_breaker_inside_a_budget_spends_nothing_while_it_is_open() -> None:
    budget = Budget(Breaker(Engine("a", fails(BROKEN)), threshold=1), max_calls=5)

    await ask(budget, 20)

    assert budget.stats().used == 1
    assert budget.stats().refused == 0

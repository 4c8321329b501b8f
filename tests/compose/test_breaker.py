"""A breaker: what counts, what does not, one probe at a time, and nothing that an old or a stubborn call can break."""

import threading
import time
from collections.abc import Callable

import anyio
import pytest

from decide import (
    AuthError,
    Breaker,
    Budget,
    BudgetError,
    BusyError,
    Chain,
    DecideError,
    EngineError,
    EngineTimeoutError,
    Fallback,
    Hedged,
    InvalidAnswerError,
    InvalidRequestError,
    MisconfiguredError,
    PolicyRefusalError,
    Provider,
    QuotaError,
    Race,
    RateLimitedError,
    Single,
    TimeBudgetError,
    UnavailableError,
    UnsupportedError,
)
from decide.attempt_log import AttemptLog
from tests.compose.asking import directly, each, of, outcomes, scored_directly, trace_of
from tests.fakes import (
    REQUEST,
    Behaviour,
    Clock,
    DecidingOnly,
    Engine,
    Says,
    abstains,
    answers,
    block,
    cleans_up,
    fails,
    hangs,
    shields,
    swallows,
)

BROKEN = EngineError("broken")


class NoiseError(Exception):
    """An error that says nothing about the engine."""


async def ask(breaker: Provider, times: int = 1) -> None:
    """Ask so often, whatever becomes of it."""
    for _ in range(times):
        try:
            await directly(breaker)
        except (DecideError, NoiseError, ValueError):
            continue


async def tripped(
    *script: Behaviour, clock: Clock, cooldown: float = 10.0, **settings: object
) -> tuple[Breaker, Engine]:
    """A breaker that has opened at 0 on the first failure; *script* is what comes after."""
    engine = Engine("a", fails(BROKEN), *script, timeout=5.0)
    breaker = Breaker(engine, threshold=1, cooldown=cooldown, clock=clock, **settings)  # type: ignore[arg-type]
    await ask(breaker)
    assert breaker.stats().state == "open"
    return breaker, engine


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


COUNTED: dict[str, tuple[Behaviour]] = {
    "an error of ours": (fails(BROKEN),),
    "a foreign error": (fails(ValueError("x")),),
    "a rate limit": (fails(RateLimitedError("x")),),
    "an unusable reply": (fails(InvalidAnswerError("x")),),
    "its own timeout": (fails(EngineTimeoutError("x")),),
    "a breaker below that is open": (fails(UnavailableError("x")),),
}
NEUTRAL: dict[str, tuple[Behaviour]] = {
    "a bad request": (fails(InvalidRequestError("x")),),
    "a refused key": (fails(AuthError("x")),),
    "a spent allowance": (fails(QuotaError("x")),),
    "a spent budget": (fails(BudgetError("x")),),
    "spent time": (fails(TimeBudgetError("x")),),
    "a broken setting": (fails(MisconfiguredError("x")),),
    "a refusal": (fails(PolicyRefusalError("x")),),
    "no turn": (fails(BusyError("x")),),
    "no such operation": (fails(UnsupportedError("x")),),
    "an excluded error": (fails(NoiseError()),),
    "a neutral kind among others": (fails(ExceptionGroup("x", [ValueError("x"), AuthError("x")])),),
}


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

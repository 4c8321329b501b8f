"""Hedged: when the backup starts, who wins, and when the primary stands."""

import time

import anyio
import pytest

from decide import (
    DURABLE,
    NARROWING,
    AuthError,
    BudgetError,
    EngineError,
    Hedged,
    MisconfiguredError,
    NoAnswerError,
    PolicyRefusalError,
    QuotaError,
    Race,
    Single,
)
from decide.attempt_log import AttemptLog
from tests.compose.asking import Ask, directly, each, for_both_operations, of, outcomes, trace_of
from tests.fakes import Behaviour, Engine, Says, abstains, answers, blocks, cleans_up, fails, hangs

BROKEN = fails(EngineError("x"))


@for_both_operations
async def test_a_primary_that_answers_before_the_delay_is_alone(asked: Ask) -> None:
    spare = Engine("b")

    trace = await trace_of(Hedged(Engine("a", answers(after=0.5)), spare, delay=0.6), asked=asked)

    assert [(one.provider, one.outcome, one.role) for one in trace.attempts] == [("a", "decided", "primary")]
    assert (trace.strategy, trace.engine, trace.hedge_fired, trace.fallback_fired) == ("hedged", "a", False, False)
    assert not spare.calls


@for_both_operations
async def test_a_silent_primary_is_overtaken_by_the_backup(asked: Ask) -> None:
    begun = anyio.current_time()

    trace = await trace_of(Hedged(Engine("a", hangs()), Engine("b", answers(after=0.1)), delay=0.6), asked=asked)

    assert [(one.provider, one.outcome, one.role) for one in trace.attempts] == [
        ("a", "cancelled", "primary"),
        ("b", "decided", "backup"),
    ]
    assert (trace.engine, trace.hedge_fired, trace.fallback_fired) == ("b", True, False)
    assert anyio.current_time() - begun == pytest.approx(0.7)
    assert of("b", trace.attempts).started == pytest.approx(0.6)
    assert of("a", trace.attempts).usage is None


@for_both_operations
async def test_a_slow_primary_may_still_win(asked: Ask) -> None:
    trace = await trace_of(Hedged(Engine("a", answers(after=0.8)), Engine("b", hangs()), delay=0.6), asked=asked)

    assert outcomes(trace.attempts) == [("a", "decided"), ("b", "cancelled")]
    assert (trace.engine, trace.hedge_fired) == ("a", True)


@for_both_operations
async def test_a_primary_that_fails_starts_the_backup_at_once(asked: Ask) -> None:
    trace = await trace_of(Hedged(Engine("a", fails(EngineError("x"), after=0.1)), Engine("b"), delay=2.0), asked=asked)

    assert outcomes(trace.attempts) == [("a", "error"), ("b", "decided")]
    assert (trace.hedge_fired, trace.fallback_fired) == (False, True)
    assert of("b", trace.attempts).started == pytest.approx(0.1)


async def test_a_backup_that_was_started_by_a_failure_is_not_started_again_by_the_delay() -> None:
    spare = Engine("b", answers(after=1.0))
    log = AttemptLog()

    await directly(Hedged(Engine("a", BROKEN), spare, delay=0.5), log)

    assert len(spare.calls) == 1
    assert (log.report().fallback_fired, log.report().hedge_fired) == (True, False)


@for_both_operations
async def test_a_primary_that_fails_after_the_hedge_leaves_the_backup_to_answer(asked: Ask) -> None:
    trace = await trace_of(
        Hedged(Engine("a", fails(EngineError("x"), after=0.7)), Engine("b", answers(after=0.3)), delay=0.6), asked=asked
    )

    assert outcomes(trace.attempts) == [("a", "error"), ("b", "decided")]
    assert (trace.hedge_fired, trace.fallback_fired) == (True, False)


@pytest.mark.parametrize(
    "backup",
    [BROKEN, fails(QuotaError("x")), fails(BudgetError("x")), abstains()],
    ids=["error", "quota", "budget", "none"],
)
async def test_a_backup_that_gives_nothing_leaves_the_primary_to_answer(backup: Behaviour) -> None:
    trace = await trace_of(Hedged(Engine("a", answers(after=0.9)), Engine("b", backup), delay=0.6))

    assert trace.engine == "a"


async def test_a_delay_of_zero_starts_both_at_once() -> None:
    trace = await trace_of(Hedged(Engine("a", answers(after=0.1)), Engine("b", hangs()), delay=0))

    assert outcomes(trace.attempts) == [("a", "decided"), ("b", "cancelled")]
    assert of("b", trace.attempts).started == 0.0


@each(
    "behaviour,outcome",
    {
        "a spent allowance": (fails(QuotaError("x")), "quota"),
        "a spent budget": (fails(BudgetError("x")), "budget"),
        "a broken setting": (fails(MisconfiguredError("x")), "misconfigured"),
        "a refusal": (fails(PolicyRefusalError("x")), "policy_refusal"),
    },
)
@pytest.mark.parametrize("after", [0.1, 0.9], ids=["before the delay", "while both run"])
async def test_a_primary_that_a_person_has_to_see_ends_the_call(
    behaviour: Behaviour, outcome: str, after: float
) -> None:
    async def later() -> object:
        await anyio.sleep(after)
        return await behaviour()

    spare = Engine("b", hangs())

    trace = await trace_of(Hedged(Engine("a", later), spare, delay=0.6))

    assert trace.stopped_by == outcome
    assert of("a", trace.attempts).outcome == outcome
    assert spare.ends() == (["cancelled"] if after > 0.6 else [])


@each(
    "behaviour,outcome",
    {
        "an abstention": (abstains(after=0.9), "abstained"),
        "an unsure answer": (answers(Says.UNSURE, after=0.9), "uncertain"),
    },
)
async def test_a_primary_without_an_opinion_stands_against_a_running_backup(behaviour: Behaviour, outcome: str) -> None:
    spare = Engine("b", answers(after=5.0))

    trace = await trace_of(Hedged(Engine("a", behaviour), spare, delay=0.6, policy=DURABLE))

    assert outcomes(trace.attempts) == [("a", outcome), ("b", "cancelled")]


@each(
    "behaviour,outcome",
    {
        "an abstention": (abstains(after=0.1), "abstained"),
        "an unsure answer": (answers(Says.UNSURE, after=0.1), "uncertain"),
    },
)
async def test_a_primary_without_an_opinion_starts_the_backup_if_it_is_told_to(
    behaviour: Behaviour, outcome: str
) -> None:
    engine = Hedged(Engine("a", behaviour), Engine("b"), delay=0.6, policy=DURABLE, fail_over=[outcome])

    trace = await trace_of(engine)

    assert outcomes(trace.attempts) == [("a", outcome), ("b", "decided")]
    assert trace.fallback_fired


async def test_a_primary_that_stands_is_returned_though_the_backup_was_unsure_before() -> None:
    engine = Hedged(Engine("a", abstains(after=0.9)), Engine("b", answers(Says.UNSURE)), delay=0.6, policy=NARROWING)

    assert await directly(engine) is None


async def test_a_refused_key_starts_the_backup_and_is_warned_of() -> None:
    trace = await trace_of(Hedged(Engine("a", fails(AuthError("x"))), Engine("b")))

    assert trace.decided_by
    assert trace.warnings == ("auth:a",)


async def test_two_engines_that_fail_raise_one_error_with_both() -> None:
    first, second = EngineError("one"), ValueError("two")

    with pytest.raises(NoAnswerError) as caught:
        await directly(Hedged(Engine("a", fails(first)), Engine("b", fails(second))))

    assert caught.value.errors == (first, second)


async def test_two_engines_that_hang_end_at_the_declared_total() -> None:
    hedged = Hedged(Engine("a", hangs(), timeout=2.0), Engine("b", hangs(), timeout=1.8), delay=0.6)
    begun = anyio.current_time()

    trace = await trace_of(hedged)

    assert outcomes(trace.attempts) == [("a", "timeout"), ("b", "timeout")]
    assert anyio.current_time() - begun == pytest.approx(hedged.decision_timeout)


async def test_jumps_of_the_wall_clock_change_no_latency_and_no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    day = 24 * 3600.0
    offsets = iter([day, -day] * 100)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(offsets, 0.0))

    trace = await trace_of(Hedged(Engine("a", hangs()), Engine("b", answers(after=0.1)), delay=0.6))

    assert [one.latency for one in trace.attempts] == pytest.approx([0.7, 0.1])


async def test_a_primary_that_only_waits_for_its_losers_is_not_silent() -> None:
    spare = Engine("c")
    inner = Race(Engine("a", answers(after=0.5)), Engine("b", cleans_up(5.0), timeout=9.0))

    trace = await trace_of(Hedged(Single(inner), spare, delay=2.0))

    assert trace.engine == "a"
    assert not spare.calls
    assert not trace.hedge_fired


async def test_an_engine_that_blocks_the_thread_is_told_with_the_time_it_really_took() -> None:
    spare = Engine("b")

    trace = await trace_of(Hedged(Engine("a", blocks(1.0)), spare, delay=0.05))

    assert of("a", trace.attempts).latency == pytest.approx(1.0)
    assert trace.engine == "a"
    assert not trace.hedge_fired


async def test_an_engine_that_blocks_the_thread_past_its_time_leaves_the_backup_what_is_left_of_the_total() -> None:
    in_time, too_late = Engine("b"), Engine("b")

    some_left = await trace_of(Hedged(Engine("a", blocks(1.2), timeout=1.0), in_time, delay=0.05))
    none_left = await trace_of(Hedged(Engine("a", blocks(9.0), timeout=1.0), too_late, delay=0.05))

    assert outcomes(some_left.attempts) == [("a", "timeout"), ("b", "decided")]
    assert outcomes(none_left.attempts) == [("a", "timeout")]
    assert of("a", none_left.attempts).latency == pytest.approx(9.0)
    assert not too_late.calls

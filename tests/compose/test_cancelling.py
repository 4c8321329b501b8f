"""The caller gives up: everything started is cancelled, nothing is started any more, and nobody is blamed."""

import asyncio
from collections.abc import Callable

import anyio
import pytest

from decide import Breaker, Budget, Chain, Fallback, Hedged, Provider, Race, Trace
from decide.attempt_log import AttemptLog
from tests.compose.asking import Ask, directly, for_both_operations, of, outcomes
from tests.compose.shapes import SHAPES, Shape, in_every_shape
from tests.fakes import (
    REQUEST,
    Behaviour,
    Engine,
    Says,
    TracedEngine,
    abstains,
    answers,
    cleans_up,
    fails,
    hangs,
    shields,
    swallows,
)
from tests.test_rig import ON_ASYNCIO

STUBBORN: dict[str, Behaviour] = {
    "hangs": hangs(),
    "shields itself and answers": shields(answers(after=2.0)),
    "shields itself and abstains": shields(abstains(after=2.0)),
    "swallows it and answers": swallows(),
    "turns it into an error": swallows(fails(ValueError("x"))),
    "cleans up for long": cleans_up(2.0),
    "fails in its clean-up": cleans_up(0.0, error=RuntimeError("x")),
}
in_every_stubborn_way = pytest.mark.parametrize("behaviour", list(STUBBORN.values()), ids=list(STUBBORN))


@in_every_shape
@for_both_operations
@in_every_stubborn_way
async def test_a_caller_that_gives_up_gets_no_answer_and_the_attempt_is_cancelled(
    shape: Shape, asked: Ask, behaviour: Behaviour
) -> None:
    traces: list[Trace] = []
    engine, spare = Engine("a", behaviour), Engine("b")

    with anyio.move_on_after(0.5) as scope:
        await asked(Chain([shape(engine), spare], timeout=60, observers=[traces.append]))

    assert scope.cancelled_caught
    assert traces[0].cancelled
    assert outcomes(traces[0].attempts) == [("a", "cancelled")]
    assert engine.running == 0
    assert not spare.calls


@in_every_shape
@in_every_stubborn_way
async def test_an_engine_that_writes_its_own_attempt_is_cancelled_too(shape: Shape, behaviour: Behaviour) -> None:
    traces: list[Trace] = []

    with anyio.move_on_after(0.5):
        await Chain([shape(TracedEngine("a", behaviour))], timeout=60, observers=[traces.append]).decide(REQUEST)

    assert outcomes(traces[0].attempts) == [("a", "cancelled")]


def _with_one_engine(engine: Engine, spare: Engine) -> dict[str, Provider]:
    return {
        "fallback": Fallback(engine, spare, default_timeout=60),
        "hedged": Hedged(engine, spare, delay=1.0, default_timeout=60),
        "hedged, and the delay ends while the primary lets go": Hedged(engine, spare, delay=0.6, default_timeout=60),
        "hedged in race": Race(Hedged(engine, spare, delay=0.6, default_timeout=60), Engine("c", hangs(), timeout=60)),
        "hedged as a racer": Race(
            Engine("c", hangs(), timeout=60), Hedged(engine, spare, delay=0.6, default_timeout=60)
        ),
    }


@pytest.mark.parametrize("kind", list(_with_one_engine(Engine("a"), Engine("b"))))
@in_every_stubborn_way
async def test_no_backup_starts_once_the_caller_has_given_up(kind: str, behaviour: Behaviour) -> None:
    engine, spare = Engine("a", behaviour), Engine("b")

    with anyio.move_on_after(0.5) as scope:
        await directly(_with_one_engine(engine, spare)[kind])

    assert scope.cancelled_caught
    assert not spare.calls


@ON_ASYNCIO
@pytest.mark.parametrize("kind", list(_with_one_engine(Engine("a"), Engine("b"))))
@in_every_stubborn_way
async def test_no_backup_starts_once_the_callers_task_is_cancelled(kind: str, behaviour: Behaviour) -> None:
    engine, spare = Engine("a", behaviour), Engine("b")
    task = asyncio.create_task(directly(_with_one_engine(engine, spare)[kind]))

    await asyncio.sleep(0.5)
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert not spare.calls


@ON_ASYNCIO
@in_every_shape
@in_every_stubborn_way
async def test_a_task_that_is_cancelled_ends_cancelled_whatever_the_engine_does(
    shape: Shape, behaviour: Behaviour
) -> None:
    spare = Engine("b")
    task = asyncio.create_task(Chain([shape(Engine("a", behaviour)), spare], timeout=60).decide(REQUEST))

    await asyncio.sleep(0.5)
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert not spare.calls


@ON_ASYNCIO
@in_every_shape
async def test_a_cancellation_asked_for_before_the_call_is_not_taken_for_the_engines(shape: Shape) -> None:
    async def cancel_oneself_and_ask() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await Chain([shape(Engine("a", answers(after=1.0)))]).decide(REQUEST)

    task = asyncio.create_task(cancel_oneself_and_ask())
    await asyncio.wait([task])

    assert task.cancelled()


@ON_ASYNCIO
@in_every_shape
@in_every_stubborn_way
async def test_asyncios_own_timeout_works_around_a_call(shape: Shape, behaviour: Behaviour) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await Chain([shape(Engine("a", behaviour))], timeout=60).decide(REQUEST)

    assert _cancel_count() == 0


@ON_ASYNCIO
async def test_calls_that_cancel_inside_leave_the_callers_count_at_zero() -> None:
    for _ in range(30):
        await directly(Hedged(Engine("a", hangs()), Engine("b", answers(after=0.01)), delay=0.01))
        assert _cancel_count() == 0
        await directly(Race(Engine("a", swallows()), Engine("b", answers(after=0.01))))
        assert _cancel_count() == 0
        await Chain([Engine("a", swallows(), timeout=0.01), Engine("b")]).decide(REQUEST)
        assert _cancel_count() == 0

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await asyncio.sleep(1)


def _cancel_count() -> int:
    task = asyncio.current_task()
    assert task is not None
    return task.cancelling()


@in_every_shape
@for_both_operations
async def test_a_call_in_a_cancelled_scope_reaches_nobody(shape: Shape, asked: Ask) -> None:
    traces: list[Trace] = []
    engine = Engine("a")

    with anyio.CancelScope() as scope:
        scope.cancel()
        await asked(Chain([shape(engine)], observers=[traces.append]))

    assert scope.cancelled_caught
    assert not engine.calls
    assert traces[0].cancelled
    assert traces[0].attempts == ()


@pytest.mark.parametrize("kind", [name for name in SHAPES if name != "alone"])
async def test_a_combinator_asked_in_a_cancelled_scope_reaches_nobody(kind: str) -> None:
    engine, log = Engine("a"), AttemptLog()

    with anyio.CancelScope() as scope:
        scope.cancel()
        await directly(SHAPES[kind](engine), log)

    assert scope.cancelled_caught
    assert not engine.calls
    assert log.report().attempts == ()


async def test_a_call_in_a_cancelled_scope_takes_no_unit_and_no_probe() -> None:
    budget = Budget(Engine("a"), max_calls=1)
    breaker = Breaker(Engine("b", fails(ValueError("x")), answers()), threshold=1, cooldown=0.0)
    with pytest.raises(ValueError, match="x"):
        await directly(breaker)

    for guarded in (budget, breaker):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await directly(guarded)

    assert budget.stats().used == 0
    assert breaker.state == "open"


@in_every_stubborn_way
@pytest.mark.parametrize("around", [lambda engine: engine, Race, Fallback], ids=["alone", "race", "fallback"])
async def test_an_impatient_caller_opens_nobodys_breaker(
    around: Callable[[Provider], Provider], behaviour: Behaviour
) -> None:
    breaker = Breaker(Engine("a", behaviour, timeout=60), threshold=1, slow_threshold=1)

    for _ in range(3):
        with anyio.move_on_after(0.5):
            await Chain([around(breaker)]).decide(REQUEST)

    assert breaker.state == "closed"
    assert breaker.stats().failures == breaker.stats().slow == 0


@in_every_stubborn_way
async def test_a_unit_stays_spent_when_the_caller_gives_up_on_an_engine_that_was_called(behaviour: Behaviour) -> None:
    budget = Budget(Engine("a", behaviour), max_calls=5)

    with anyio.move_on_after(0.5):
        await directly(budget)

    assert budget.stats().used == 1


@pytest.mark.parametrize("behaviour", [answers(after=1.0), fails(ValueError("x"), after=1.0)], ids=["answers", "fails"])
@pytest.mark.parametrize(
    "around",
    [
        Race,
        lambda stubborn, other: Race(stubborn, Race(other, Engine("c", hangs(), timeout=60))),
        lambda stubborn, other: Race(stubborn, Race(Engine("c", hangs(), timeout=60), other)),
        lambda stubborn, other: Hedged(stubborn, other, delay=0.1),
    ],
    ids=["race", "race in race", "race in race, last", "hedged"],
)
async def test_whoever_runs_beside_a_stubborn_engine_counts_for_nothing_once_the_caller_has_given_up(
    around: Callable[[Provider, Provider], Provider], behaviour: Behaviour
) -> None:
    breaker, log = Breaker(Engine("b", behaviour, timeout=60), threshold=1), AttemptLog()

    with anyio.move_on_after(0.5):
        await directly(around(Engine("a", cleans_up(5.0), timeout=60), breaker), log)

    assert of("b", log.report().attempts).outcome == "cancelled"
    assert (breaker.state, breaker.stats().failures) == ("closed", 0)


async def test_attempts_that_ended_before_the_caller_gave_up_stay_as_they_were() -> None:
    traces: list[Trace] = []
    chain = Chain([Engine("a", fails(ValueError("x"))), Engine("b", hangs())], observers=[traces.append])

    with anyio.move_on_after(0.5):
        await chain.decide(REQUEST)

    assert outcomes(traces[0].attempts) == [("a", "error"), ("b", "cancelled")]
    assert traces[0].outage


async def test_a_cancelled_engine_is_told_with_the_time_it_took_to_let_go() -> None:
    traces: list[Trace] = []

    with anyio.move_on_after(0.5):
        await Chain([Race(Engine("a", cleans_up(1.0)))], observers=[traces.append]).decide(REQUEST)

    assert of("a", traces[0].attempts).latency == pytest.approx(1.5)


@pytest.mark.parametrize("when", [0.5, 0.6, 0.7])
async def test_a_winner_does_not_outlast_its_caller(when: float) -> None:
    race = Race(Engine("a", answers(after=0.5)), Engine("b", cleans_up(1.0)))

    with anyio.move_on_after(when) as scope:
        await directly(race)

    assert scope.cancelled_caught


async def test_a_hedge_does_not_start_once_the_primary_has_won() -> None:
    for _ in range(50):
        order: list[str] = []

        async def primary() -> object:
            await anyio.sleep(0.5)
            order.append("primary answered")  # noqa: B023 - called in this round only
            return Says.YES

        async def backup() -> object:
            order.append("backup called")  # noqa: B023 - called in this round only
            return Says.NOTHING

        log = AttemptLog()

        await directly(Hedged(Engine("a", primary), Engine("b", backup), delay=0.5), log)

        assert order in (["primary answered"], ["backup called", "primary answered"])
        assert log.report().hedge_fired == (len(order) == 2)

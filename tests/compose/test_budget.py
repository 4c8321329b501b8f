"""A budget: what spends a unit, what gives it back, and no call above the cap however many ask at once."""

import anyio
import pytest

from decide import (
    AuthError,
    Breaker,
    Budget,
    BudgetError,
    BusyError,
    DecideError,
    EngineError,
    Fallback,
    Hedged,
    Provider,
    QuotaError,
    Race,
    Single,
    TimeBudgetError,
    UnavailableError,
    UnsupportedError,
)
from tests.compose.asking import directly, each, of, outcomes, scored_directly, trace_of
from tests.fakes import Behaviour, Clock, DecidingOnly, Engine, Says, abstains, answers, fails, hangs, shields

BROKEN = fails(EngineError("x", http_status=503))


async def spend(budget: Provider, calls: int) -> int:
    """Ask so often; return how many of the calls the budget refused."""
    refused = 0
    for _ in range(calls):
        try:
            await directly(budget)
        except BudgetError:
            refused += 1
        except (DecideError, ValueError):
            continue
    return refused


SPENT: dict[str, tuple[Behaviour]] = {
    "a decision": (answers(),),
    "an abstention": (abstains(),),
    "nonsense": (answers(Says.NONSENSE),),
    "a failure": (BROKEN,),
    "a foreign error": (fails(ValueError("x")),),
    "a refused key": (fails(AuthError("x")),),
    "a spent allowance": (fails(QuotaError("x")),),
    "a late answer": (shields(answers(after=9.0)),),
}
GIVEN_BACK: dict[str, tuple[Behaviour]] = {
    "an open breaker": (fails(UnavailableError("x")),),
    "no turn": (fails(BusyError("x")),),
    "no such operation": (fails(UnsupportedError("x")),),
    "a budget below": (fails(BudgetError("x")),),
    "no time to start": (fails(TimeBudgetError("x")),),
}


@each("behaviour", SPENT)
async def test_a_call_that_reached_the_engine_is_spent_whatever_became_of_it(behaviour: Behaviour) -> None:
    engine = Engine("a", behaviour)
    budget = Budget(engine, max_calls=10)

    refused = await spend(budget, 15)

    assert (len(engine.calls), refused) == (10, 5)
    assert (budget.stats().used, budget.stats().max, budget.stats().refused) == (10, 10, 5)


async def test_a_call_that_timed_out_is_spent() -> None:
    engine = Engine("a", hangs())
    single = Single(Budget(engine, max_calls=10))

    ended = [of("a", (await trace_of(single)).attempts).outcome for _ in range(15)]

    assert ended == ["timeout"] * 10 + ["budget"] * 5
    assert len(engine.calls) == 10


@each("behaviour", GIVEN_BACK)
async def test_a_call_that_reached_no_engine_is_given_back(behaviour: Behaviour) -> None:
    budget = Budget(Engine("a", behaviour), max_calls=1)

    await spend(budget, 5)

    assert budget.stats().used == 0


@each("behaviour", {name: case for name, case in GIVEN_BACK.items() if name != "a budget below"})
async def test_a_call_whose_every_attempt_reached_no_engine_is_given_back(behaviour: Behaviour) -> None:
    budget = Budget(Race(Engine("a", behaviour), Engine("b", behaviour)), max_calls=1)

    await spend(budget, 5)

    assert budget.stats().used == 0


async def test_a_call_of_which_one_attempt_reached_an_engine_is_spent() -> None:
    budget = Budget(Fallback(Engine("a", fails(UnavailableError("x"))), Engine("b", BROKEN)), max_calls=9)

    await spend(budget, 1)

    assert budget.stats().used == 1


async def test_a_budget_below_a_budget_that_is_used_up_costs_nothing_above() -> None:
    outer = Budget(Budget(Engine("a"), max_calls=1), max_calls=9)

    await spend(outer, 5)

    assert outer.stats().used == 1


async def test_a_breaker_that_is_open_below_costs_nothing() -> None:
    engine = Engine("a", BROKEN)
    budget = Budget(Breaker(engine, threshold=2), max_calls=10)

    await spend(budget, 15)

    assert (len(engine.calls), budget.stats().used) == (2, 2)


async def test_the_other_way_round_a_spent_budget_does_not_open_the_breaker() -> None:
    breaker = Breaker(Budget(Engine("a"), max_calls=2), threshold=1)

    assert await spend(breaker, 9) == 7

    assert breaker.stats().state == "closed"


async def test_zero_calls_are_none() -> None:
    engine = Engine("a")

    assert await spend(Budget(engine, max_calls=0), 3) == 3
    assert not engine.calls


async def test_the_window_starts_with_its_first_call_and_ends_to_the_instant() -> None:
    clock = Clock()
    budget = Budget(Engine("a"), max_calls=2, per=60.0, clock=clock)

    clock.now = 100.0
    assert await spend(budget, 3) == 1
    clock.now = 159.9
    assert await spend(budget, 1) == 1
    clock.now = 160.0
    assert await spend(budget, 3) == 1
    assert (budget.stats().used, budget.stats().refused) == (2, 3)


async def test_a_window_without_end_never_starts_over() -> None:
    clock = Clock()
    budget = Budget(Engine("a"), max_calls=1, clock=clock)

    await spend(budget, 1)
    clock.now = 10.0**9

    with pytest.raises(BudgetError, match=r"'a'.*1 call, .*never resets"):
        await directly(budget)


async def test_a_refusal_names_the_engine_the_calls_and_the_window() -> None:
    budget = Budget(Engine("a"), max_calls=0, per=60.0)

    with pytest.raises(BudgetError, match=r"'a'.*0 calls.*per 60 s") as caught:
        await directly(budget)

    assert caught.value.detail == "0 calls used"


async def test_a_unit_is_not_given_back_to_a_window_it_was_not_taken_from() -> None:
    clock = Clock()
    budget = Budget(Engine("a", fails(BusyError("x"), after=1.0), answers()), max_calls=1, per=60.0, clock=clock)

    async with anyio.create_task_group() as group:
        group.start_soon(spend, budget, 1)
        await anyio.sleep(0.5)
        clock.now = 60.0
        await spend(budget, 1)

    assert budget.stats().used == 1


@pytest.mark.parametrize("cancelled", [False, True])
async def test_many_at_once_never_get_through_above_the_cap(cancelled: bool) -> None:
    engine = Engine("a", answers(after=1.0))
    budget = Budget(engine, max_calls=10)

    async def one_call(number: int) -> None:
        with anyio.move_on_after(0.5 if cancelled and number % 3 == 0 else 60.0):
            await spend(budget, 1)

    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(one_call, number)

    assert len(engine.calls) == 10
    assert (budget.stats().used, budget.stats().refused) == (10, 90)


async def test_decisions_and_answers_are_paid_from_one_budget() -> None:
    budget = Budget(Engine("a"), max_calls=2)

    await directly(budget)
    await scored_directly(budget)

    with pytest.raises(BudgetError):
        await scored_directly(budget)


async def test_an_operation_that_the_engine_does_not_have_costs_nothing() -> None:
    budget = Budget(DecidingOnly("a"), max_calls=1)

    with pytest.raises(UnsupportedError):
        await scored_directly(budget)

    assert (budget.stats().used, budget.stats().refused) == (0, 0)


async def test_a_spent_budget_stops_the_chain_and_starts_no_backup() -> None:
    spare = Engine("b")

    trace = await trace_of(Fallback(Budget(Engine("a"), max_calls=0), spare))

    assert trace.stopped_by == "budget"
    assert trace.usage.exact, "a refused call costs nothing"
    assert not spare.calls


async def test_a_hedge_whose_backup_is_out_of_budget_waits_for_its_primary() -> None:
    trace = await trace_of(Hedged(Engine("a", answers(after=0.9)), Budget(Engine("b"), max_calls=0), delay=0.1))

    assert outcomes(trace.attempts) == [("a", "decided"), ("b", "budget")]
    assert not trace.stopped_by


async def test_a_loser_that_was_called_is_spent() -> None:
    budget = Budget(Engine("a", hangs()), max_calls=9)

    await trace_of(Race(budget, Engine("b", answers(after=0.1))))

    assert budget.stats().used == 1

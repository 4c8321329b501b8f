"""One limit on time that calls share: what is charged, what is cut off, and what is never held up."""

from collections.abc import Callable

import anyio
import pytest

from decide import Chain, Decided, NoAnswerError, Provider, TimeBudgetError, Undecided, time_budget
from decide.compose import Breaker, Budget, Fallback, Hedged, Race, Single
from tests.compose.asking import Ask, directly, for_both_operations, of, outcomes, trace_of
from tests.fakes import REQUEST, Engine, answers, fails, hangs, shields

A_BIT = 0.04
"""Seconds that are too few to start a call."""


async def test_time_in_engines_is_charged_and_other_time_is_not() -> None:
    with time_budget(10.0) as budget:
        await directly(Single(Engine("a", answers(after=1.0))))
        await anyio.sleep(5.0)
        await trace_of(Fallback(Engine("a", fails(ValueError("x"), after=0.5)), Engine("b", answers(after=0.25))))

    assert budget.spent == pytest.approx(1.75)
    assert budget.left == pytest.approx(8.25)


async def test_calls_that_overlap_are_charged_once() -> None:
    async def ask(begin: float, seconds: float) -> None:
        await anyio.sleep(begin)
        await directly(Single(Engine("a", answers(after=seconds)), default_timeout=60))

    with time_budget(60.0) as budget:
        async with anyio.create_task_group() as group:
            for begin, seconds in [(0, 2), (1, 2), (1.5, 0.5), (10, 1), (10, 1)]:
                group.start_soon(ask, begin, seconds)

    assert budget.spent == pytest.approx(3.0 + 1.0)


async def test_a_race_is_charged_as_long_as_it_takes() -> None:
    with time_budget(60.0) as budget:
        await trace_of(Race(*[Engine(name, answers(after=1.0)) for name in "abc"]))

    assert budget.spent == pytest.approx(1.0)


async def test_what_a_call_under_way_has_cost_is_seen_while_it_runs() -> None:
    with time_budget(10.0) as budget:
        async with anyio.create_task_group() as group:
            group.start_soon(directly, Single(Engine("a", answers(after=1.0))))
            await anyio.sleep(0.4)
            assert budget.spent == pytest.approx(0.4)
            assert budget.left == pytest.approx(9.6)


@pytest.mark.parametrize("behaviour", [hangs(), fails(ValueError("x"), after=0.5)], ids=["cut off", "failed"])
async def test_a_call_that_is_cut_off_is_charged_as_well(behaviour: Callable[[], object]) -> None:
    with time_budget(10.0) as budget, anyio.move_on_after(0.5):
        await directly_or_not(Single(Engine("a", behaviour), default_timeout=60))  # type: ignore[arg-type]

    assert budget.spent == pytest.approx(0.5)


async def directly_or_not(engine: object) -> None:
    try:
        await directly(engine)
    except Exception:  # noqa: BLE001 - how it ends is not what is looked at
        return


@for_both_operations
async def test_a_call_is_cut_off_when_the_shared_time_is_up(asked: Ask) -> None:
    begun = anyio.current_time()

    with time_budget(1.0) as budget:
        trace = await trace_of(Engine("a", hangs(), timeout=5.0), asked=asked)

    assert outcomes(trace.attempts) == [("a", "timeout")]
    assert of("a", trace.attempts).clipped
    assert anyio.current_time() - begun == pytest.approx(1.0)
    assert budget.left == 0.0


async def test_a_leg_whose_own_time_is_up_first_was_not_clipped() -> None:
    with time_budget(5.0):
        trace = await trace_of(Engine("a", hangs(), timeout=1.0))

    assert not of("a", trace.attempts).clipped


@pytest.mark.parametrize("around", [lambda breaker: breaker, Single, Race], ids=["bare", "single", "race"])
async def test_being_clipped_says_nothing_about_the_engine(around: Callable[[Provider], Provider]) -> None:
    breaker = Breaker(around(Breaker(Engine("a", hangs(), timeout=5.0), threshold=1)), threshold=1)

    with time_budget(1.0):
        trace = await trace_of(breaker)

    assert of("a", trace.attempts).outcome == "timeout"
    assert (breaker.state, breaker.stats().failures) == ("closed", 0)


async def test_an_engine_that_does_not_let_go_in_time_is_clipped_all_the_same() -> None:
    breaker = Breaker(Engine("a", shields(answers(after=3.0)), timeout=5.0), threshold=1)

    with time_budget(1.0):
        trace = await trace_of(breaker)

    assert of("a", trace.attempts).clipped
    assert breaker.stats().failures == 0


async def test_a_whole_timeout_under_a_budget_is_the_engines() -> None:
    breaker = Breaker(Engine("a", hangs(), timeout=1.0), threshold=1)

    with time_budget(5.0):
        await trace_of(breaker)

    assert breaker.state == "open"


@for_both_operations
async def test_without_time_nobody_is_called_and_the_chain_goes_on_to_what_needs_no_model(asked: Ask) -> None:
    model, rules = Engine("model"), Engine("rules", answers(after=1.0), deterministic=True, timeout=60)

    with time_budget(A_BIT):
        trace = await trace_of(model, rules, asked=asked)

    assert outcomes(trace.attempts) == [("model", "budget"), ("rules", "decided")]
    assert of("model", trace.attempts).dimension == "time"
    assert not model.calls
    assert trace.stopped_by == ""


@pytest.mark.parametrize(
    "combine", [Fallback, Race, lambda a, b: Hedged(a, b, delay=0.1)], ids=["fallback", "race", "hedged"]
)
async def test_without_time_a_combinator_ends_as_its_engines_do(combine: Callable[..., Provider]) -> None:
    engines = Engine("a"), Engine("b")

    with time_budget(A_BIT):
        ended = await Chain([combine(*engines), Engine("rules", deterministic=True)], min_confidence=None).decide(
            REQUEST
        )

    assert isinstance(ended, Decided)
    assert ended.trace.decided_by == "rules"
    assert not any(engine.calls for engine in engines)


@pytest.mark.parametrize("combine", [Fallback, lambda a, b: Hedged(a, b, delay=0.1)], ids=["fallback", "hedged"])
async def test_a_lack_of_time_starts_no_backup(combine: Callable[..., Provider]) -> None:
    spare = Engine("b", deterministic=True)

    with time_budget(A_BIT), pytest.raises(NoAnswerError) as caught:
        await directly(combine(Engine("a"), spare))

    assert not spare.calls
    assert len(caught.value.errors) == 1
    assert isinstance(caught.value.errors[0], TimeBudgetError)


async def test_a_backup_for_which_too_little_time_is_left_is_told_as_such() -> None:
    spare = Engine("b")

    with time_budget(1.0):
        trace = await trace_of(Fallback(Engine("a", fails(ValueError("x"), after=0.96)), spare))

    assert outcomes(trace.attempts) == [("a", "error"), ("b", "budget")]
    assert not spare.calls


async def test_a_hedge_for_which_too_little_time_is_left_is_no_hedge_and_no_attempt() -> None:
    spare = Engine("b")

    with time_budget(1.0):
        trace = await trace_of(Hedged(Engine("a", answers(after=0.98), timeout=5.0), spare, delay=0.97))

    assert outcomes(trace.attempts) == [("a", "decided")]
    assert not trace.hedge_fired
    assert not spare.calls


async def test_a_hedge_that_needs_no_model_starts_whatever_time_is_left() -> None:
    spare = Engine("b", deterministic=True)

    with time_budget(1.0):
        trace = await trace_of(Hedged(Engine("a", hangs(), timeout=5.0), spare, delay=0.97))

    assert outcomes(trace.attempts) == [("a", "cancelled"), ("b", "decided")]


async def test_an_engine_that_needs_no_model_is_never_cut_off_by_a_budget() -> None:
    with time_budget(1.0):
        trace = await trace_of(Engine("rules", answers(after=3.0), timeout=5.0, deterministic=True))

    assert outcomes(trace.attempts) == [("rules", "decided")]


async def test_a_lack_of_time_spends_no_call_and_trips_no_breaker() -> None:
    budget = Budget(breaker := Breaker(Engine("a"), threshold=1), max_calls=5)

    with time_budget(A_BIT):
        await trace_of(budget)

    assert budget.stats().used == 0
    assert (breaker.state, breaker.stats().failures) == ("closed", 0)


async def test_a_chain_of_models_only_is_undecided_without_time_and_that_is_no_outage() -> None:
    with time_budget(A_BIT):
        ended = await Chain([Engine("a"), Engine("b")]).decide(REQUEST)

    assert isinstance(ended, Undecided)
    assert not ended.trace.outage


async def test_fifty_milliseconds_are_enough_to_start() -> None:
    with time_budget(0.05):
        trace = await trace_of(Engine("a", answers(after=0.04)))

    assert trace.decided_by == "a"


@pytest.mark.parametrize(("outer", "inner"), [(1.0, 5.0), (5.0, 1.0)])
async def test_of_nested_budgets_the_tightest_counts(outer: float, inner: float) -> None:
    begun = anyio.current_time()

    with time_budget(outer), time_budget(inner) as budget:
        assert budget.left == 1.0
        trace = await trace_of(Engine("a", hangs(), timeout=60.0))

    assert of("a", trace.attempts).clipped
    assert anyio.current_time() - begun == pytest.approx(1.0)


async def test_what_an_inner_budget_spends_is_spent_from_the_outer_one_and_not_the_other_way() -> None:
    with time_budget(10.0) as outer:
        await directly(Single(Engine("a", answers(after=1.0))))
        with time_budget(5.0) as inner:
            await directly(Single(Engine("a", answers(after=0.5))))
            assert inner.spent == pytest.approx(0.5)

    assert outer.spent == pytest.approx(1.5)


async def test_a_budget_ends_with_its_block() -> None:
    with time_budget(A_BIT):
        pass

    assert (await trace_of(Engine("a"))).decided_by == "a"


async def test_tasks_started_inside_share_the_budget_and_others_do_not() -> None:
    spent: list[float] = []

    async def ask() -> None:
        await directly(Single(Engine("a", answers(after=1.0))))

    async with anyio.create_task_group() as group:
        with time_budget(10.0) as budget:
            async with anyio.create_task_group() as inside:
                inside.start_soon(ask)
            spent.append(budget.spent)
        group.start_soon(ask)
    spent.append(budget.spent)

    assert spent == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_a_limit_that_makes_no_sense_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds"), time_budget(seconds):
        raise AssertionError("not reached")

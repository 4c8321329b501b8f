"""Retries beside, around and inside the other pieces: they add up, and never multiply."""

from collections.abc import Callable

import anyio
import pytest

from decide import Chain, Decided, NoAnswerError, Provider, Stopped
from decide.compose import Breaker, Budget, Fallback, Hedged, Race, Retry, Single, Turns
from tests.compose.asking import directly, outcomes, trace_of
from tests.compose.test_retry import broken_connection, down, times
from tests.fakes import REQUEST, Engine, answers, fails, hangs

Shape = Callable[[Provider], Provider]

DEPTHS: dict[str, Shape] = {
    "bare": lambda retry: retry,
    "single": Single,
    "breaker": Breaker,
    "turns in a race": lambda retry: Race(Turns(retry)),
}
however_deep = pytest.mark.parametrize("inside", list(DEPTHS.values()), ids=list(DEPTHS))


@however_deep
@pytest.mark.parametrize("around", [Fallback, Hedged])
async def test_nothing_is_tried_again_while_a_backup_waits(
    around: type[Fallback] | type[Hedged], inside: Shape
) -> None:
    engine, spare = Engine("a", down(), timeout=60), Engine("b")
    begun = anyio.current_time()

    trace = await trace_of(around(inside(Retry(engine, retries=2)), spare))

    assert len(engine.calls) == 1
    assert anyio.current_time() == begun
    assert outcomes(trace.attempts) == [("a", "error"), ("b", "decided")]


async def test_the_last_resort_is_tried_again() -> None:
    engine = Engine("b", down(), answers())

    trace = await trace_of(Fallback(Engine("a", down()), Fallback(Engine("c", down()), Retry(engine, retries=2))))

    assert trace.decided_by
    assert len(engine.calls) == 2


async def test_layers_of_retries_do_not_multiply_what_a_breaker_counts() -> None:
    engine = Engine("a", down(), timeout=60)
    breaker = Breaker(Retry(engine, retries=2), threshold=5)

    trace = await trace_of(breaker)

    assert len(engine.calls) == 3
    assert outcomes(trace.attempts) == [("a", "error")]
    assert breaker.stats().failures == 1


async def test_a_breaker_inside_ends_the_tries_when_it_opens() -> None:
    engine = Engine("a", down(), timeout=60)

    trace = await trace_of(Retry(Breaker(engine, threshold=2), retries=5))

    assert len(engine.calls) == 2
    assert outcomes(trace.attempts) == [("a", "unavailable")]


async def test_a_budget_inside_counts_every_try_and_ends_them() -> None:
    engine = Engine("a", down(), timeout=60)
    budget = Budget(engine, max_calls=2)

    ended = await Chain([Retry(budget, retries=5)]).decide(REQUEST)

    assert isinstance(ended, Stopped)
    assert len(engine.calls) == budget.stats().used == 2


@however_deep
def test_a_budget_around_a_retry_is_refused(inside: Shape) -> None:
    with pytest.raises(ValueError, match="put the budget inside"):
        Budget(inside(Retry(Engine("a"), retries=1)), max_calls=3)


async def test_a_combinator_is_asked_again_when_all_that_went_wrong_in_it_may_pass() -> None:
    race = Race(Engine("a", down(), answers()), Engine("b", broken_connection(), hangs()))

    trace = await trace_of(Retry(race, retries=1, backoff=0.1))

    assert outcomes(trace.attempts) == [("a", "error"), ("b", "error"), ("a", "decided"), ("b", "cancelled")]


async def test_a_combinator_is_not_asked_again_when_something_in_it_will_not_pass() -> None:
    engines = Engine("a", down()), Engine("b", fails(ValueError("x")))

    with pytest.raises(NoAnswerError):
        await directly(Retry(Race(*engines), retries=1))

    assert [len(engine.calls) for engine in engines] == [1, 1]


async def test_a_caller_without_a_log_is_served_too() -> None:
    engine = Engine("a", down(wait=1000.0), answers())

    found = await Retry(engine, retries=1).decide(REQUEST)

    assert found is not None
    assert times(engine) == [0.0, 600.0]


async def test_one_retry_serves_many_at_once() -> None:
    ended: list[bool] = []
    retry = Retry(Engine("a", *[down(after=0.1)] * 20, answers(after=0.1), timeout=60), retries=3)

    async def ask() -> None:
        ended.append(isinstance(await Chain([retry]).decide(REQUEST), Decided))

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(ask)

    assert ended == [True] * 20

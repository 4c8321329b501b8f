"""When a hedge is over: as soon as nothing more can come of it."""

import anyio
import pytest

from decide import Chain, QuotaError, Stopped
from decide.compose import Breaker, Budget, Fallback, Hedged, Race
from tests.compose.asking import outcomes, trace_of
from tests.fakes import REQUEST, Engine, abstains, answers, fails, hangs


@pytest.mark.parametrize("around", [lambda hedged: hedged, Race], ids=["alone", "in a race"])
async def test_a_failure_that_starts_no_backup_does_not_wait_for_the_delay(around: type[Race]) -> None:
    engine = around(Hedged(Engine("a", fails(ValueError("x"), after=0.1)), Engine("b"), delay=5.0, fail_over=()))
    begun = anyio.current_time()

    trace = await trace_of(engine)

    assert outcomes(trace.attempts) == [("a", "error")]
    assert anyio.current_time() - begun == pytest.approx(0.1)


async def test_a_failure_of_both_does_not_wait_for_the_delay() -> None:
    hedged = Hedged(Engine("a", fails(ValueError("x"), after=0.1)), Engine("b", fails(ValueError("x"))), delay=5.0)
    begun = anyio.current_time()

    await trace_of(hedged)

    assert anyio.current_time() - begun == pytest.approx(0.1)


async def test_a_primary_that_a_person_has_to_see_ends_a_hedge_that_has_fired() -> None:
    backup = Engine("b", answers(after=1.0))
    begun = anyio.current_time()

    ended = await Chain([Hedged(Engine("a", fails(QuotaError("x"), after=0.5)), backup, delay=0.1)]).decide(REQUEST)

    assert isinstance(ended, Stopped)
    assert outcomes(ended.trace.attempts) == [("a", "quota"), ("b", "cancelled")]
    assert anyio.current_time() - begun == pytest.approx(0.5)


async def test_a_backup_without_a_budget_is_told_though_the_primary_has_no_opinion() -> None:
    backup = Budget(Engine("b"), max_calls=0)

    ended = await Chain([Hedged(Engine("a", abstains(after=0.5)), backup, delay=0.1)]).decide(REQUEST)

    assert isinstance(ended, Stopped)
    assert outcomes(ended.trace.attempts) == [("a", "abstained"), ("b", "budget")]


@pytest.mark.parametrize("combine", [Fallback, lambda a, b: Hedged(a, b, delay=5.0)], ids=["fallback", "hedged"])
async def test_no_backup_is_called_without_any_time_left(combine: type[Fallback]) -> None:
    backup = Engine("b")
    breaker = Breaker(combine(Engine("a", fails(ValueError("x")), hangs()), backup), threshold=1, probe_timeout=0.5)
    breaker.force_open(0.0)

    trace = await trace_of(Fallback(Engine("z", fails(ValueError("x"))), breaker))

    assert outcomes(trace.attempts) == [("z", "error"), ("a", "error"), ("b", "decided")]
    breaker.force_open(0.0)
    begun = anyio.current_time()
    trace = await trace_of(breaker)
    assert outcomes(trace.attempts) == [("a", "timeout")]
    assert anyio.current_time() - begun == pytest.approx(0.5)
    assert len(backup.calls) == 1

"""Observers: one finished trace for every run, and no way to break one."""

import anyio
import pytest

from decide import Chain, Decided, EngineError, QuotaError, Trace
from tests.compose.asking import Ask, for_both_operations, outcomes
from tests.fakes import REQUEST, Engine, abstains, fails, hangs


@for_both_operations
async def test_every_observer_gets_the_trace_that_is_returned(asked: Ask) -> None:
    seen: list[Trace] = []

    ended = await asked(Chain([Engine("a")], observers=[seen.append, seen.append]))

    assert [trace is ended.trace for trace in seen] == [True, True]


@pytest.mark.parametrize(
    "behaviour", [abstains(), fails(EngineError("x")), fails(QuotaError("x"))], ids=["abstains", "fails", "stops"]
)
async def test_a_run_without_a_decision_is_observed_too(behaviour: object) -> None:
    seen: list[Trace] = []

    ended = await Chain([Engine("a", behaviour)], observers=[seen.append]).decide(REQUEST)  # type: ignore[arg-type]

    assert seen == [ended.trace]
    assert not seen[0].cancelled


async def test_an_empty_run_is_observed_too() -> None:
    seen: list[Trace] = []

    await Chain([], observers=[seen.append]).decide(REQUEST)

    assert len(seen) == 1


async def test_an_observer_that_raises_breaks_neither_the_decision_nor_the_others() -> None:
    seen: list[Trace] = []

    def broken(trace: Trace) -> None:
        raise RuntimeError("the observer is broken")

    ended = await Chain([Engine("a")], observers=[broken, seen.append, broken]).decide(REQUEST)

    assert isinstance(ended, Decided)
    assert len(seen) == 1


async def test_an_observer_that_raises_does_not_stop_a_cancellation() -> None:
    def broken(trace: Trace) -> None:
        raise RuntimeError("the observer is broken")

    with anyio.move_on_after(0.5) as scope:
        await Chain([Engine("a", hangs())], observers=[broken]).decide(REQUEST)

    assert scope.cancelled_caught


async def test_a_run_that_is_cancelled_is_observed_once_and_marked() -> None:
    seen: list[Trace] = []

    with anyio.move_on_after(0.5):
        await Chain([Engine("a", hangs())], observers=[seen.append]).decide(REQUEST)

    (trace,) = seen
    assert trace.cancelled
    assert outcomes(trace.attempts) == [("a", "cancelled")]
    assert (trace.decided_by, trace.stopped_by) == ("", "")


async def test_a_run_that_ends_in_no_error_is_observed_too() -> None:
    seen: list[Trace] = []

    with pytest.raises(KeyboardInterrupt):
        await Chain([Engine("a", fails(KeyboardInterrupt()))], observers=[seen.append]).decide(REQUEST)

    assert len(seen) == 1


async def test_a_trace_holds_nothing_of_what_was_asked() -> None:
    seen: list[Trace] = []

    await Chain([Engine("a", fails(ValueError(REQUEST.text)))], observers=[seen.append]).decide(REQUEST)

    assert REQUEST.text not in repr(seen)


def test_an_observer_that_nobody_would_await_is_refused() -> None:
    async def observe(trace: Trace) -> None:
        raise AssertionError(trace)

    with pytest.raises(TypeError, match="plain function"):
        Chain([], observers=[observe])  # type: ignore[list-item]

"""Blocking engines in threads: bounded, counted, left behind when their call is over, and never in anybody's way."""

import threading
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

from decide import (
    BusyError,
    Chain,
    Decision,
    Hedged,
    Race,
    Request,
    ScoreRequest,
    ScoreResult,
    Single,
    ThreadStats,
    Undecided,
    in_thread,
)
from decide.compose import Breaker
from tests.compose.asking import of, outcomes, trace_of
from tests.fakes import QUESTIONS, REQUEST, Engine, decision, result

pytestmark = pytest.mark.real_time


def blocking_engine(**attributes: object) -> Any:
    """A blocking engine with just these attributes."""
    return SimpleNamespace(**attributes)


class Blocking:
    """An engine that blocks until it is let go."""

    name = "a"

    def __init__(self, then: Callable[[], Decision | None] = decision) -> None:
        self.gate = threading.Event()
        self.begun = threading.Semaphore(0)
        self.ended = threading.Semaphore(0)
        self.then = then
        self.threads: set[int] = set()

    def decide(self, request: Request) -> Decision | None:
        self.threads.add(threading.get_ident())
        self.begun.release()
        try:
            assert self.gate.wait(60)
            return self.then()
        finally:
            self.ended.release()


class Asked:
    """An engine that answers at once."""

    name = "a"

    def decide(self, request: Request) -> Decision | None:
        return decision()

    def score(self, request: ScoreRequest) -> ScoreResult:
        return result()


async def until(event: threading.Semaphore) -> None:
    assert await anyio.to_thread.run_sync(lambda: event.acquire(timeout=60))


async def abandon(blocking: Blocking, call: Callable[[Request], Coroutine[Any, Any, object]]) -> None:
    """Give up on a call once its thread is at work."""
    async with anyio.create_task_group() as group:
        group.start_soon(call, REQUEST)
        await until(blocking.begun)
        group.cancel_scope.cancel()


async def until_stats(threaded: object, expected: ThreadStats) -> None:
    """Wait for a thread that has done its work to give its permit back."""
    with anyio.fail_after(30):
        while threaded.stats() != expected:  # type: ignore[attr-defined]  # noqa: ASYNC110 - a thread sets no event
            await anyio.sleep(0.001)


async def test_a_blocking_engine_answers_like_any_other() -> None:
    engine = in_thread(Asked())

    assert await engine.decide(REQUEST) == decision()
    assert await engine.score(QUESTIONS) == result()
    assert (await trace_of(engine)).decided_by == "a"
    assert engine.stats() == ThreadStats(running=0, abandoned=0, max=8)


async def test_it_runs_in_a_thread_that_is_not_the_loops() -> None:
    engine = Blocking()
    engine.gate.set()

    await in_thread(engine).decide(REQUEST)

    assert engine.threads
    assert threading.get_ident() not in engine.threads


async def test_what_it_raises_arrives() -> None:
    def fail() -> Decision:
        raise ValueError("x")

    engine = Blocking(fail)
    engine.gate.set()
    threaded = in_thread(engine)

    with pytest.raises(ValueError, match="x"):
        await threaded.decide(REQUEST)

    assert threaded.stats().running == 0


async def test_a_blocking_primary_holds_up_no_hedge_and_its_late_answer_is_dropped() -> None:
    blocking = Blocking()
    threaded = in_thread(blocking)
    breaker = Breaker(threaded, threshold=1)

    async def answer_once_the_primary_is_at_work() -> object:
        await until(blocking.begun)
        return decision()

    spare = Engine("b", answer_once_the_primary_is_at_work)
    with anyio.fail_after(30):
        trace = await trace_of(Hedged(breaker, spare, delay=0.001, default_timeout=60))

    assert outcomes(trace.attempts) == [("a", "cancelled"), ("b", "decided")]
    assert threaded.stats() == ThreadStats(running=1, abandoned=1, max=8)
    blocking.gate.set()
    await until_stats(threaded, ThreadStats(running=0, abandoned=0, max=8))
    assert breaker.stats().failures == 0


async def test_a_late_error_of_an_abandoned_thread_is_dropped_too() -> None:
    def fail() -> Decision:
        raise ValueError("x")

    blocking = Blocking(fail)
    threaded = in_thread(blocking)

    trace = await trace_of(Single(threaded, default_timeout=0.02))
    blocking.gate.set()
    await until_stats(threaded, ThreadStats(running=0, abandoned=0, max=8))

    assert of("a", trace.attempts).outcome == "timeout"


async def test_permits_come_back_when_the_thread_ends_and_not_when_its_call_is_over() -> None:
    blocking = Blocking()
    threaded = in_thread(blocking, max_threads=2)

    for _ in range(2):
        await abandon(blocking, threaded.decide)
    with pytest.raises(BusyError, match="2 threads at work"):
        await threaded.decide(REQUEST)
    assert threaded.stats() == ThreadStats(running=2, abandoned=2, max=2)

    blocking.gate.set()
    await until_stats(threaded, ThreadStats(running=0, abandoned=0, max=2))
    assert await threaded.decide(REQUEST) == decision()


async def test_threads_are_bounded_and_who_finds_none_is_busy_at_once() -> None:
    blocking = Blocking()
    breaker = Breaker(in_thread(blocking, max_threads=3), threshold=1)
    ended: list[str] = []

    async def race() -> None:
        trace = await trace_of(Race(breaker, default_timeout=60))
        ended.append(of("a", trace.attempts).outcome)
        if len(ended) == 17:
            blocking.gate.set()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(race)

    assert ended == ["busy"] * 17 + ["decided"] * 3
    assert len(blocking.threads) <= 3
    assert breaker.state == "closed"


async def test_the_threads_of_one_engine_are_not_taken_from_others() -> None:
    blocking = Blocking()
    slow = in_thread(blocking, max_threads=100)

    async with anyio.create_task_group() as group:
        for _ in range(60):
            group.start_soon(slow.decide, REQUEST)
        with anyio.fail_after(30):
            assert await in_thread(Asked()).decide(REQUEST) == decision()
        blocking.gate.set()


async def test_a_call_that_is_cut_off_before_its_thread_begins_gives_the_permit_back() -> None:
    blocking = Blocking()
    threaded = in_thread(blocking, max_threads=1)

    with anyio.CancelScope() as scope:
        scope.cancel()
        await threaded.decide(REQUEST)

    assert threaded.stats() == ThreadStats(running=0, abandoned=0, max=1)
    blocking.gate.set()
    assert await threaded.decide(REQUEST) == decision()


async def test_a_thread_that_cannot_be_started_gives_the_permit_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise RuntimeError("can't start new thread")

    threaded = in_thread(Asked(), max_threads=1)

    with monkeypatch.context() as patch:
        patch.setattr(anyio.to_thread, "run_sync", fail)
        with pytest.raises(RuntimeError, match="thread"):
            await threaded.decide(REQUEST)

    assert await threaded.decide(REQUEST) == decision()


async def test_a_thread_that_begins_as_its_call_is_cut_off_does_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    late: list[Callable[[], object]] = []

    async def cut_off(work: Callable[..., object], *args: object, **_: object) -> None:
        late.append(lambda: work(*args))
        raise TimeoutError

    threaded = in_thread(Blocking(), max_threads=1)
    with monkeypatch.context() as patch:
        patch.setattr(anyio.to_thread, "run_sync", cut_off)
        with pytest.raises(TimeoutError):
            await threaded.decide(REQUEST)

    assert late[0]() is None
    assert threaded.stats() == ThreadStats(running=0, abandoned=0, max=1)


async def test_its_own_call_to_the_loop_works_from_inside_the_thread() -> None:
    def ask_back() -> Decision:
        anyio.from_thread.run(anyio.sleep, 0)
        return decision()

    blocking = Blocking(ask_back)
    blocking.gate.set()

    assert await in_thread(blocking).decide(REQUEST) == decision()


@pytest.mark.parametrize("missing", ["decide", "score"])
async def test_an_operation_that_the_engine_lacks_is_lacking_here_too(missing: str) -> None:
    methods = {name: getattr(Asked(), name) for name in {"decide", "score"} - {missing}}
    threaded = in_thread(blocking_engine(name="a", **methods))

    assert getattr(threaded, missing) is None
    chain = Chain([threaded])
    ended = await (chain.decide(REQUEST) if missing == "decide" else chain.score(QUESTIONS))
    assert isinstance(ended, Undecided)
    assert outcomes(ended.trace.attempts) == [("a", "unsupported")]
    assert not ended.trace.outage


def test_it_looks_like_its_engine() -> None:
    blocking = blocking_engine(name="a", decide=decision, decision_timeout=3.0, deterministic=True)

    single = Single(in_thread(blocking))

    assert (single.decision_timeout, single.deterministic) == (3.0, True)
    assert repr(in_thread(blocking)) == "<in_thread a>"


def test_one_that_answers_one_question_at_a_time_is_not_put_into_two_legs() -> None:
    blocking = blocking_engine(name="a", decide=decision, exclusive=True)

    with pytest.raises(ValueError, match="one question at a time"):
        Race(in_thread(blocking), Single(in_thread(blocking)))


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_a_number_of_threads_out_of_range_is_refused(threads: int) -> None:
    with pytest.raises(ValueError, match="max_threads"):
        in_thread(Asked(), max_threads=threads)


async def test_a_call_straight_to_a_combinator_leaves_its_thread_behind_as_well() -> None:
    blocking = Blocking()
    threaded = in_thread(blocking)

    await abandon(blocking, Single(threaded, default_timeout=60).decide)

    assert threaded.stats().abandoned == 1
    blocking.gate.set()
    await until_stats(threaded, ThreadStats(running=0, abandoned=0, max=8))

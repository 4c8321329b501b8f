"""Whatever is composed of whatever engines: the answer can be used, and the trace is what the engines saw."""

import asyncio
from typing import Any

import anyio
import hypothesis.strategies as st
import pytest
import trio
from hypothesis import given, settings
from trio.testing import MockClock

from decide import (
    NARROWING,
    Attempt,
    AuthError,
    Breaker,
    Budget,
    BusyError,
    Chain,
    Decided,
    EngineError,
    Fallback,
    Hedged,
    InvalidAnswerError,
    Provider,
    QuotaError,
    Race,
    Retry,
    SelectionPolicy,
    Single,
    Trace,
    Turns,
    UnavailableError,
    validate,
    validate_score_result,
)
from tests.compose.asking import Ask, Ended, to_decide, to_score
from tests.fakes import (
    QUESTIONS,
    TAXONOMY,
    Behaviour,
    Call,
    Engine,
    Says,
    TracedEngine,
    answers,
    blocks,
    cleans_up,
    fails,
    hangs,
    shields,
    swallows,
)
from tests.virtual_time import AutojumpLoop

UNCALLED = {"unavailable", "unsupported", "busy", "budget"}
TIMEOUT = 1.0
DELAYS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.999, 1.0, 1.5])
ERRORS = st.sampled_from(
    [
        EngineError("x", http_status=503),
        ValueError("x"),
        AuthError("x"),
        QuotaError("x"),
        InvalidAnswerError("x"),
        BusyError("x"),
        UnavailableError("x"),
        TimeoutError(),
        ExceptionGroup("x", [ValueError("x")]),
    ]
)
SAYS = st.sampled_from(Says)
QUIET: st.SearchStrategy[Behaviour] = st.one_of(
    st.builds(lambda says, after: answers(says, after=after), SAYS, DELAYS),
    st.builds(lambda error, after: fails(error, after=after), ERRORS, DELAYS),
)
BEHAVIOURS: st.SearchStrategy[Behaviour] = st.one_of(
    QUIET,
    st.builds(hangs),
    st.builds(shields, QUIET),
    st.builds(swallows, QUIET),
    st.builds(blocks, DELAYS, QUIET),
    st.builds(cleans_up, DELAYS),
    st.builds(lambda: cleans_up(0.1, error=RuntimeError("x"))),
)
POLICIES: st.SearchStrategy[SelectionPolicy | None] = st.sampled_from([None, NARROWING])


class Plans:
    """Draws compositions, and remembers the engines in them."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.engines: list[Engine] = []
        self.budgets: list[tuple[Budget, Engine]] = []

    def leaf(self) -> Engine:
        kind = self.draw(st.sampled_from([Engine, TracedEngine]))
        self.engines.append(kind(f"e{len(self.engines)}", self.draw(BEHAVIOURS), timeout=TIMEOUT))
        return self.engines[-1]

    def engine(self, depth: int) -> Provider:
        if depth == 0:
            return self.guarded_leaf()
        below = self.draw(st.integers(1, 3))
        name = f"n{len(self.engines)}at{depth}"
        policy = self.draw(POLICIES)
        match self.draw(st.sampled_from(["single", "fallback", "hedged", "race"])):
            case "single":
                return Single(self.engine(depth - 1), name=name, policy=policy)
            case "fallback":
                extra = self.draw(st.sets(st.sampled_from(["abstained", "uncertain", "quota"])))
                parts = [self.engine(depth - 1) for _ in range(below)]
                return Fallback(*parts, name=name, policy=policy, fail_over=["error", "timeout", "invalid", *extra])
            case "hedged":
                first, second = self.engine(depth - 1), self.engine(depth - 1)
                return Hedged(first, second, name=name, policy=policy, delay=self.draw(DELAYS))
            case _:
                return Race(*(self.engine(depth - 1) for _ in range(below)), name=name, policy=policy)

    def guarded_leaf(self) -> Provider:
        leaf = self.leaf()
        match self.draw(st.sampled_from(["bare", "breaker", "budget", "retry", "turns"])):
            case "breaker":
                return Breaker(leaf, threshold=1)
            case "budget":
                self.budgets.append((budget := Budget(leaf, max_calls=99), leaf))
                return budget
            case "retry":
                return Retry(leaf, retries=1, backoff=0.1)
            case "turns":
                return Turns(leaf)
            case _:
                return leaf


def _run(backend: str, ask: Ask, chain: Chain, patience: float | None) -> tuple[Ended | None, float, int]:
    """Run the call in a fresh loop; return how it ended, when, and how many tasks it left behind."""

    async def call() -> tuple[Ended | None, float, int]:
        begun, tasks = anyio.current_time(), _tasks()
        ended: Ended | None = None
        with anyio.move_on_after(patience):
            ended = await ask(chain)
        return ended, anyio.current_time() - begun, _tasks() - tasks

    if backend == "asyncio":
        return anyio.run(call, backend="asyncio", backend_options={"loop_factory": AutojumpLoop})
    return anyio.run(call, backend="trio", backend_options={"clock": MockClock(autojump_threshold=0)})


def _tasks() -> int:
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:
        return trio.lowlevel.current_statistics().tasks_living


def _agree(trace: Trace, engine: Engine) -> None:
    """
    Every call of the engine is in the trace, and nothing else, unless it ended before the engine was reached.
    """
    told = [one for one in trace.attempts if one.provider == engine.name]
    unreached = [one for one in told if one.outcome in UNCALLED or (one.outcome == "cancelled" and not one.latency)]
    reached = [one for one in told if one not in unreached]
    assert sum(one.tries for one in reached) <= len(engine.calls) <= sum(one.tries for one in told)
    for attempt, call in zip(reversed(reached), reversed(engine.calls), strict=False):
        _agree_on_one(attempt, call)


def _agree_on_one(attempt: Attempt, call: Call) -> None:
    assert call.ended is not None
    if call.end == "cancelled":
        assert attempt.outcome in {"cancelled", "timeout"}
    if attempt.outcome in {"decided", "uncertain", "low_confidence", "abstained"}:
        assert call.end == "answered"
    assert attempt.latency >= call.ended - call.started - 1e-6


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_run_of_anything_ends_well(backend: str, data: st.DataObject) -> None:
    plans = Plans(data.draw)
    policy = data.draw(POLICIES)
    traces: list[Trace] = []
    depth = data.draw(st.integers(0, 2))
    asked = data.draw(st.sampled_from([to_decide, to_score]))
    chain = Chain(
        [plans.engine(depth) for _ in range(data.draw(st.integers(1, 2)))],
        policy=policy,
        min_confidence=None,
        observers=[traces.append],
    )

    ended, took, left_behind = _run(backend, asked, chain, data.draw(st.none() | DELAYS))

    assert left_behind == 0
    (trace,) = traces
    assert trace.cancelled == (ended is None)
    if ended is not None:
        assert ended.trace is trace
    for engine in plans.engines:
        assert engine.running == 0
        _agree(trace, engine)
    for budget, engine in plans.budgets:
        assert budget.stats().used <= len(engine.calls)
    for attempt in trace.attempts:
        assert attempt.latency >= 0.0
        assert attempt.started + attempt.latency + attempt.waited <= took + 1e-6
    if isinstance(ended, Decided):
        assert trace.engine in {engine.name for engine in plans.engines}
        if ended.decision is not None:
            assert ended.decision.actionable
            assert "decided" in {one.outcome for one in trace.attempts}
            assert not validate(ended.decision, TAXONOMY)
        else:
            assert ended.result is not None
            assert not validate_score_result(QUESTIONS, ended.result)

"""A loop that `anyio.run` did not start, as in a notebook or below a web framework: timers work there as well."""

import asyncio
from collections.abc import Awaitable, Callable

from decide import Breaker, Hedged, Race, Trace
from tests.compose.asking import Ask, for_both_operations, trace_of
from tests.fakes import Engine, answers, fails, hangs
from tests.virtual_time import AutojumpLoop


def on_plain_asyncio(run: Callable[[], Awaitable[Trace]]) -> Trace:
    async def main() -> Trace:
        return await run()

    with asyncio.Runner(loop_factory=AutojumpLoop) as runner:
        return runner.run(main())


@for_both_operations
def test_a_hedge_fires_when_its_time_comes(asked: Ask) -> None:
    pair = Hedged(Breaker(Engine("primary", answers(after=1.0))), Engine("backup", answers()), delay=0.05)

    trace = on_plain_asyncio(lambda: trace_of(pair, asked=asked))

    assert (trace.hedge_fired, trace.engine) == (True, "backup")
    assert [attempt.outcome for attempt in trace.attempts] == ["cancelled", "decided"]


@for_both_operations
def test_a_hedge_that_is_not_needed_does_not_fire(asked: Ask) -> None:
    pair = Hedged(Engine("primary", answers(after=0.01)), Engine("backup", answers()), delay=0.05)

    trace = on_plain_asyncio(lambda: trace_of(pair, asked=asked))

    assert (trace.hedge_fired, trace.engine, len(trace.attempts)) == (False, "primary", 1)


@for_both_operations
def test_a_failure_starts_the_backup_at_once(asked: Ask) -> None:
    pair = Hedged(Engine("primary", fails(RuntimeError("x"))), Engine("backup", answers()), delay=0.05)

    trace = on_plain_asyncio(lambda: trace_of(pair, asked=asked))

    assert (trace.fallback_fired, trace.engine) == (True, "backup")


@for_both_operations
def test_a_race_ends_with_its_first_answer(asked: Ask) -> None:
    race = Race(Engine("slow", hangs()), Engine("fast", answers(after=0.01)))

    trace = on_plain_asyncio(lambda: trace_of(race, asked=asked))

    assert trace.engine == "fast"
    assert [attempt.outcome for attempt in trace.attempts] == ["cancelled", "decided"]


@for_both_operations
def test_a_chain_times_an_engine_out(asked: Ask) -> None:
    trace = on_plain_asyncio(lambda: trace_of(Engine("silent", hangs(), timeout=0.1), asked=asked))

    assert [attempt.outcome for attempt in trace.attempts] == ["timeout"]

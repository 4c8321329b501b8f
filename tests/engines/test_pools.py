"""Connections are kept by the loop that opened them, closed when it ends, and shared with nobody."""

import asyncio
import gc
import threading
import time
import warnings
from collections.abc import AsyncGenerator, Coroutine, Iterator

import anyio
import pytest

from decide import Attempt, Chain, time_budget
from decide.attempt_log import AttemptLog
from decide.engines import _loop_ends
from decide.engines._connections import Connections
from decide.engines.systemone import SystemOneEngine
from tests.engines.pooling import Kept, keeping
from tests.engines.wire import asking
from tests.faults.connections import never_answers
from tests.faults.server import misbehaving

pytestmark = pytest.mark.real_time


@pytest.fixture
def kept() -> Iterator[Kept]:
    with keeping() as served:
        yield served


async def calls(engine: SystemOneEngine, count: int = 3) -> None:
    for _ in range(count):
        assert (await engine.score(asking())).noul("n").noul == 0.9


async def test_one_connection_serves_one_call_after_another(kept: Kept) -> None:
    async with SystemOneEngine(kept.url) as engine:
        await calls(engine)
        assert (kept.opened, kept.open) == (1, 1)

    assert await anyio.to_thread.run_sync(kept.all_closed)


async def test_calls_at_once_have_a_connection_each_and_keep_them(kept: Kept) -> None:
    engine = SystemOneEngine(kept.url)
    for _ in range(3):
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(calls, engine, 4)

    assert len(kept.heads) == 60
    assert kept.opened <= 5


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_connections_are_closed_when_their_loop_ends(kept: Kept, backend: str) -> None:
    engine = SystemOneEngine(kept.url)

    for turn in range(1, 4):
        anyio.run(calls, engine, backend=backend)
        assert kept.all_closed()
        assert kept.opened == turn


def test_one_engine_serves_loops_of_both_backends_and_threads_with_loops_of_their_own(kept: Kept) -> None:
    engine = SystemOneEngine(kept.url)

    asyncio.run(calls(engine))
    anyio.run(calls, engine, backend="trio")
    threads = [
        threading.Thread(target=anyio.run, args=(calls, engine, 20), kwargs={"backend": backend})
        for backend in ("asyncio", "trio") * 3
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(kept.heads) == 126
    assert kept.opened == 8
    assert kept.all_closed()


def test_a_loop_that_was_run_by_hand_and_never_wound_up_leaves_no_warning(kept: Kept) -> None:
    engine = SystemOneEngine(kept.url)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            _run_by_hand(calls(engine))
        gc.collect()

        assert kept.opened == 2
        assert kept.open <= 1  # the second loop's: the first one's were closed when the second was first seen
        engine.close()

    assert kept.all_closed()
    assert [str(one.message) for one in caught if issubclass(one.category, ResourceWarning)] == []


def _run_by_hand(call: Coroutine[None, None, None]) -> None:
    loop = asyncio.new_event_loop()
    loop.run_until_complete(call)
    loop.close()


async def test_an_engine_that_nobody_uses_any_more_takes_its_connections_along(kept: Kept) -> None:
    engine = SystemOneEngine(kept.url)
    await calls(engine)

    del engine
    gc.collect()

    assert await anyio.to_thread.run_sync(kept.all_closed)


def test_loops_that_ended_are_not_remembered(kept: Kept) -> None:
    engine = SystemOneEngine(kept.url)
    for backend in ("asyncio", "trio", "asyncio"):
        anyio.run(calls, engine, backend=backend)
    gc.collect()

    assert not any(getattr(loop, "is_closed", lambda: True)() for loop in _loop_ends._ends)


def test_a_call_made_while_a_loop_winds_up_is_answered_and_its_connection_closed(kept: Kept) -> None:
    engine = SystemOneEngine(kept.url)
    answered: list[float | None] = []

    async def late() -> None:
        await calls(engine, 1)
        winding_up = _at_the_end(engine, answered)
        held.append(winding_up)
        await anext(winding_up)

    held: list[object] = []
    asyncio.run(late())

    assert answered == [0.9]
    assert kept.all_closed()


async def _at_the_end(engine: SystemOneEngine, answered: list[float | None]) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        answered.append((await engine.score(asking())).noul("n").noul)


async def test_a_connection_that_was_idle_too_long_is_not_used_again(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("decide.engines._connections.time.monotonic", lambda: now[0])
    engine = SystemOneEngine(kept.url)

    await calls(engine, 1)
    now[0] += 3.9
    await calls(engine, 1)
    assert kept.opened == 1
    now[0] += 4.1
    await calls(engine, 1)

    assert kept.opened == 2


async def test_what_is_too_old_is_closed_as_others_come_back(kept: Kept) -> None:
    connections = Connections("127.0.0.1", kept.port, keep_alive=0.05)

    async def one() -> None:
        await connections.exchange("POST", b"/", {"Host": "h", "Content-Length": "0"}, b"", longest=1000)

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(one)
    opened = kept.opened
    time.sleep(0.06)  # noqa: ASYNC251 - nobody else runs, and the clock of connections is the machine's
    await one()

    assert opened > 1
    assert connections.idle == 1


async def test_a_cancelled_call_closes_its_connection_and_leaves_its_turn(kept: Kept) -> None:
    engine = SystemOneEngine(kept.url, concurrency=1)
    for _ in range(20):
        with anyio.move_on_after(0):
            await engine.score(asking())

    await calls(engine)


async def test_a_caller_whose_turn_does_not_come_is_busy_and_nothing_is_held_against_the_server() -> None:
    async with misbehaving(never_answers) as served:
        engine = SystemOneEngine(served.url, concurrency=1, decision_timeout=0.5)
        chain = Chain([engine])
        outcomes: list[tuple[str, str]] = []
        waits: list[float] = []

        async def call() -> None:
            trace = (await chain.score(asking())).trace
            outcomes.extend((attempt.outcome, attempt.detail) for attempt in trace.attempts)
            waits.extend(attempt.waited for attempt in trace.attempts)

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await anyio.sleep(0.01)
            group.start_soon(call)

    assert sorted(outcomes) == [("busy", "no connection"), ("timeout", "")]
    assert max(waits) == pytest.approx(0.45, abs=0.04)


async def test_how_long_a_caller_waits_can_be_said() -> None:
    async with misbehaving(never_answers) as served:
        engine = SystemOneEngine(served.url, concurrency=1, decision_timeout=5.0, wait=0.0)
        log, took = AttemptLog(), 0.0
        async with anyio.create_task_group() as group:
            group.start_soon(engine.score, asking())
            await anyio.sleep(0.05)
            begun = anyio.current_time()
            with pytest.raises(Exception, match="no connection came free"):
                await engine.score_traced(asking(), log)
            took = anyio.current_time() - begun
            group.cancel_scope.cancel()

    assert took < 1.0
    assert [attempt.outcome for attempt in log.report().attempts] == ["busy"]


async def test_waiting_for_a_turn_is_charged_to_a_time_budget_and_not_to_the_server(kept: Kept) -> None:
    engine = SystemOneEngine(kept.url, concurrency=1)
    chain = Chain([engine])
    attempts: list[Attempt] = []

    async def call() -> None:
        attempts.extend((await chain.score(asking())).trace.attempts)

    with time_budget(5.0):
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(call)

    assert [attempt.outcome for attempt in attempts] == ["decided"] * 10
    assert kept.opened == 1
    assert max(attempt.waited for attempt in attempts) > 0
    assert sum(attempt.latency for attempt in attempts) < 5 * max(
        attempt.latency + attempt.waited for attempt in attempts
    )

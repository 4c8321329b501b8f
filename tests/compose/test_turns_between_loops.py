"""One set of turns for callers in several threads, each with an event loop of its own."""

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import anyio
import anyio.lowlevel
import pytest

from decide import Decision, Request
from decide._turn_queue import TurnQueue, _Waiter
from decide.compose import Turns
from tests.fakes import REQUEST, decision

BACKENDS = [*itertools.combinations_with_replacement(("asyncio", "trio"), 2)]
between_loops = pytest.mark.parametrize("backends", BACKENDS, ids=" and ".join)


class Guarded:
    """An engine that fails when it has more callers than it can serve, whatever thread they are in."""

    name = "a"

    def __init__(self, at_once: int) -> None:
        self.places = threading.BoundedSemaphore(at_once)
        self.served = 0

    async def decide(self, request: Request) -> Decision | None:
        if not self.places.acquire(blocking=False):
            raise RuntimeError("too many at once")
        try:
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            self.served += 1
            return decision()
        finally:
            self.places.release()


def in_threads(*calls: Callable[[], object]) -> list[object]:
    with ThreadPoolExecutor(len(calls)) as threads:
        return [future.result(timeout=60) for future in [threads.submit(call) for call in calls]]


@between_loops
def test_callers_in_several_loops_never_crowd_the_engine_and_are_all_served(backends: tuple[str, str]) -> None:
    engine = Guarded(1)
    turns = Turns(engine, wait=60)

    async def ask(callers: int) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(callers):
                group.start_soon(turns.decide, REQUEST)

    in_threads(*[lambda backend=backend: anyio.run(ask, 100, backend=backend) for backend in backends])

    assert engine.served == 200


@between_loops
def test_callers_that_give_up_in_several_loops_lose_no_turn(backends: tuple[str, str]) -> None:
    engine = Guarded(2)
    turns = Turns(engine, at_once=2, wait=60)

    async def ask_and_give_up(callers: int) -> None:
        async def one(patience: int) -> None:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as group:
                    group.start_soon(turns.decide, REQUEST)
                    for _ in range(patience):
                        await anyio.lowlevel.checkpoint()
                    scope.cancel()

        async with anyio.create_task_group() as group:
            for number in range(callers):
                group.start_soon(one, number % 23)

    async def ask_both_at_once() -> None:
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(turns.decide, REQUEST)
                group.start_soon(turns.decide, REQUEST)

    in_threads(*[lambda backend=backend: anyio.run(ask_and_give_up, 200, backend=backend) for backend in backends])

    before = engine.served
    for backend in backends:
        anyio.run(ask_both_at_once, backend=backend)
    assert engine.served == before + 4


async def test_a_turn_counts_though_the_word_of_it_has_not_come_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = TurnQueue(1)
    came: list[bool] = []

    async def wait() -> None:
        came.append(await queue.take(1.0))

    monkeypatch.setattr(_Waiter, "wake", lambda _: None)
    queue.take_free()
    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.sleep(0.5)
        queue.pass_on()

    assert came == [True]
    queue.pass_on()
    assert queue.take_free()

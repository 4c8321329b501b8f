"""One breaker and one budget, shared by two event loops in two threads: every count is exact."""

import sys
import threading
from collections.abc import Callable, Iterator

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from decide import Breaker, Budget, BudgetError, DecideError, EngineError, Provider, Single, UnavailableError
from tests.compose.asking import directly
from tests.fakes import Engine, Says, fails

CALLS = 1_000
pytestmark = pytest.mark.real_time


@pytest.fixture(autouse=True)
def restless_threads() -> Iterator[None]:
    """Let threads take over from each other at almost every step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class Counted(Engine):
    """An engine that is called from several threads, and counts that exactly."""

    def __init__(self, name: str, *, broken: bool = False) -> None:
        super().__init__(name)
        self._broken = broken
        self._lock = threading.Lock()
        self.count = 0

    async def _behave(self) -> object:
        with self._lock:
            self.count += 1
        await anyio.lowlevel.checkpoint()
        if self._broken:
            raise EngineError("x")
        return Says.YES


async def in_two_threads(engine: Provider, backend: str, *, expected: type[Exception]) -> int:
    """Ask from two loops in two threads; return how many calls ended in the expected error."""
    refused: list[None] = []

    async def one_loop() -> None:
        async def ask() -> None:
            for _ in range(CALLS // 10):
                try:
                    await directly(engine)
                except expected:
                    refused.append(None)
                except EngineError:
                    continue

        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(ask)

    def one_thread() -> None:
        anyio.run(one_loop, backend=backend)

    async with anyio.create_task_group() as threads:
        threads.start_soon(anyio.to_thread.run_sync, one_thread)
        threads.start_soon(anyio.to_thread.run_sync, one_thread)
    return len(refused)


async def test_a_budget_admits_exactly_its_calls(anyio_backend_name: str) -> None:
    engine = Counted("a")
    budget = Budget(engine, max_calls=CALLS)

    refused = await in_two_threads(budget, anyio_backend_name, expected=BudgetError)

    assert (engine.count, refused) == (CALLS, CALLS)
    assert (budget.stats().used, budget.stats().refused) == (CALLS, CALLS)


async def test_a_budget_around_a_breaker_is_charged_exactly_for_the_calls_that_got_through(
    anyio_backend_name: str,
) -> None:
    engine = Counted("a", broken=True)
    breaker = Breaker(engine, threshold=50, cooldown=600.0)
    budget = Budget(breaker, max_calls=10 * CALLS)

    refused = await in_two_threads(budget, anyio_backend_name, expected=UnavailableError)

    assert breaker.stats().state == "open"
    assert breaker.stats().failures == 50
    assert engine.count + refused == 2 * CALLS
    assert budget.stats().used == engine.count


async def test_a_closed_breaker_lets_everyone_through(anyio_backend_name: str) -> None:
    engine = Counted("a")
    breaker = Breaker(engine, threshold=50)

    assert await in_two_threads(breaker, anyio_backend_name, expected=UnavailableError) == 0

    assert (engine.count, breaker.stats().state, breaker.stats().failures) == (2 * CALLS, "closed", 0)


@pytest.mark.parametrize("around", [lambda engine: engine, Single], ids=["alone", "in a combinator"])
async def test_threads_that_meet_a_half_open_breaker_send_one_probe(
    around: Callable[[Provider], Provider], anyio_backend_name: str
) -> None:
    now = [0.0]
    probes: list[None] = []
    gate = threading.Barrier(8)

    async def slow_probe() -> object:
        probes.append(None)
        await anyio.sleep(0.2)
        return Says.YES

    breaker = Breaker(
        Engine("a", fails(EngineError("x")), slow_probe), threshold=1, cooldown=10.0, clock=lambda: now[0]
    )
    with pytest.raises(EngineError):
        await directly(breaker)
    now[0] = 10.0
    refused: list[None] = []

    async def ask() -> None:
        try:
            await directly(around(breaker))
        except DecideError:
            refused.append(None)

    def one_thread() -> None:
        gate.wait(timeout=10.0)
        anyio.run(ask, backend=anyio_backend_name)

    async with anyio.create_task_group() as threads:
        for _ in range(8):
            threads.start_soon(anyio.to_thread.run_sync, one_thread)

    assert (len(probes), len(refused)) == (1, 7)
    assert breaker.stats().state == "closed"

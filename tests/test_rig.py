"""The rig itself: virtual time, both backends, a clean environment and a guarded loop."""

import asyncio
import os
import time
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
import trio
from blockbuster import BlockingError
from trio.testing import MockClock

import decide
from tests.conftest import is_foreign
from tests.virtual_time import AutojumpLoop

A_WEEK = 7 * 24 * 3600.0
ON_ASYNCIO = pytest.mark.parametrize("anyio_backend", [("asyncio", {"loop_factory": AutojumpLoop})], ids=["asyncio"])


def _has_virtual_time(backend: str) -> bool:
    if backend == "asyncio":
        return isinstance(asyncio.get_running_loop(), AutojumpLoop)
    return isinstance(trio.lowlevel.current_clock(), MockClock)


async def test_a_week_of_sleep_passes_on_the_virtual_clock_alone() -> None:
    begun, really_begun = anyio.current_time(), time.monotonic()

    await anyio.sleep(A_WEEK)

    assert anyio.current_time() - begun == pytest.approx(A_WEEK)
    assert time.monotonic() - really_begun < A_WEEK / 1000


async def test_tasks_wake_in_the_order_of_their_timers() -> None:
    woken: list[tuple[float, float]] = []

    async def sleeper(delay: float) -> None:
        await anyio.sleep(delay)
        woken.append((delay, anyio.current_time() - begun))

    begun = anyio.current_time()
    async with anyio.create_task_group() as group:
        for delay in (30.0, 0.001, 2.0):
            group.start_soon(sleeper, delay)

    assert [delay for delay, _ in woken] == [0.001, 2.0, 30.0]
    assert [at for _, at in woken] == pytest.approx([0.001, 2.0, 30.0])


async def test_a_scope_ends_at_its_deadline_and_not_later() -> None:
    begun = anyio.current_time()

    with anyio.move_on_after(1.5) as scope:
        await anyio.sleep_forever()

    assert scope.cancelled_caught
    assert anyio.current_time() - begun == pytest.approx(1.5)


async def test_a_task_that_is_ready_runs_before_the_clock_moves() -> None:
    ran_at: list[float] = []

    async def bystander() -> None:
        await anyio.lowlevel.checkpoint()
        ran_at.append(anyio.current_time())

    begun = anyio.current_time()
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep, 10)
        group.start_soon(bystander)

    assert ran_at == [begun]


async def test_in_memory_tests_run_on_virtual_time(anyio_backend_name: str) -> None:
    assert _has_virtual_time(anyio_backend_name)


@pytest.mark.real_time
async def test_tests_marked_real_time_run_on_the_machine_clock(anyio_backend_name: str) -> None:
    assert not _has_virtual_time(anyio_backend_name)


@ON_ASYNCIO
async def test_a_call_that_blocks_the_loop_below_decide_is_refused_and_noted(blocking_calls: list[str]) -> None:
    inside = str(Path(decide.__path__[0]) / "blocking_engine.py")

    with pytest.raises(BlockingError):
        exec(compile("time.sleep(0.001)", inside, "exec"), {"time": time})

    assert blocking_calls == ["time.sleep"]
    blocking_calls.clear()


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "all_proxy", "SOME_VENDOR_API_KEY", "DECIDE_KEY", "NO_COLOR"])
def test_settings_of_the_machine_are_recognised_as_foreign(variable: str) -> None:
    assert is_foreign(variable)


def test_no_foreign_setting_is_left_in_the_environment() -> None:
    assert not [variable for variable in os.environ if is_foreign(variable)]


def test_what_decide_stores_stays_out_of_the_home_directory(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert Path(os.environ["XDG_STATE_HOME"]).is_relative_to(tmp_path_factory.getbasetemp())

"""A call that is told to stop again and again while its engines let go: it stays until they have."""

import asyncio

import pytest

from decide.compose import Race
from tests.compose.asking import directly
from tests.fakes import Engine, cleans_up
from tests.test_rig import ON_ASYNCIO


@ON_ASYNCIO
@pytest.mark.parametrize("times", [1, 2, 5])
async def test_a_task_that_is_cancelled_over_and_over_leaves_nothing_running(times: int) -> None:
    engines = [Engine("a", cleans_up(0.1)), Engine("b", cleans_up(2.0)), Engine("c", cleans_up(1.0))]
    task = asyncio.ensure_future(directly(Race(*engines)))

    await asyncio.sleep(0.5)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0.2)
    await asyncio.wait([task])

    assert task.cancelled()
    assert [engine.running for engine in engines] == [0, 0, 0]

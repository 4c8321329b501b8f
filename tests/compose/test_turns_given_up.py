"""Turns that somebody waited for when the call ended: they cost nothing, and nobody else waits for them."""

import anyio
import anyio.lowlevel

from decide import BusyError
from decide.compose import Budget, Hedged, Retry, Turns
from tests.compose.asking import directly
from tests.compose.test_retry import down
from tests.compose.test_turns import a_few_turns_of_the_loop
from tests.fakes import Engine, fails, hangs


async def test_a_hedge_that_was_still_waiting_when_the_call_ended_costs_nothing() -> None:
    engine = Engine("b", hangs(), timeout=60)
    turns = Turns(engine, wait=60)
    budget = Budget(Hedged(Engine("a", fails(BusyError("x"), after=0.5)), turns, delay=0.1, fail_over=()), max_calls=5)

    async with anyio.create_task_group() as group:
        group.start_soon(directly, turns)
        await a_few_turns_of_the_loop()
        with anyio.move_on_after(1.0):
            await directly(budget)
        group.cancel_scope.cancel()

    assert budget.stats().used == 0


async def test_a_second_try_that_was_still_waiting_when_the_caller_gave_up_costs_nothing() -> None:
    engine = Engine("a", down(after=0.1), hangs(), timeout=60)
    turns = Turns(engine, wait=60)
    budget = Budget(turns, max_calls=5)

    async with anyio.create_task_group() as group:
        group.start_soon(_give_up_after, 1.0, Retry(budget, retries=1, backoff=0.2))
        await a_few_turns_of_the_loop()
        await anyio.sleep(0.05)
        group.start_soon(_give_up_after, 5.0, turns)

    assert len(engine.calls) == 2
    assert budget.stats().used == 1


async def _give_up_after(seconds: float, engine: object) -> None:
    with anyio.move_on_after(seconds):
        await directly(engine)

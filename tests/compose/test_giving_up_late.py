"""A caller that gives up at any scheduling point of a call gets no answer of it afterwards."""

import anyio
import anyio.lowlevel
import pytest

from decide import Chain
from decide.compose import Fallback, Hedged, Race, Retry, Turns
from tests.compose.shapes import SHAPES, Shape
from tests.compose.test_retry import down
from tests.fakes import REQUEST, Behaviour, Engine, answers, cleans_up, fails, steps

MORE: dict[str, Shape] = {
    **SHAPES,
    "race of three": lambda engine: Race(engine, Engine("y", cleans_up(0)), Engine("z", steps(2))),
    "hedge at once": lambda engine: Hedged(engine, Engine("z", steps(3)), delay=0),
    "hedge of a failure": lambda engine: Hedged(Engine("y", fails(ValueError("x"))), engine, delay=5),
    "retry in turns": lambda engine: Turns(Retry(engine, retries=1, backoff=0)),
    "race in a race": lambda engine: Race(Race(engine, Engine("y", steps(1))), Fallback(Engine("z", steps(4)))),
}
BEHAVIOURS: dict[str, Behaviour] = {
    "answers at once": answers(),
    "answers after some steps": steps(3),
    "fails once": steps(1, down()),
}


@pytest.mark.parametrize("behaviour", BEHAVIOURS.values(), ids=BEHAVIOURS)
@pytest.mark.parametrize("shape", MORE.values(), ids=MORE)
async def test_no_answer_comes_after_the_caller_gave_up(shape: Shape, behaviour: Behaviour) -> None:
    late: list[int] = []

    for steps_before in range(14):
        engine = Engine("a", behaviour, answers())
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(_give_up, scope, steps_before)
                await Chain([shape(engine)], min_confidence=None).decide(REQUEST)
                if scope.cancel_called:
                    late.append(steps_before)
                group.cancel_scope.cancel()
        assert engine.running == 0

    assert late == []


async def _give_up(scope: anyio.CancelScope, steps_before: int) -> None:
    for _ in range(steps_before):
        await anyio.lowlevel.checkpoint()
    scope.cancel()

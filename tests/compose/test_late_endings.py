"""What an engine writes or raises once its time is up: only what a person has to see is told."""

import anyio
import pytest

from decide import AttemptLog, AttemptOutcome, AuthError, Decision, InvalidAnswerError, Request
from tests.compose.asking import of, trace_of
from tests.compose.shapes import Shape, in_every_shape
from tests.fakes import Engine, TracedEngine, fails, shields, swallows

both_kinds = pytest.mark.parametrize("engine", [Engine, TracedEngine])


class SaysSo:
    """An engine that writes an outcome of its own choice, late."""

    name = "a"
    decision_timeout = 1.0

    def __init__(self, outcome: AttemptOutcome) -> None:
        self.outcome = outcome

    async def decide(self, request: Request) -> Decision | None:
        return await self.decide_traced(request, AttemptLog())

    async def decide_traced(self, request: Request, log: AttemptLog) -> Decision | None:
        with log.attempt(self.name) as attempt, anyio.CancelScope(shield=True):
            await anyio.sleep(2.0)
            attempt.outcome = self.outcome
        return None


@in_every_shape
@both_kinds
async def test_an_unusable_answer_that_comes_late_is_a_timeout(shape: Shape, engine: type[Engine]) -> None:
    late = fails(InvalidAnswerError("x"), after=2.0)

    for behaviour in (shields(late), swallows(late)):
        trace = await trace_of(shape(engine("a", behaviour, timeout=1.0)))

        assert of("a", trace.attempts).outcome == "timeout"


@in_every_shape
@both_kinds
async def test_a_refused_key_that_comes_late_is_told(shape: Shape, engine: type[Engine]) -> None:
    trace = await trace_of(shape(engine("a", shields(fails(AuthError("x"), after=2.0)), timeout=1.0)))

    assert of("a", trace.attempts).outcome == "auth"


@pytest.mark.parametrize("outcome", ["abstained", "uncertain", "low_confidence", "invalid", "cancelled", "decided"])
async def test_no_opinion_of_its_own_makes_a_late_engine_less_late(outcome: str) -> None:
    trace = await trace_of(SaysSo(AttemptOutcome(outcome)))

    assert of("a", trace.attempts).outcome == "timeout"

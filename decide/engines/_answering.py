"""One call of an engine that answers questions: asked, folded if need be, and written into the log as one attempt."""

from __future__ import annotations

from typing import Protocol

from decide.answers import ScoreResult
from decide.attempt_log import AttemptLog, OpenAttempt
from decide.decisions import Decision
from decide.engines._folding import Abstention, fold
from decide.engines._routing import route_of
from decide.engines._systemone_decode import Reading
from decide.engines._waiting import own_wait
from decide.outcomes import AttemptOutcome, Reason
from decide.policies import SelectionPolicy
from decide.questions import ScoreRequest
from decide.requests import Request


class Answering(Protocol):
    """
    An engine that can read questions.
    """

    @property
    def name(self) -> str:
        """
        What traces call the engine.
        """
        ...

    @property
    def policy(self) -> SelectionPolicy:
        """
        The bars for what is folded into a decision.
        """
        ...

    async def read(self, request: ScoreRequest, log: AttemptLog, /) -> Reading:
        """
        Ask, and read the reply. What is waited for a turn of ours is added to the log.
        """
        ...


async def score(engine: Answering, request: ScoreRequest, log: AttemptLog) -> ScoreResult:
    """
    Have *engine* answer *request*. A reply that declines every question is recorded as abstained.
    """
    with log.attempt(engine.name) as attempt:
        reading = await _read(engine, request, log, attempt)
        if not reading.answered:
            attempt.outcome, attempt.detail = AttemptOutcome.ABSTAINED, Reason.NO_ANSWER.value
        return reading.result


async def decide(engine: Answering, request: Request, log: AttemptLog) -> Decision | None:
    """
    Have *engine* answer the questions that *request* comes down to, and fold the answers into a decision.
    """
    with log.attempt(engine.name) as attempt:
        route = route_of(request)
        folded = fold(route, await _read(engine, route.asked, log, attempt), engine.policy)
        if isinstance(folded, Abstention):
            attempt.outcome, attempt.detail = AttemptOutcome.ABSTAINED, folded.reason
            return None
        return folded


async def _read(engine: Answering, request: ScoreRequest, log: AttemptLog, attempt: OpenAttempt) -> Reading:
    log.engine = engine.name
    with own_wait(log, attempt):
        reading = await engine.read(request, log)
    log.model = reading.result.model
    attempt.usage = reading.result.usage
    attempt.malformed = reading.malformed + reading.odd_model
    return reading

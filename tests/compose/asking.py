"""The two operations as one, so that a test about time or failure is written once and holds for both."""

from collections.abc import Awaitable, Callable, Iterable, Mapping

import pytest

from decide import Attempt, Chain, Decided, Decision, ScoreResult, Stopped, Trace, Undecided
from decide.attempt_log import AttemptLog
from decide.providers import AnyProvider
from tests.fakes import QUESTIONS, REQUEST

Ended = Decided | Undecided | Stopped
Ask = Callable[[Chain], Awaitable[Ended]]


async def to_decide(chain: Chain) -> Ended:
    return await chain.decide(REQUEST)


async def to_score(chain: Chain) -> Ended:
    return await chain.score(QUESTIONS)


for_both_operations = pytest.mark.parametrize("asked", [to_decide, to_score])


async def directly(engine: object, log: AttemptLog | None = None) -> Decision | None:
    """Ask a combinator or a wrapper itself, as an engine above it does."""
    found: Decision | None = await engine.decide_traced(REQUEST, log or AttemptLog())  # type: ignore[attr-defined]
    return found


async def scored_directly(engine: object, log: AttemptLog | None = None) -> ScoreResult:
    found: ScoreResult = await engine.score_traced(QUESTIONS, log or AttemptLog())  # type: ignore[attr-defined]
    return found


async def trace_of(*engines: AnyProvider, asked: Ask = to_decide) -> Trace:
    return (await asked(Chain(engines, min_confidence=None))).trace


def outcomes(attempts: Iterable[Attempt]) -> list[tuple[str, str]]:
    return [(attempt.provider, attempt.outcome) for attempt in attempts]


def of(name: str, attempts: Iterable[Attempt]) -> Attempt:
    """The one attempt of an engine."""
    (found,) = (attempt for attempt in attempts if attempt.provider == name)
    return found


def each(names: str, cases: Mapping[str, object]) -> pytest.MarkDecorator:
    """Parametrize by cases that say in words what they are."""
    return pytest.mark.parametrize(names.split(","), [*cases.values()], ids=[*cases])

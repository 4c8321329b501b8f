"""What a faulty server does and what has to come of it, and how such tables look in the documentation."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import attrs

from decide import (
    Breaker,
    Decision,
    EngineError,
    NoulQuestion,
    Request,
    ScoreRequest,
    ScoreResult,
    SelectionPolicy,
)
from decide.attempt_log import AttemptLog
from decide.engines.systemone import SystemOneEngine
from tests.faults.server import Behaviour

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
COUNTED = {"error", "timeout", "invalid"}
"""The outcomes that a breaker counts against an engine."""

ANSWERED = {"decided", "abstained"}
STOPPING = {"quota", "misconfigured"}

LENIENT = SelectionPolicy(
    name="lenient",
    min_confidence=0.01,
    min_gap=0.0,
    min_probability=0.01,
    strong_probability=0.9,
    potential_probability=0.01,
)
"""Lets everything act that is an answer at all, so that what does not act is none."""


@attrs.frozen
class Row:
    """
    One fault.

    Attributes:
        name: What it is called in a test.
        does: What the server does, for a reader.
        behave: The same for a machine.
        outcome: How the attempt has to end.
        detail: What the trace has to say of it; alternatives are joined by "or".
        why: What makes it harmless, for an attempt that is decided.
    """

    name: str
    does: str
    behave: Behaviour = attrs.field(repr=False)
    outcome: str
    detail: str = ""
    why: str = ""

    @property
    def details(self) -> list[str]:
        return self.detail.split(" or ")


def verdict(outcome: str) -> str:
    """Return what a breaker makes of an attempt."""
    if outcome in COUNTED:
        return "failure"
    return "success" if outcome in ANSWERED else "no verdict"


class Wavering:
    """An engine that fails the first time it is asked, so that a success of the second shows in its breaker."""

    def __init__(self, engine: SystemOneEngine) -> None:
        self._engine = engine
        self._asked = False
        self.name = engine.name
        self.decision_timeout = engine.decision_timeout

    async def decide(self, request: Request) -> Decision | None:
        raise AssertionError

    async def score(self, request: ScoreRequest) -> ScoreResult:
        raise AssertionError

    async def score_traced(self, request: ScoreRequest, log: AttemptLog) -> ScoreResult:
        if not self._asked:
            self._asked = True
            raise EngineError
        return await self._engine.score_traced(request, log)


async def wavered(engine: SystemOneEngine) -> Breaker:
    """Return a breaker that has seen one failure of two that open it."""
    breaker = Breaker(Wavering(engine), threshold=2)
    with suppress(EngineError):
        await breaker.score(ScoreRequest(text="", questions={"n": NoulQuestion("?")}))
    return breaker


def seen(breaker: Breaker) -> str:
    """Return what a breaker made of the attempt after `wavered`."""
    stats = breaker.stats()
    if stats.state == "open":
        return "failure"
    return "no verdict" if stats.failures else "success"


def markdown(heads: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """Write a table."""
    rows = [list(heads), ["---"] * len(list(heads)), *map(list, lines)]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def rendered(rows: Iterable[Row]) -> str:
    return markdown(
        ("the server", "the attempt", "its detail", "a breaker"),
        (
            (
                row.does,
                f"`{row.outcome}`",
                row.why or " or ".join(f"`{detail}`" for detail in row.details if detail),
                verdict(row.outcome),
            )
            for row in rows
        ),
    )

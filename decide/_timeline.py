"""A run of a chain laid out in time: one bar an attempt, the scale under them, and the words beside them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Final, Protocol

import attrs

from decide.outcomes import AttemptOutcome

MOST_TICKS: Final = 5
LONGEST_NAME: Final = 40
_LEAST_SPAN = 0.00001


class Cost(Protocol):
    """
    What an attempt cost, as far as a picture shows it.
    """

    @property
    def input_tokens(self) -> int: ...
    @property
    def output_tokens(self) -> int: ...
    @property
    def cost(self) -> Decimal | None: ...


class Attempted(Protocol):
    """
    The fields of an attempt that a picture shows.
    """

    @property
    def provider(self) -> str: ...
    @property
    def role(self) -> str: ...
    @property
    def outcome(self) -> str: ...
    @property
    def detail(self) -> str: ...
    @property
    def started(self) -> float: ...
    @property
    def waited(self) -> float: ...
    @property
    def latency(self) -> float: ...
    @property
    def tries(self) -> int: ...
    @property
    def rule(self) -> str: ...
    @property
    def usage(self) -> Cost | None: ...


class Run(Protocol):
    """
    The fields of a trace that a picture shows.
    """

    @property
    def attempts(self) -> Sequence[Attempted]: ...
    @property
    def engine(self) -> str: ...
    @property
    def strategy(self) -> str: ...
    @property
    def fallback_fired(self) -> bool: ...
    @property
    def hedge_fired(self) -> bool: ...
    @property
    def stopped_by(self) -> str: ...
    @property
    def outage(self) -> bool: ...
    @property
    def cancelled(self) -> bool: ...


class Look(StrEnum):
    """
    The classes of outcomes that are drawn alike.
    """

    ANSWERED = "answered"
    HELD_BACK = "held back"
    CANCELLED = "cancelled"
    FAILED = "failed"
    NOT_CALLED = "not called"


_LOOKS: Final[dict[str, Look]] = {
    AttemptOutcome.DECIDED: Look.ANSWERED,
    AttemptOutcome.ABSTAINED: Look.HELD_BACK,
    AttemptOutcome.UNCERTAIN: Look.HELD_BACK,
    AttemptOutcome.LOW_CONFIDENCE: Look.HELD_BACK,
    AttemptOutcome.CANCELLED: Look.CANCELLED,
    AttemptOutcome.UNAVAILABLE: Look.NOT_CALLED,
    AttemptOutcome.UNSUPPORTED: Look.NOT_CALLED,
    AttemptOutcome.BUSY: Look.NOT_CALLED,
    AttemptOutcome.BUDGET: Look.NOT_CALLED,
}


@attrs.frozen(kw_only=True)
class Bar:
    """
    One attempt, ready to be drawn.

    Attributes:
        label: The engine, and its role in brackets.
        start: Seconds from the start of the run until the engine was asked.
        end: Seconds from the start of the run until the engine had let go.
        look: How to draw it.
        outcome: How it ended, with the detail.
        latency: In words; empty when the engine was not called.
        more: What it cost and took besides, in words; often empty.
    """

    label: str
    start: float
    end: float
    look: Look
    outcome: str
    latency: str = ""
    more: str = ""

    @property
    def sentence(self) -> str:
        """
        Everything about the attempt in one line, for those who cannot see the bar.
        """
        when = f"from {seconds_text(self.start)} to {seconds_text(self.end)}" if self.latency else "not called"
        return ", ".join(part for part in (f"{self.label}: {self.outcome}", when, self.more) if part)


@attrs.frozen(kw_only=True)
class Timeline:
    """
    A run, ready to be drawn.

    Attributes:
        headline: What happened, in one line.
        bars: In the order of the attempts, one lane each.
        span: Seconds that the whole width stands for; never 0.
        ticks: Where the scale is marked, in seconds.
        answered_at: When the answer that was taken had arrived; None without one.
    """

    headline: str
    bars: tuple[Bar, ...]
    span: float
    ticks: tuple[float, ...]
    answered_at: float | None

    def place(self, moment: float, width: int) -> int:
        """
        Return where *moment* falls on a scale of *width* units, 0 to *width*.
        """
        return round(min(max(moment / self.span, 0.0), 1.0) * width)


def lay_out(run: Run) -> Timeline:
    """
    Lay *run* out in time.
    """
    bars = tuple(_bar(attempt) for attempt in run.attempts)
    span = max((_LEAST_SPAN, *(bar.end for bar in bars)))
    answered_at = _answered_at(run, bars)
    return Timeline(
        headline=_headline(run, answered_at),
        bars=bars,
        span=span,
        ticks=tuple(_ticks(span)),
        answered_at=answered_at,
    )


def _bar(attempt: Attempted) -> Bar:
    look = _LOOKS.get(attempt.outcome, Look.FAILED)
    start = attempt.started + attempt.waited
    name = shortened(printable(attempt.provider))
    outcome = printable(attempt.outcome)
    return Bar(
        label=f"{name} ({printable(attempt.role)})" if attempt.role else name,
        start=start,
        end=start + attempt.latency,
        look=look,
        outcome=f"{outcome}: {printable(attempt.detail)}" if attempt.detail else outcome,
        latency="" if look is Look.NOT_CALLED else seconds_text(attempt.latency),
        more=", ".join(_more(attempt)),
    )


def _more(attempt: Attempted) -> Iterator[str]:
    if attempt.rule:
        yield f"rule {shortened(printable(attempt.rule))}"
    if attempt.tries > 1:
        yield f"{attempt.tries} tries"
    if attempt.waited > 0:
        yield f"waited {seconds_text(attempt.waited)}"
    if (usage := attempt.usage) is not None:
        if usage.input_tokens or usage.output_tokens:
            yield f"{usage.input_tokens}+{usage.output_tokens} tokens"
        if usage.cost is not None:
            yield f"${usage.cost.normalize():f}"


def _answered_at(run: Run, bars: Sequence[Bar]) -> float | None:
    answers = [
        (attempt.provider == run.engine, -bar.end)
        for attempt, bar in zip(run.attempts, bars, strict=True)
        if bar.look is Look.ANSWERED
    ]
    return -max(answers)[1] if answers else None


def _headline(run: Run, answered_at: float | None) -> str:
    if run.cancelled:
        end = "given up by the caller"
    elif answered_at is not None:
        end = f"{shortened(printable(run.engine)) or 'an engine'} answered after {seconds_text(answered_at)}"
    elif run.stopped_by:
        end = f"stopped by {printable(run.stopped_by)}"
    else:
        end = "no answer: an outage" if run.outage else "no answer"
    fired = "the hedge fired" if run.hedge_fired else "the fallback fired" if run.fallback_fired else ""
    said = ", ".join(part for part in (end, fired) if part)
    return f"{printable(run.strategy)}: {said}" if run.strategy else said


def _ticks(span: float) -> Iterator[float]:
    size = 10.0 ** math.floor(math.log10(span / MOST_TICKS))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor * MOST_TICKS >= span * (1 - 1e-9))
    count = math.floor(span / step + 1e-9)
    return (step * number for number in range(count + 1))


def seconds_text(seconds: float) -> str:
    """
    Write a duration for a person: three digits at most, in ms below a second, down to the microsecond.
    """
    if seconds < 0.00995:
        decimals = 1 if seconds >= 0.000995 else 2 if seconds >= 0.0000995 else 3
        return f"{seconds * 1000:.{decimals}f}".rstrip("0").rstrip(".") + " ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.0f} s"


def printable(text: str) -> str:
    """
    Escape what could move a cursor, switch a colour or turn the reading direction.
    """
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def shortened(text: str, limit: int = LONGEST_NAME) -> str:
    """
    Cut *text* to *limit* characters, three dots in place of what is lost.
    """
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def fitted(text: str, width: int, dots: str = "...") -> str:
    """
    Cut *text* to *width* columns of a fixed-width font, *dots* in place of what is lost.
    """
    if columns(text) <= width:
        return text
    while text and columns(text + dots) > width:
        text = text[:-1]
    return text + dots


def columns(text: str) -> int:
    """
    Return how many columns of a fixed-width font *text* takes, at most.
    """
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)

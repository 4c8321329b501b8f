"""What the demo says about what it shows: always about what did happen, never about what was meant to."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from decide._timeline import fitted, shortened
from decide.asking import Answers
from decide.cli._consoles import wrapped
from decide.outcomes import AttemptOutcome
from decide.policies import NARROWING
from decide.traces import Trace

_SHORT = 24
_LEAST_MESSAGE = 12
_GAP = "  "
_HEADINGS = ("message", "model", "person", "if it were measured")

INTRODUCTION = """\
Which team should answer these support messages? Two engines can tell:
  server  a sparrow-decider process on this machine, asked over HTTP
  local   the same model inside this process, as the backup
Composed as Hedged(Breaker(server), local): the server is asked first, local too when it stays silent.
"""

MORAL = """
Not yet: each answer is a proposal (unscored: not_calibrated). The model reports its own numbers, and nobody has \
measured how often they are right; where it is wrong, they do not tell. Accept a proposal yourself \
(--accept-proposals), or measure the engine first.
"""


@attrs.frozen
class Message:
    """
    A message, and the team that a person would give it to.
    """

    text: str
    team: str


@attrs.define
class Tally:
    """
    What there was to see.
    """

    calm: int = 0
    hedges: int = 0
    fallbacks: int = 0
    refusals: int = 0
    opened: int = 0

    def count(self, trace: Trace, *, opened: bool) -> None:
        """
        Add one run.
        """
        self.hedges += trace.hedge_fired
        self.fallbacks += trace.fallback_fired
        self.calm += not (trace.hedge_fired or trace.fallback_fired)
        self.refusals += _refused(trace)
        self.opened += opened

    @property
    def complete(self) -> bool:
        """
        Whether all of the story happened.
        """
        return all(attrs.astuple(self))


def what_happened(trace: Trace, hedge_after: float, *, opened: bool) -> str:
    """
    Explain one run in a sentence or two.
    """
    if _refused(trace):
        return "The breaker is open: the dead server is not asked, local answers at once."
    if trace.hedge_fired:
        return f"After {hedge_after * 1000:.0f} ms of silence local was asked too; the first answer won."
    if trace.fallback_fired:
        more = ", and the breaker opens." if opened else "."
        return f"The server failed, so local was asked at once{more}"
    return "The server answered in time, so local was not asked."


class MayIAct:
    """
    What the model says of every message, what a person says, and what the policy would say of measured numbers.

    Prints as a table where there is room for one, else as a few lines a message.
    """

    def __init__(self, seen: Sequence[tuple[Message, Answers]], key: str) -> None:
        self._rows = [_HEADINGS, *(_row(message, answers, key) for message, answers in seen)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [max(map(len, column)) for column in zip(*self._rows, strict=True)]
        widths[0] = min(widths[0], options.max_width - sum(widths[1:]) - len(_GAP) * (len(widths) - 1))
        yield from self._table(widths) if widths[0] >= _LEAST_MESSAGE else self._blocks(console, options.max_width)

    def _table(self, widths: Sequence[int]) -> RenderResult:
        for number, row in enumerate(self._rows):
            cells = (fitted(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True))
            yield Text(_GAP.join(cells).rstrip(), style="" if number else "bold", no_wrap=True)

    def _blocks(self, console: Console, width: int) -> RenderResult:
        headings, *rows = self._rows
        for message, *cells in rows:
            yield Text(fitted(message, width), no_wrap=True)
            for heading, cell in zip(headings[1:], cells, strict=True):
                yield from wrapped(Text(f"  {heading}: {cell}"), console, width)


def _row(message: Message, answers: Answers, key: str) -> tuple[str, ...]:
    answer = answers.choice(key)
    measured = NARROWING.evaluate(attrs.evolve(answer, calibrated=True))
    says = f"{answer.choice} {answer.probabilities[answer.choice]:.2f}"
    return shortened(message.text, _SHORT), says, message.team, measured.detail


def seen_text(tally: Tally) -> str:
    """
    Say what was seen and what to do next.
    """
    opened = "once" if tally.opened == 1 else f"{tally.opened} times"
    return (
        f"Seen: {tally.calm} answered by the server alone, {tally.hedges} hedged, {tally.fallbacks} fallen back, "
        f"of which {tally.refusals} without asking the server; the breaker opened {opened}.\n"
        "Next: decide ask --help"
    )


def _refused(trace: Trace) -> bool:
    return any(attempt.outcome == AttemptOutcome.UNAVAILABLE for attempt in trace.attempts)

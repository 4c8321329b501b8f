"""What the demo says about what it shows: always about what did happen, never about what was meant to."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from rich.table import Table

from decide._timeline import shortened
from decide.asking import Answers
from decide.outcomes import AttemptOutcome
from decide.policies import NARROWING
from decide.traces import Trace

_SHORT = 24

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


def may_i_act(seen: Sequence[tuple[Message, Answers]], key: str) -> Table:
    """
    Show what the model says of every message, what a person says, and what the policy would say of measured numbers.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("message", "model", "person", "if it were measured"):
        table.add_column(heading, no_wrap=True)
    for message, answers in seen:
        answer = answers.choice(key)
        measured = NARROWING.evaluate(attrs.evolve(answer, calibrated=True))
        says = f"{answer.choice} {answer.probabilities[answer.choice]:.2f}"
        table.add_row(shortened(message.text, _SHORT), says, message.team, measured.detail)
    return table


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

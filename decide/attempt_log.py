"""Where a call writes what it tries, while it tries it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

import attrs

from decide._native import clock
from decide.answers import Usage, add_usage
from decide.attempts import NOT_CALLED, Attempt, Report, merge_attempts
from decide.errors import MEANINGS, DecideError, detail_of, kind_of
from decide.outcomes import AttemptOutcome

_CUT_OFF = frozenset({AttemptOutcome.TIMEOUT, AttemptOutcome.CANCELLED})
_UNAWARE = _CUT_OFF | {
    AttemptOutcome.ABSTAINED,
    AttemptOutcome.UNCERTAIN,
    AttemptOutcome.LOW_CONFIDENCE,
    AttemptOutcome.INVALID,
}
"""What an engine may write of an attempt that was cut off."""


class OpenAttempt:
    """
    An attempt under way: a context manager whose outcome is *cancelled* until it is left in another way.

    Left normally it is `decided`, unless `outcome` was set; left by an error it is what the error means, with the usage
    the error knows of.

    Attributes:
        outcome: How it will be recorded.
        detail: A few words of our own.
        usage: What it cost, as soon as that is known.
        waited: Seconds of waiting that are not the engine's.
        tries: Requests made.
        malformed: Answers that could not be used.
        rule: The name of the rule that answered.
    """

    __slots__ = (
        "_log",
        "_started",
        "detail",
        "dimension",
        "latency",
        "malformed",
        "name",
        "outcome",
        "role",
        "rule",
        "tries",
        "usage",
        "waited",
    )

    def __init__(self, log: AttemptLog, name: str, role: str) -> None:
        self._log = log
        self._started = math.nan
        self.name: str = name
        self.role: str = role
        self.outcome: AttemptOutcome = AttemptOutcome.CANCELLED
        self.detail: str = ""
        self.dimension: str = ""
        self.usage: Usage | None = None
        self.latency: float = 0.0
        self.waited: float = 0.0
        self.tries: int = 1
        self.malformed: int = 0
        self.rule: str = ""

    def __enter__(self) -> Self:
        self._started = self._log.now()
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.latency = max(0.0, self._log.now() - self._started - self.waited)
        if error is None and self.outcome is AttemptOutcome.CANCELLED:
            self.outcome = AttemptOutcome.DECIDED
        elif isinstance(error, Exception):
            kind = kind_of(error)
            self.outcome, self.detail = MEANINGS[kind].outcome, detail_of(error)
            if isinstance(error, DecideError) and self.usage is None:
                self.usage = error.usage

    def concede(self, judged: Attempt) -> None:
        """
        Give up a claim that does not stand: the engine did not answer, or was cut off, whatever it made of that.
        """
        cut_off = judged.outcome in _CUT_OFF and self.outcome in _UNAWARE
        if cut_off or self.outcome in {AttemptOutcome.DECIDED, AttemptOutcome.CANCELLED}:
            self.outcome, self.detail = AttemptOutcome(judged.outcome), judged.detail

    def record(self) -> Attempt:
        """
        Return what is known so far.
        """
        return Attempt(
            provider=self.name,
            outcome=self.outcome.value,
            detail=self.detail,
            latency=self.latency,
            role=self.role,
            usage=self.usage,
            waited=self.waited,
            tries=self.tries,
            started=self._log.since_origin(self._started),
            dimension=self.dimension,
            malformed=self.malformed,
            rule=self.rule,
        )


def _nobody() -> bool:
    return False


class AttemptLog:
    """
    Where one leg of a call writes what it tries, while it tries it.

    Passed down to engines, because a cancelled coroutine returns nothing. One log serves one leg and is not shared
    between tasks.

    Args:
        parent: The log of the leg above; None for a call that nobody of ours made.
        name: The engine that is asked in this leg.
        role: The part it plays.

    Attributes:
        deadline: When the earliest timer of ours over this leg fires, on the loop's clock; infinite without one.
        superseded: Set before this leg is cancelled because a backup overtook it.
        backup_waiting: A backup is ready to start as soon as this leg fails, so that retrying or sleeping here helps
            nobody.
        strategy: The combinator that writes here.
        engine: The engine whose answer is returned.
        model: The model whose answer is returned.
        fallback_fired: As in `Report`.
        hedge_fired: As in `Report`.
        tries: Requests that this leg made one after the other, as one attempt.
        waited: Seconds that this leg waited for a turn of ours.
        clipped: The deadline is that of a time budget of the caller's.
        accepted: A combinator that writes here has its winner, though it may still wait for the losers.
        reached: An engine was called in this leg itself.
        now: The loop's clock.
        given_up: Tells a leg that runs beside the caller whether the caller has given up, where its own scope cannot.
    """

    __slots__ = (
        "_entries",
        "_judged",
        "_origin",
        "_spent_before",
        "accepted",
        "backup_waiting",
        "clipped",
        "deadline",
        "engine",
        "fallback_fired",
        "given_up",
        "hedge_fired",
        "model",
        "name",
        "now",
        "reached",
        "role",
        "strategy",
        "superseded",
        "tries",
        "waited",
    )

    def __init__(self, parent: AttemptLog | None = None, *, name: str = "", role: str = "") -> None:
        self.name: str = name
        self.role: str = role
        self.deadline: float = math.inf if parent is None else parent.deadline
        self.superseded: bool = False
        self.backup_waiting: bool = parent is not None and parent.backup_waiting
        self.strategy: str = ""
        self.engine: str = ""
        self.model: str = ""
        self.fallback_fired: bool = False
        self.hedge_fired: bool = False
        self.tries: int = 1
        self.waited: float = 0.0
        self.clipped: bool = False
        self.accepted: bool = False
        self.reached: bool = False
        self._spent_before: Usage | None = None
        self.now: Callable[[], float] = clock() if parent is None else parent.now
        self.given_up: Callable[[], bool] = _nobody if parent is None else parent.given_up
        self._origin: float = self.now() if parent is None else parent._origin
        self._entries: list[OpenAttempt | AttemptLog | Report | tuple[Attempt, ...]] = []
        self._judged: tuple[Attempt, bool] | None = None

    def attempt(self, name: str, role: str = "") -> OpenAttempt:
        """
        Return a context manager that records one attempt, whichever way it is left.
        """
        opened = OpenAttempt(self, name, role or self.role)
        self._entries.append(opened)
        return opened

    def child(self, name: str = "", role: str = "") -> AttemptLog:
        """
        Return the log of a leg below this one, bound by the same deadline.

        Args:
            name: The engine that is asked in it.
            role: The part it plays; attempts written there that claim none are recorded with it.
        """
        below = AttemptLog(self, name=name, role=role)
        self._entries.append(below)
        return below

    def include(self, report: Report) -> None:
        """
        Take over what another process, or a recording, reported about itself.
        """
        self._entries.append(Report(attempts=report.attempts))
        self.strategy = report.strategy
        self.engine = report.engine
        self.model = report.model
        self.fallback_fired = report.fallback_fired
        self.hedge_fired = report.hedge_fired

    def clip(self, until: float) -> None:
        """
        Bring the deadline forward to the end of a time budget, if that is earlier.
        """
        if until < self.deadline:
            self.deadline = until
            self.clipped = True

    def again(self, usage: Usage | None) -> None:
        """
        Start the leg over: another try of the same attempt.

        What the try before wrote is dropped; what it cost, by its own account or else by *usage*, is kept. Only legs
        below are no tries of this one: each stays an attempt of its own.
        """
        self.reached = False
        attempts = self.attempts()
        if any(not isinstance(entry, OpenAttempt) for entry in self._entries):
            self._entries = [attempts]
            return
        self.tries += 1
        for cost in [attempt.usage for attempt in attempts] or [usage]:
            self._spent_before = add_usage(self._spent_before, cost)
        self._entries.clear()

    def supersede(self) -> None:
        """
        Write down, before it is cancelled, that a backup overtook this leg and so all below it.
        """
        self.superseded = True
        for entry in self._entries:
            if isinstance(entry, AttemptLog):
                entry.supersede()

    def accepted_any(self) -> bool:
        """
        Say whether a combinator has its winner, in this leg or in one below it.
        """
        return self.accepted or any(entry.accepted_any() for entry in self._entries if isinstance(entry, AttemptLog))

    def spent(self) -> bool:
        """
        Say whether an engine was called, in this leg or in one below it, and did not end as if nobody had been.
        """
        below = [entry for entry in self._entries if isinstance(entry, AttemptLog)]
        if below:
            return any(leg.spent() for leg in below)
        attempts = self.attempts()
        return self.reached and not (attempts and all(attempt.outcome in NOT_CALLED for attempt in attempts))

    def settle(self, judged: Attempt, *, answered: bool) -> None:
        """
        Record how the one who asked saw this leg end; see `merge_report`.

        An engine that was cut off, or that did not answer, cannot say otherwise in an attempt of its own.
        """
        for entry in self._entries:
            if isinstance(entry, OpenAttempt) and entry.name == judged.provider:
                self.engine = self.engine or entry.name
                if not answered:
                    entry.concede(judged)
        self._judged = judged, answered

    def report(self) -> Report:
        """
        Return what has been written so far.
        """
        return Report(
            strategy=self.strategy,
            engine=self.engine,
            attempts=self.attempts(),
            fallback_fired=self.fallback_fired,
            hedge_fired=self.hedge_fired,
            model=self.model,
        )

    def attempts(self) -> tuple[Attempt, ...]:
        """
        Return the attempts that have been made so far, in leg order.
        """
        written = tuple([attempt for entry in self._entries for attempt in _attempts(entry)])
        if self._judged is None:
            return written
        judged, answered = self._judged
        timed = not any(isinstance(entry, Report) for entry in self._entries)
        merged = merge_attempts(written, self.engine, judged, answered=answered, timed=timed)
        return (self._all_tries(merged[0], judged),) if self.tries > 1 and len(merged) == 1 else merged

    def _all_tries(self, last: Attempt, judged: Attempt) -> Attempt:
        return attrs.evolve(
            last,
            tries=self.tries,
            started=judged.started,
            latency=judged.latency,
            usage=add_usage(self._spent_before, last.usage),
        )

    def since_origin(self, moment: float) -> float:
        """
        Return *moment* in seconds from the start of the whole call.
        """
        return max(0.0, moment - self._origin)


def _attempts(entry: OpenAttempt | AttemptLog | Report | tuple[Attempt, ...]) -> Iterable[Attempt]:
    match entry:
        case OpenAttempt():
            return (entry.record(),)
        case AttemptLog():
            return entry.attempts()
        case Report():
            return entry.attempts
        case tuple():
            return entry

"""What was tried: attempts, the log they are written into while a call runs, and the trace that is left afterwards."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from types import TracebackType
from typing import Protocol, Self

import anyio
import attrs

from decide._converters import str_tuple
from decide._svg import draw
from decide._timeline import lay_out
from decide.answers import Usage
from decide.errors import (
    MEANINGS,
    BudgetError,
    DecideError,
    MisconfiguredError,
    PolicyRefusalError,
    QuotaError,
    detail_of,
    kind_of,
)
from decide.outcomes import AttemptOutcome

NOT_CALLED = frozenset(
    {AttemptOutcome.UNAVAILABLE, AttemptOutcome.UNSUPPORTED, AttemptOutcome.BUSY, AttemptOutcome.BUDGET}
)
"""Outcomes of attempts that reached no engine, so that they cost nothing."""


@attrs.frozen(kw_only=True)
class Attempt:
    """
    One call of one engine. Holds our own vocabulary only, never what a caller or a server wrote.

    Attributes:
        provider: The engine.
        outcome: How it ended, see `AttemptOutcome`.
        detail: A few words more: a reason, a count, a status, the type of an exception.
        latency: Seconds from the start until the engine let go, waiting for a turn excluded.
        role: `primary`, `backup`, `racer`, or empty in a chain.
        usage: What it cost; None when that is unknown.
        waited: Seconds spent waiting for a turn or a connection of ours.
        tries: Requests made, retries included.
        started: Seconds from the start of the whole call.
        dimension: What ran out, for the outcome `budget`: empty for calls, else `time`.
        clipped: A time budget cut this attempt's own timeout short.
        malformed: Answers of the reply that could not be used.
        rule: The rule that answered, or that raised, when the engine is a table of rules.
    """

    provider: str
    outcome: str
    detail: str = ""
    latency: float = 0.0
    role: str = ""
    usage: Usage | None = None
    waited: float = 0.0
    tries: int = 1
    started: float = attrs.field(default=0.0, eq=False)
    dimension: str = ""
    clipped: bool = False
    malformed: int = 0
    rule: str = ""


def _attempt_tuple(attempts: Iterable[Attempt]) -> tuple[Attempt, ...]:
    return tuple(attempts)


@attrs.frozen(kw_only=True)
class Report:
    """
    How an engine came by its answer.

    Attributes:
        strategy: The combinator's; empty for an engine alone.
        engine: The engine whose answer is returned.
        attempts: Every attempt, in leg order.
        fallback_fired: A backup was asked because an engine before it gave nothing.
        hedge_fired: A backup was asked because the primary was silent.
        model: The model whose answer is returned.
    """

    strategy: str = ""
    engine: str = ""
    attempts: tuple[Attempt, ...] = attrs.field(default=(), converter=_attempt_tuple)
    fallback_fired: bool = False
    hedge_fired: bool = False
    model: str = ""


def merge_report(report: Report, judged: Attempt, *, answered: bool) -> tuple[Attempt, ...]:
    """
    Return the attempts of *report* with the judgement of the one who asked for them worked in.

    Args:
        report: What the engine wrote about itself.
        judged: How the one who asked saw it end.
        answered: Whether there was an answer to judge: then the last attempt that claims to have decided carries the
            judgement.
    """
    attempts = list(report.attempts)
    if not attempts:
        return (judged,)
    if answered:
        claims = (i for i, attempt in enumerate(attempts) if _is_claim(attempt, report.engine))
        last = max(claims, default=None)
        if last is not None:
            attempts[last] = _adopt(attrs.evolve(attempts[last], outcome=judged.outcome, detail=judged.detail), judged)
    elif len(attempts) == 1 and attempts[0].provider == judged.provider:
        only = attempts[0]
        if only.outcome == AttemptOutcome.ERROR:
            only = attrs.evolve(only, outcome=judged.outcome, detail=judged.detail)
        attempts[0] = _adopt(only, judged)
    return tuple(attempts)


def _is_claim(attempt: Attempt, engine: str) -> bool:
    return attempt.provider == engine and attempt.outcome == AttemptOutcome.DECIDED


def _adopt(attempt: Attempt, judged: Attempt) -> Attempt:
    return attrs.evolve(
        attempt,
        usage=judged.usage if attempt.usage is None else attempt.usage,
        role=attempt.role or judged.role,
        latency=attempt.latency or judged.latency,
        tries=max(attempt.tries, judged.tries),
        clipped=attempt.clipped or judged.clipped,
    )


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
        self._started = anyio.current_time()
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.latency = max(0.0, anyio.current_time() - self._started - self.waited)
        if error is None and self.outcome is AttemptOutcome.CANCELLED:
            self.outcome = AttemptOutcome.DECIDED
        elif isinstance(error, Exception):
            kind = kind_of(error)
            self.outcome, self.detail = MEANINGS[kind].outcome, detail_of(error)
            if isinstance(error, DecideError) and self.usage is None:
                self.usage = error.usage

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


class AttemptLog:
    """
    Where one leg of a call writes what it tries, while it tries it.

    Passed down to engines, because a cancelled coroutine returns nothing. One log serves one leg and is not shared
    between tasks.

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
        clipped: The deadline is that of a time budget of the caller's.
    """

    __slots__ = (
        "_entries",
        "_judged",
        "_origin",
        "backup_waiting",
        "clipped",
        "deadline",
        "engine",
        "fallback_fired",
        "hedge_fired",
        "model",
        "strategy",
        "superseded",
        "tries",
    )

    def __init__(self, *, deadline: float = math.inf, origin: float | None = None) -> None:
        self.deadline: float = deadline
        self.superseded: bool = False
        self.backup_waiting: bool = False
        self.strategy: str = ""
        self.engine: str = ""
        self.model: str = ""
        self.fallback_fired: bool = False
        self.hedge_fired: bool = False
        self.tries: int = 1
        self.clipped: bool = False
        self._origin = origin
        self._entries: list[OpenAttempt | AttemptLog | Report] = []
        self._judged: tuple[Attempt, bool] | None = None

    def attempt(self, name: str, role: str = "") -> OpenAttempt:
        """
        Return a context manager that records one attempt, whichever way it is left.
        """
        opened = OpenAttempt(self, name, role)
        self._entries.append(opened)
        return opened

    def child(self) -> AttemptLog:
        """
        Return the log of a leg below this one, bound by the same deadline.
        """
        below = AttemptLog(deadline=self.deadline, origin=self.origin())
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

    def settle(self, judged: Attempt, *, answered: bool) -> None:
        """
        Record how the one who asked saw this leg end; see `merge_report`.
        """
        self._judged = judged, answered

    def report(self) -> Report:
        """
        Return what has been written so far.
        """
        report = Report(
            strategy=self.strategy,
            engine=self.engine,
            attempts=[attempt for entry in self._entries for attempt in _attempts(entry)],
            fallback_fired=self.fallback_fired,
            hedge_fired=self.hedge_fired,
            model=self.model,
        )
        if self._judged is None:
            return report
        judged, answered = self._judged
        return attrs.evolve(report, attempts=merge_report(report, judged, answered=answered))

    def origin(self) -> float:
        """
        Return when the whole call started, on the loop's clock: the moment this is first asked.
        """
        if self._origin is None:
            self._origin = anyio.current_time()
        return self._origin

    def since_origin(self, moment: float) -> float:
        """
        Return *moment* in seconds from the start of the whole call.
        """
        return max(0.0, moment - self.origin())


def _attempts(entry: OpenAttempt | AttemptLog | Report) -> Iterable[Attempt]:
    match entry:
        case OpenAttempt():
            return (entry.record(),)
        case AttemptLog():
            return entry.report().attempts
        case Report():
            return entry.attempts


@attrs.frozen(kw_only=True)
class TotalUsage:
    """
    What a whole call cost.

    Attributes:
        input_tokens: The sum of what is known.
        output_tokens: The sum of what is known.
        cost: US dollars; None when no attempt reported any.
        exact: Every attempt that reached an engine reported its usage; else the sums are a lower bound.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None
    exact: bool = True


_STOPS: dict[str, type[DecideError]] = {
    AttemptOutcome.QUOTA: QuotaError,
    AttemptOutcome.BUDGET: BudgetError,
    AttemptOutcome.MISCONFIGURED: MisconfiguredError,
    AttemptOutcome.POLICY_REFUSAL: PolicyRefusalError,
}


@attrs.frozen(kw_only=True)
class Trace:
    """
    Everything that happened in one run of a chain. Holds no text, state, id or key of the caller's.

    Attributes:
        decided_by: The provider of the chain that decided; empty when none did.
        attempts: Every attempt of every engine.
        engine: The engine whose answer was taken.
        strategy: The combinator it came through.
        fallback_fired: As in `Report`.
        hedge_fired: As in `Report`.
        calibrated: Whether the decision claims measured probabilities.
        provenance: See `Provenance`.
        outcome: The verdict on the decision.
        model: The model that answered.
        stopped_by: The attempt outcome that stopped the chain; empty when nothing did.
        policy: The name of the policy that judged.
        outage: Nothing was decided, and some engine failed: not the same as nobody having an opinion.
        cancelled: The caller gave up.
        warnings: Things a person should look at, such as `auth:NAME`.
    """

    decided_by: str = ""
    attempts: tuple[Attempt, ...] = ()
    engine: str = ""
    strategy: str = ""
    fallback_fired: bool = False
    hedge_fired: bool = False
    calibrated: bool = False
    provenance: str = ""
    outcome: str = ""
    model: str = ""
    stopped_by: str = ""
    policy: str = ""
    outage: bool = False
    cancelled: bool = False
    warnings: tuple[str, ...] = attrs.field(default=(), converter=str_tuple)

    @property
    def error(self) -> DecideError | None:
        """
        The error that a stopped chain stands for, naming the engine that stopped it; None when nothing did.
        """
        kind = _STOPS.get(self.stopped_by)
        if kind is None:
            return None
        last = next((one for one in reversed(self.attempts) if one.outcome == self.stopped_by), None)
        place = f" at {last.provider}" if last else ""
        more = f": {last.detail}" if last and last.detail else ""
        return kind(f"chain stopped{place} ({self.stopped_by}){more}")

    @property
    def usage(self) -> TotalUsage:
        """
        The sum over all attempts, and whether it is exact or a lower bound.
        """
        called = [attempt for attempt in self.attempts if attempt.outcome not in NOT_CALLED]
        known = [attempt.usage for attempt in called if attempt.usage is not None]
        costs = [usage.cost for usage in known if usage.cost is not None]
        return TotalUsage(
            input_tokens=sum(usage.input_tokens for usage in known),
            output_tokens=sum(usage.output_tokens for usage in known),
            cost=sum(costs, Decimal(0)) if costs else None,
            exact=len(known) == len(called),
        )

    def _repr_html_(self) -> str:
        return draw(lay_out(self))


class Observer(Protocol):
    """
    Gets one finished Trace per run. What it raises never reaches the caller of the decision.
    """

    def __call__(self, trace: Trace, /) -> None: ...

"""
The error tree, and what each kind of error means for a breaker, a chain and a backup.

DecideError
├─ EngineError                        the engine failed                 breaker counts it; backup starts
│  ├─ EngineTimeoutError (, TimeoutError)
│  ├─ RateLimitedError
│  └─ InvalidAnswerError
├─ UnavailableError                   not called (a breaker is open)    a breaker around it counts it; backup starts
├─ BusyError                          not called (no turn, no pool)     neutral; backup starts
├─ UnsupportedError                   no such operation                 neutral; backup starts
├─ InvalidRequestError (, ValueError) the caller's request              neutral; backup starts
├─ AuthError                          the caller's credentials          neutral; backup starts, a warning on the trace
├─ QuotaError                         the caller's allowance            neutral; chain stops
├─ BudgetError                        the caller's own cap              neutral; chain stops
├─ TimeBudgetError                    the caller's own time is up       neutral; nothing stops
├─ PolicyRefusalError                 the service will not              neutral; chain stops, always
├─ MisconfiguredError                 a person must fix it              neutral; chain stops
│  └─ ReplayMissError
├─ NoAnswerError                      no leg answered: `errors` in leg order, `kinds` their union
└─ UndecidedError                     `.require()` on an undecided chain
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Final

import attrs

from decide.outcomes import AttemptOutcome

if TYPE_CHECKING:
    from decide.answers import Usage
    from decide.traces import Trace


class Kind(StrEnum):
    """
    What an error is, in the order in which one kind names an attempt before another.
    """

    POLICY_REFUSAL = "policy_refusal"
    QUOTA = "quota"
    BUDGET = "budget"
    MISCONFIGURED = "misconfigured"
    UNAVAILABLE = "unavailable"
    BUSY = "busy"
    UNSUPPORTED = "unsupported"
    AUTH = "auth"
    REJECTED = "rejected"
    TIME = "time"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    INVALID = "invalid"
    ERROR = "error"


@attrs.frozen
class Meaning:
    """
    What one kind of error does to those around it.

    Attributes:
        outcome: How the attempt is recorded.
        neutral: A breaker looks away.
        halts: The call it happened in goes to no further engine.
    """

    outcome: AttemptOutcome
    neutral: bool
    halts: bool = False


MEANINGS: Final[dict[Kind, Meaning]] = {
    Kind.POLICY_REFUSAL: Meaning(AttemptOutcome.POLICY_REFUSAL, neutral=True, halts=True),
    Kind.QUOTA: Meaning(AttemptOutcome.QUOTA, neutral=True, halts=True),
    Kind.BUDGET: Meaning(AttemptOutcome.BUDGET, neutral=True, halts=True),
    Kind.MISCONFIGURED: Meaning(AttemptOutcome.MISCONFIGURED, neutral=True, halts=True),
    Kind.UNAVAILABLE: Meaning(AttemptOutcome.UNAVAILABLE, neutral=False),
    Kind.BUSY: Meaning(AttemptOutcome.BUSY, neutral=True),
    Kind.UNSUPPORTED: Meaning(AttemptOutcome.UNSUPPORTED, neutral=True),
    Kind.AUTH: Meaning(AttemptOutcome.AUTH, neutral=True),
    Kind.REJECTED: Meaning(AttemptOutcome.REJECTED, neutral=True),
    Kind.TIME: Meaning(AttemptOutcome.BUDGET, neutral=True),
    Kind.TIMEOUT: Meaning(AttemptOutcome.TIMEOUT, neutral=False),
    Kind.CANCELLED: Meaning(AttemptOutcome.CANCELLED, neutral=True),
    Kind.INVALID: Meaning(AttemptOutcome.INVALID, neutral=False),
    Kind.ERROR: Meaning(AttemptOutcome.ERROR, neutral=False),
}

_RANK: Final = {kind: rank for rank, kind in enumerate(Kind)}


class DecideError(Exception):
    """
    The root of every error this library raises on purpose.

    All data beside the message is optional and by keyword, so that every error survives a pickle.

    Attributes:
        detail: A few words of our own vocabulary (counts, positions, statuses), fit for traces and logs.
        key: The question or id the error is about. Caller content: never put into a trace or a log.
        http_status: The status a server answered with.
        retry_after: Seconds the other side asked us to wait.
        server_text: What a server said, redacted and cut. Never put into a trace or a log.
        usage: What the failed call is known to have cost.
        trace: Every attempt of the run that ended in this error; None where no run did.
    """

    trace: Trace | None = None
    kind: ClassVar[Kind] = Kind.ERROR

    def __init__(
        self,
        message: str = "",
        *,
        detail: str = "",
        key: str = "",
        http_status: int | None = None,
        retry_after: float | None = None,
        server_text: str = "",
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.detail = detail
        self.key = key
        self.http_status = http_status
        self.retry_after = retry_after
        self.server_text = server_text
        self.usage = usage


class EngineError(DecideError):
    """
    The engine failed: a broken connection, a server error, a bug in it.

    Attributes:
        transient: The connection failed before an answer, so that the same request may fare better.
    """

    transient: bool = False


class EngineTimeoutError(EngineError, TimeoutError):
    """
    The engine gave no answer in the time it had.

    Attributes:
        clipped: A time budget of the caller's cut that time short, which says nothing about the engine.
    """

    kind = Kind.TIMEOUT
    clipped: bool = False


class RateLimitedError(EngineError):
    """
    The engine asks for fewer calls. `retry_after` says how long to wait, when it is known.
    """


class InvalidAnswerError(EngineError):
    """
    The engine answered with something that is not an answer to what was asked.
    """

    kind = Kind.INVALID


class UnavailableError(DecideError):
    """
    The engine was not called, because its circuit breaker is open.
    """

    kind = Kind.UNAVAILABLE


class BusyError(DecideError):
    """
    The engine was not called, because no turn, thread or connection of ours came free in time.
    """

    kind = Kind.BUSY


class UnsupportedError(DecideError):
    """
    The engine has no such operation.
    """

    kind = Kind.UNSUPPORTED


class InvalidRequestError(DecideError, ValueError):
    """
    The caller's request cannot be answered as it is; another engine would refuse it too.
    """

    kind = Kind.REJECTED


class AuthError(DecideError):
    """
    The caller's credentials are missing or refused.
    """

    kind = Kind.AUTH


class QuotaError(DecideError):
    """
    The caller's allowance with the service is spent. Waiting does not help, paying elsewhere is a person's choice.
    """

    kind = Kind.QUOTA


class BudgetError(DecideError):
    """
    The caller's own cap on calls is reached.
    """

    kind = Kind.BUDGET


class TimeBudgetError(DecideError):
    """
    The caller's own time for this work is used up, so the engine was not called.
    """

    kind = Kind.TIME


class PolicyRefusalError(DecideError):
    """
    The service refuses to serve this payer, model or context.
    """

    kind = Kind.POLICY_REFUSAL


class MisconfiguredError(DecideError):
    """
    Something only a person can fix: a wrong address, model, protocol or setting.
    """

    kind = Kind.MISCONFIGURED


class ReplayMissError(MisconfiguredError):
    """
    Nothing was recorded for this request.
    """


class NoAnswerError(DecideError):
    """
    No leg of a combinator answered.

    Attributes:
        errors: What each failed leg ended with, in leg order.
        kinds: The kinds of all of them, kept here because a pickle drops causes.
    """

    def __init__(self, message: str = "", *, errors: Iterable[BaseException] = (), detail: str = "") -> None:
        super().__init__(message, detail=detail)
        self.errors: tuple[BaseException, ...] = tuple(errors)
        self.kinds: frozenset[Kind] = frozenset(kind for error in self.errors for kind in kinds_of(error)) or frozenset(
            {Kind.ERROR}
        )


class UndecidedError(DecideError):
    """
    A caller required a decision and the chain reached none; `trace` says why.

    Attributes:
        errors: What engines raised, for a person to look at; see `Undecided`.
    """

    def __init__(self, message: str = "", *, trace: Trace | None = None, errors: Iterable[BaseException] = ()) -> None:
        super().__init__(message)
        self.trace = trace
        self.errors: tuple[BaseException, ...] = tuple(errors)


def walk(error: BaseException) -> Iterator[BaseException]:
    """
    Yield *error*, the members of aggregates and groups, and explicit causes, each once, nearest first.
    """
    seen: set[int] = set()
    pending = [error]
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        below: list[BaseException] = []
        if isinstance(current, NoAnswerError):
            below.extend(current.errors)
        if isinstance(current, BaseExceptionGroup):
            below.extend(current.exceptions)
        if current.__cause__ is not None:
            below.append(current.__cause__)
        pending.extend(reversed(below))


def kinds_of(error: BaseException) -> frozenset[Kind]:
    """
    Return every kind that *error* carries: its own, its members' and its causes'.

    An exception that is not ours is an `error`, a builtin TimeoutError included: only our own timers and
    `EngineTimeoutError` mean *timeout*.
    """
    if isinstance(error, DecideError) and error.__cause__ is None and not isinstance(error, NoAnswerError):
        return frozenset({error.kind})
    kinds: set[Kind] = set()
    for current in walk(error):
        if isinstance(current, NoAnswerError):
            kinds |= current.kinds
        elif isinstance(current, DecideError):
            kinds.add(current.kind)
        elif not isinstance(current, BaseExceptionGroup):
            kinds.add(Kind.ERROR)
    return frozenset(kinds) or frozenset({Kind.ERROR})


def kind_of(error: BaseException) -> Kind:
    """
    Return the kind that names an attempt which ended in *error*.
    """
    return first_kind(kinds_of(error))


def first_kind(kinds: Iterable[Kind]) -> Kind:
    """
    Return the kind that stands first in the order of `Kind`.

    Raises:
        ValueError: If there is none.
    """
    return min(kinds, key=_RANK.__getitem__)


def stands_before(kind: Kind, other: Kind) -> bool:
    """
    Say whether *kind* names an attempt that also carries *other*.
    """
    return _RANK[kind] < _RANK[other]


def is_neutral(error: BaseException) -> bool:
    """
    Say whether a breaker looks away: any neutral kind anywhere in *error* is enough, or a timeout the caller caused.
    """
    clipped = any(isinstance(current, EngineTimeoutError) and current.clipped for current in walk(error))
    return clipped or any(MEANINGS[kind].neutral for kind in kinds_of(error))


def detail_of(error: BaseException) -> str:
    """
    Describe *error* in our own words, without anything a caller or a server wrote.
    """
    if isinstance(error, DecideError):
        if error.detail:
            return error.detail
        if error.http_status is not None:
            return f"http {error.http_status}"
        return type(error).__name__ if error.kind is Kind.ERROR and not isinstance(error, NoAnswerError) else ""
    return type(error).__name__[:200]

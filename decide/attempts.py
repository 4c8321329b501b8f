"""One attempt of one engine, the report of several, and how a judgement is worked into it."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from decide.answers import Usage
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
    return merge_attempts(report.attempts, report.engine, judged, answered=answered)


def merge_attempts(
    written: tuple[Attempt, ...], engine: str, judged: Attempt, *, answered: bool, timed: bool = False
) -> tuple[Attempt, ...]:
    """
    Do what `merge_report` does, for the attempts alone. *timed* ones took no time when their latency is 0.
    """
    if not written:
        return (judged,)
    attempts = list(written)
    if answered:
        claims = (i for i, attempt in enumerate(attempts) if _is_claim(attempt, engine))
        last = max(claims, default=None)
        if last is not None:
            attempts[last] = _adopt(attempts[last], judged, judged, timed=timed)
    elif len(attempts) == 1 and attempts[0].provider == judged.provider:
        only = attempts[0]
        worded = judged if only.outcome == AttemptOutcome.ERROR else only
        attempts[0] = _adopt(only, judged, worded, timed=timed)
    return tuple(attempts)


def _is_claim(attempt: Attempt, engine: str) -> bool:
    return attempt.provider == engine and attempt.outcome == AttemptOutcome.DECIDED


def _adopt(attempt: Attempt, judged: Attempt, worded: Attempt, *, timed: bool) -> Attempt:
    # Of the waiting of a leg, only that for the engine itself is its attempt's; that for a combinator is not.
    own = attempt.provider == judged.provider
    return attrs.evolve(
        attempt,
        usage=judged.usage if attempt.usage is None else attempt.usage,
        role=attempt.role or judged.role,
        latency=attempt.latency if timed else attempt.latency or judged.latency,
        waited=attempt.waited + judged.waited if own else attempt.waited,
        started=judged.started if own and judged.waited else attempt.started,
        clipped=attempt.clipped or judged.clipped,
        outcome=worded.outcome,
        detail=worded.detail,
    )

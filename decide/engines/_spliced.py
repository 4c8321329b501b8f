"""What another process reports about its own attempts, made fit to stand in a trace of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from decide._json import DocumentError
from decide.answers import Usage
from decide.attempts import Attempt, Report
from decide.engines._usage import MAX_COST, MAX_TOKENS
from decide.outcomes import AttemptOutcome, Reason
from decide.wire import from_json

MOST_ATTEMPTS: Final = 100
"""Attempts that are taken over; a report of more is none."""

_NAME = re.compile(r"[A-Za-z0-9._:/@~+-]{1,200}", re.ASCII)
_OUTCOMES = frozenset(AttemptOutcome)
_REASONS = frozenset(Reason)
_ROLES = frozenset({"primary", "backup", "racer"})


def spliced(document: object, *, engine: str, started: float, latency: float) -> Report:
    """
    Read the report of a server: its attempts, under names that begin with *engine* and a slash, and nothing else.

    The prefix keeps them apart from ours, so that nothing they claim is taken for an attempt of ours. Words that are
    not of our vocabulary are left out, and times are kept within the call.

    Args:
        document: The report as JSON; None when there is none.
        engine: The engine that got it.
        started: When the call started, in seconds from the start of the whole call.
        latency: How long it took.

    Returns:
        The report; an empty one when it cannot be read, because it is no part of the answer.
    """
    if document is None:
        return Report()
    try:
        report = from_json(Report, document)
    except DocumentError:
        return Report()
    if len(report.attempts) > MOST_ATTEMPTS:
        return Report()
    return Report(attempts=_ours(report, engine, started, latency))


def _ours(report: Report, engine: str, started: float, latency: float) -> Iterator[Attempt]:
    for attempt in report.attempts:
        if attempt.outcome not in _OUTCOMES:
            continue
        begun = min(max(attempt.started, 0.0), latency)
        yield Attempt(
            provider=f"{engine}/{attempt.provider if _NAME.fullmatch(attempt.provider) else '?'}",
            outcome=attempt.outcome,
            detail=attempt.detail if attempt.detail in _REASONS else "",
            latency=min(max(attempt.latency, 0.0), latency - begun),
            role=attempt.role if attempt.role in _ROLES else "",
            usage=_plausible(attempt.usage),
            started=started + begun,
        )


def _plausible(usage: Usage | None) -> Usage | None:
    if usage is None or not all(0 <= count <= MAX_TOKENS for count in (usage.input_tokens, usage.output_tokens)):
        return None
    return usage if usage.cost is None or 0 <= usage.cost <= MAX_COST else None

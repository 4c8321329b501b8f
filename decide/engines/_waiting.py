"""Waiting of an engine for its own connections, kept apart from that of the combinators around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from decide.attempt_log import AttemptLog, OpenAttempt


@contextmanager
def own_wait(log: AttemptLog, attempt: OpenAttempt) -> Iterator[None]:
    """
    Count what is waited inside the block as waited by *attempt*, and by no other in the leg.
    """
    before = log.waited
    try:
        yield
    finally:
        attempt.waited, log.waited = log.waited - before, before

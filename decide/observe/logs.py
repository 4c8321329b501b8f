"""Runs as log events: what happened, in fields, without any content."""

from __future__ import annotations

from typing import Protocol

import structlog

from decide._timeline import printable
from decide.traces import Trace


class Logger(Protocol):
    """
    The part of a structlog logger that is used here.
    """

    def info(self, event: str, **fields: object) -> object: ...
    def warning(self, event: str, **fields: object) -> object: ...


class LogObserver:
    """
    Log one event a run, and each warning of a trace once in the life of this observer.

    Nothing in here configures structlog: how events look and where they go is the application's to say.

    Args:
        logger: Where to log; by default structlog's logger called `decide`.
    """

    def __init__(self, logger: Logger | None = None) -> None:
        chosen: Logger = structlog.get_logger("decide") if logger is None else logger
        self._logger = chosen
        self._warned: set[str] = set()

    def __call__(self, trace: Trace) -> None:
        """
        Log *trace*.
        """
        for warning in trace.warnings:
            self._warn(warning)
        self._logger.info(
            _event(trace),
            decided_by=printable(trace.decided_by),
            engine=printable(trace.engine),
            model=printable(trace.model),
            strategy=trace.strategy,
            outcome=printable(trace.outcome),
            policy=printable(trace.policy),
            fallback_fired=trace.fallback_fired,
            hedge_fired=trace.hedge_fired,
            attempts=[f"{printable(one.provider)}: {printable(one.outcome)}" for one in trace.attempts],
        )

    def _warn(self, warning: str) -> None:
        if warning not in self._warned:
            self._warned.add(warning)
            kind, _, name = printable(warning).partition(":")
            self._logger.warning(kind, engine=name)


def _event(trace: Trace) -> str:
    if trace.cancelled:
        return "cancelled"
    if trace.stopped_by:
        return f"stopped by {trace.stopped_by}"
    if trace.decided_by:
        return "decided"
    return "outage" if trace.outage else "undecided"

"""One run of a chain while it goes on, and the trace that it leaves."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Generic, TypeVar

from decide._legs import Ending
from decide.answers import ScoreResult
from decide.attempt_log import AttemptLog
from decide.attempts import Attempt
from decide.decisions import Decision
from decide.outcomes import OUTAGES, AttemptOutcome, Provenance
from decide.policies import SelectionPolicy
from decide.traces import Observer, Trace

T = TypeVar("T", bound=Decision | ScoreResult)


class Run(Generic[T]):
    """
    Collects how the engines of a chain ended.

    Attributes:
        taken: The ending whose answer is returned; None until there is one.
        stopped: The ending that stopped the chain; None when nothing did.
        errors: What engines raised, in their order.
    """

    def __init__(self, policy: SelectionPolicy | None) -> None:
        self._policy = policy
        self._root = AttemptLog()
        self._taken_from: tuple[str, AttemptLog] | None = None
        self.taken: Ending[T] | None = None
        self.stopped: Ending[T] | None = None
        self.errors: list[BaseException] = []

    def leg(self, name: str) -> AttemptLog:
        """
        Return the log of the next engine, which is called *name*.
        """
        return self._root.child(name)

    def take(self, name: str, log: AttemptLog, ending: Ending[T]) -> None:
        """
        Take the answer of the engine called *name*.
        """
        self._taken_from = name, log
        self.taken = ending

    def trace(self, *, cancelled: bool = False) -> Trace:
        """
        Return the trace so far.
        """
        attempts = self._root.attempts()
        stopped_by = "" if self.stopped is None else self.stopped.outcome.value
        policy = "" if self._policy is None else self._policy.name
        warnings = _warnings(attempts)
        if self._taken_from is None or self.taken is None or self.taken.answer is None:
            return Trace(
                attempts=attempts,
                stopped_by=stopped_by,
                policy=policy,
                warnings=warnings,
                cancelled=cancelled,
                outage=any(one.outcome in OUTAGES for one in attempts),
            )
        name, log = self._taken_from
        answer = self.taken.answer
        return Trace(
            decided_by=name,
            attempts=attempts,
            engine=log.engine or name,
            strategy=log.strategy,
            fallback_fired=log.fallback_fired,
            hedge_fired=log.hedge_fired,
            model=log.model or answer.model,
            calibrated=_calibrated(answer),
            provenance=_provenance(answer),
            outcome=answer.outcome if isinstance(answer, Decision) else "",
            stopped_by=stopped_by,
            policy=policy,
            warnings=warnings,
            cancelled=cancelled,
        )


def _warnings(attempts: Iterable[Attempt]) -> tuple[str, ...]:
    refused = (attempt.provider for attempt in attempts if attempt.outcome == AttemptOutcome.AUTH)
    return tuple(dict.fromkeys(f"auth:{provider}" for provider in refused))


def tell(observers: Iterable[Observer], trace: Trace) -> None:
    """
    Hand *trace* to every observer. One that raises breaks neither the decision nor the others.
    """
    for observer in observers:
        with suppress(Exception):
            observer(trace)


def _calibrated(answer: Decision | ScoreResult) -> bool:
    if isinstance(answer, Decision):
        return answer.calibrated
    return bool(answer.answers) and all(one.calibrated for one in answer.answers.values())


def _provenance(answer: Decision | ScoreResult) -> str:
    if isinstance(answer, Decision):
        return answer.provenance.value
    return (Provenance.CALIBRATED if _calibrated(answer) else Provenance.SELF_REPORTED).value

"""A circuit breaker in front of one engine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from threading import Lock
from typing import Literal, TypeVar

import attrs

from decide._checks import positive_seconds, seconds, whole
from decide._legs import Asking
from decide.attempt_log import AttemptLog
from decide.compose._circuit import Circuit, Ticket, Verdict
from decide.compose._rates import FailureRate
from decide.compose._wrapper import Wrapper
from decide.errors import UnavailableError, is_neutral, walk
from decide.providers import AnyProvider
from decide.retry_after import retry_delay

R = TypeVar("R")
T = TypeVar("T")

Change = Callable[[str, str, str], None]


@attrs.frozen(kw_only=True)
class BreakerStats:
    """
    Where a breaker stands.

    Attributes:
        state: `closed`, `open` or `half-open`; an open one stays open until the call that probes.
        failures: Failures of the current run.
        slow: Calls in a row that a hedge overtook.
    """

    state: Literal["closed", "open", "half-open"]
    failures: int
    slow: int


class Breaker(Wrapper):
    """
    Stop calling an engine that keeps failing, and find out with one call at a time when it is back.

    Whatever the caller is to blame for (a bad request, credentials, allowances, cancelling) says nothing about the
    engine and is not counted. One breaker may be
    shared between tasks, event loops and threads.

    Args:
        engine: The engine. The breaker has its name, timeout and traces.
        threshold: Failures in a row that open the circuit.
        window: Seconds from the first failure of a run within which the others have to follow.
        cooldown: Seconds the circuit stays open; a longer `Retry-After` of the engine, at most 10 minutes, wins.
        probe_timeout: Seconds a probe has at most.
        slow_threshold: Calls in a row overtaken by a hedge that open the circuit; None for never.
        open_on_retry_after: Open at the first failure that asks for a wait, instead of sending more calls into it.
        failure_rate: Open on a share of failures as well, whether in a row or not; None for never.
        probe_interval: Seconds until the next probe when a probe said nothing about the engine.
        max_cooldown: Double the open time after each failed probe, up to so many seconds; None keeps it as it is.
        excluded: Exception types of the engine, or of engines in it, that are not counted in any state.
        on_change: Called with the engine's name, the old and the new state, after every change and outside the lock.
            What it raises is dropped.
        clock: Seconds on a clock that never jumps.

    Raises:
        ValueError: If a setting is out of range.
    """

    def __init__(
        self,
        engine: AnyProvider,
        *,
        threshold: int = 5,
        window: float = 30.0,
        cooldown: float = 30.0,
        probe_timeout: float = 10.0,
        slow_threshold: int | None = None,
        open_on_retry_after: bool = False,
        failure_rate: FailureRate | None = None,
        probe_interval: float = 1.0,
        max_cooldown: float | None = None,
        excluded: Collection[type[Exception]] = (),
        on_change: Change | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(engine)
        self._circuit = Circuit(
            threshold=whole("threshold", threshold, least=1),
            window=positive_seconds("window", window),
            cooldown=seconds("cooldown", cooldown),
            slow_threshold=None if slow_threshold is None else whole("slow_threshold", slow_threshold, least=1),
            probe_interval=seconds("probe_interval", probe_interval),
            max_cooldown=None if max_cooldown is None else seconds("max_cooldown", max_cooldown),
            failure_rate=failure_rate,
            open_on_retry_after=open_on_retry_after,
        )
        self._probe_timeout = positive_seconds("probe_timeout", probe_timeout)
        self._excluded = tuple(excluded)
        self._on_change = on_change
        self._clock = clock
        self._lock = Lock()

    @property
    def state(self) -> Literal["closed", "open", "half-open"]:
        """
        Whether calls pass.
        """
        return self._circuit.state.value

    def stats(self) -> BreakerStats:
        """
        Return where the breaker stands now.
        """
        with self._lock:
            circuit = self._circuit
            return BreakerStats(state=circuit.state.value, failures=circuit.failures, slow=circuit.slow)

    def force_open(self, duration: float | None = None) -> None:
        """
        Open the circuit by hand, for *duration* seconds or, with None, until `reset`. A longer open time stays.
        """
        until = math.inf if duration is None else self._clock() + seconds("duration", duration)
        self._change(lambda circuit: circuit.force_open(until))

    def reset(self) -> None:
        """
        Close the circuit by hand and forget all failures.
        """
        self._change(Circuit.reset)

    async def _guard(self, asking: Asking[T], log: AttemptLog) -> T | None:
        ticket = self._admit()
        if ticket.probe:
            log.deadline = min(log.deadline, log.now() + self._probe_timeout)
        verdict, retry_after = Verdict.NEUTRAL, 0.0
        try:
            answer = await self._ask(asking, log)
        except Exception as error:
            verdict, retry_after = self._blame(error), retry_delay(error) or 0.0
            raise
        except BaseException:
            verdict = _why_cancelled(log)
            raise
        else:
            verdict = Verdict.SUCCESS
            return answer
        finally:
            self._settle(ticket, verdict, retry_after)

    def _admit(self) -> Ticket:
        ticket = self._change(lambda circuit: circuit.admit(self._clock()))
        if ticket is None:
            raise UnavailableError(f"engine {self.name!r}: circuit breaker open", detail="circuit open")
        return ticket

    def _settle(self, ticket: Ticket, verdict: Verdict, retry_after: float) -> None:
        self._change(lambda circuit: circuit.settle(ticket, verdict, self._clock(), retry_after))

    def _change(self, step: Callable[[Circuit], R]) -> R:
        """
        Take one step of the circuit under the lock, and tell of a change once the lock is free.
        """
        with self._lock:
            before = self._circuit.state
            result = step(self._circuit)
            after = self._circuit.state
        if before is not after and self._on_change is not None:
            # Whoever listens breaks no decision, and loses no permit that was just given.
            with suppress(Exception):
                self._on_change(self.name, before.value, after.value)
        return result

    def _blame(self, error: Exception) -> Verdict:
        if is_neutral(error) or any(isinstance(one, self._excluded) for one in walk(error)):
            return Verdict.NEUTRAL
        return Verdict.FAILURE


def _why_cancelled(log: AttemptLog) -> Verdict:
    """
    Read from the log why this leg is cancelled: overtaken, out of time, or the caller gave up.
    """
    if log.superseded:
        return Verdict.SLOW
    out_of_time = log.now() >= log.deadline and not log.clipped
    return Verdict.FAILURE if out_of_time else Verdict.NEUTRAL

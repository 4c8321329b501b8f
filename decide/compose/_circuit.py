"""The circuit of a breaker as plain data: no clock, no lock, no I/O."""

from __future__ import annotations

from enum import StrEnum

import attrs

from decide.compose._clocks import passed, reached
from decide.compose._rates import FailureRate, RollingCounts
from decide.retry_after import MAX_RETRY_DELAY

_MOST_DOUBLINGS = 64
"""More than any two open times are apart, and few enough for a float."""


class State(StrEnum):
    """
    Whether calls pass.
    """

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class Verdict(StrEnum):
    """
    What a call said about the engine's health.
    """

    SUCCESS = "success"
    FAILURE = "failure"
    SLOW = "slow"
    NEUTRAL = "neutral"


@attrs.frozen
class Ticket:
    """
    The permit of one call.

    Attributes:
        generation: The circuit's age when the call was admitted; results of another age are ignored.
        probe: The call finds out whether the engine is back.
    """

    generation: int
    probe: bool


@attrs.define(kw_only=True)
class Circuit:
    """
    Counts failures in a row and decides who may call. Every method is told the time.

    Attributes:
        threshold: Failures in a row that open it.
        window: Seconds from the first failure of a run within which the others count.
        cooldown: Seconds it stays open.
        slow_threshold: Overtaken calls in a row that open it; None for never.
        probe_interval: Seconds until the next probe when one said nothing about the engine.
        max_cooldown: The most seconds it stays open when each failed probe doubles them; None for no doubling.
        failure_rate: The share of failures that opens it as well; None for none.
        open_on_retry_after: The first failure that asks for a wait opens it.
    """

    threshold: int
    window: float
    cooldown: float
    slow_threshold: int | None
    probe_interval: float
    max_cooldown: float | None = None
    failure_rate: FailureRate | None = None
    open_on_retry_after: bool = False
    state: State = State.CLOSED
    failures: int = 0
    slow: int = 0
    _generation: int = 0
    _first_failure: float = 0.0
    _retry_floor: float = 0.0
    _closed_until: float = 0.0
    _probing: bool = False
    _failed_probes: int = 0
    _counts: RollingCounts | None = None

    def __attrs_post_init__(self) -> None:
        self._forget_counts()

    def admit(self, now: float) -> Ticket | None:
        """
        Let a call through, or not. The first call after the open time is the probe.
        """
        if self.state is State.CLOSED:
            return Ticket(self._generation, probe=False)
        if self._probing or not reached(now, self._closed_until):
            return None
        self.state = State.HALF_OPEN
        self._probing = True
        return Ticket(self._generation, probe=True)

    def settle(self, ticket: Ticket, verdict: Verdict, now: float, retry_after: float = 0.0) -> None:
        """
        Take the result of a call that was let through.

        A result from before the circuit last opened changes nothing, except that a longer wait the engine asks for is
        honoured.
        """
        if ticket.generation != self._generation:
            if verdict is Verdict.FAILURE and self.state is State.OPEN:
                self._closed_until = max(self._closed_until, now + min(retry_after, MAX_RETRY_DELAY))
            return
        if ticket.probe:
            self._probing = False
        match verdict:
            case Verdict.SUCCESS:
                self._close()
                self._count(now, failed=False)
            case Verdict.FAILURE:
                self._fail(ticket, now, retry_after)
            case Verdict.SLOW:
                self._overtaken(ticket, now)
            case Verdict.NEUTRAL:
                self._wait_for_probe(ticket, now)

    def force_open(self, until: float) -> None:
        """
        Open it by hand until a moment at least, infinity included; calls under way change nothing any more.
        """
        longest = max(until, self._closed_until) if self.state is State.OPEN else until
        self._open(until)
        self._closed_until = longest

    def reset(self) -> None:
        """
        Close it by hand and forget everything; calls under way change nothing any more.
        """
        self._close()
        self._generation += 1
        self._probing = False
        self._forget_counts()

    def _close(self) -> None:
        self.state = State.CLOSED
        self.failures = self.slow = self._failed_probes = 0
        self._retry_floor = 0.0

    def _fail(self, ticket: Ticket, now: float, retry_after: float) -> None:
        if ticket.probe:
            self._retry_floor = retry_after
            self._failed_probes += 1
            self._open(now)
            return
        self._count(now, failed=True)
        if self.failures == 0 or passed(now, self._first_failure + self.window):
            self.failures = 0
            self._first_failure = now
            self._retry_floor = 0.0
        self.failures += 1
        self._retry_floor = max(self._retry_floor, retry_after)
        asked_to_wait = self.open_on_retry_after and retry_after > 0
        if self.failures >= self.threshold or asked_to_wait or self._fails_too_often():
            self._open(now)

    def _count(self, now: float, *, failed: bool) -> None:
        if self._counts is not None:
            self._counts.add(now, failed=failed)

    def _fails_too_often(self) -> bool:
        if self.failure_rate is None or self._counts is None:
            return False
        calls, failures = self._counts.totals()
        return calls >= self.failure_rate.least_calls and failures / calls >= self.failure_rate.rate

    def _forget_counts(self) -> None:
        self._counts = None if self.failure_rate is None else RollingCounts(self.failure_rate.window)

    def _overtaken(self, ticket: Ticket, now: float) -> None:
        self.slow += 1
        if self.slow_threshold is not None and self.slow >= self.slow_threshold:
            self._open(now)
        else:
            self._wait_for_probe(ticket, now)

    def _wait_for_probe(self, ticket: Ticket, now: float) -> None:
        if ticket.probe:
            self._closed_until = now + self.probe_interval

    def _open(self, now: float) -> None:
        self.state = State.OPEN
        self.slow = 0
        self._generation += 1
        self._probing = False
        self._forget_counts()
        self._closed_until = now + max(self._open_time(), min(self._retry_floor, MAX_RETRY_DELAY))

    def _open_time(self) -> float:
        if self.max_cooldown is None:
            return self.cooldown
        doublings = min(self._failed_probes, _MOST_DOUBLINGS)
        return max(self.cooldown, min(self.cooldown * 2.0**doublings, self.max_cooldown))

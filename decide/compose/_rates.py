"""The share of failures in a rolling window, in constant space: no clock, no lock, no I/O."""

from __future__ import annotations

from typing import Final

import attrs

from decide._checks import positive_seconds, whole

_BUCKETS: Final = 10


def _share(_: object, __: object, rate: float) -> None:
    if not 0.0 < rate <= 1.0:
        raise ValueError(f"rate must be a number above 0 and at most 1, got {rate!r}")


@attrs.frozen(kw_only=True)
class FailureRate:
    """
    Open a circuit on the share of failures, for engines that fail often without failing in a row.

    Attributes:
        rate: The share of failures that opens it, above 0 and at most 1.
        least_calls: Calls in the window below which the share says nothing.
        window: Seconds that are looked at.

    Raises:
        ValueError: If a number is out of range.
    """

    rate: float = attrs.field(default=0.5, validator=_share)
    least_calls: int = attrs.field(default=20, validator=lambda _, __, calls: whole("least_calls", calls, least=1))
    window: float = attrs.field(default=30.0, validator=lambda _, __, window: positive_seconds("window", window))


@attrs.define
class RollingCounts:
    """
    Counts calls and failures of the last *window* seconds, to a tenth of it.
    """

    _window: float
    _buckets: dict[int, list[int]] = attrs.field(factory=dict)

    def add(self, now: float, *, failed: bool) -> None:
        """
        Count one call.
        """
        bucket = self._buckets.setdefault(self._index(now), [0, 0])
        bucket[0] += 1
        bucket[1] += failed
        oldest = self._index(now) - _BUCKETS
        for index in [index for index in self._buckets if index <= oldest]:
            del self._buckets[index]

    def totals(self) -> tuple[int, int]:
        """
        Return calls and failures in the window of the call that was counted last.
        """
        counts = self._buckets.values()
        return sum(calls for calls, _ in counts), sum(failures for _, failures in counts)

    def _index(self, now: float) -> int:
        return int(now * _BUCKETS / self._window)

"""The window of a budget as plain data: no clock, no lock, no I/O."""

from __future__ import annotations

import attrs

from decide.compose._clocks import reached


@attrs.define(kw_only=True)
class Window:
    """
    Counts calls in a fixed window that starts with its first call. Every method is told the time.

    Attributes:
        max_calls: The most calls of one window.
        per: Seconds of the window; None for one that never ends.
        used: Calls of the current window.
        refused: Calls that were refused, ever.
    """

    max_calls: int
    per: float | None
    used: int = 0
    refused: int = 0
    _started: float | None = None
    _number: int = 0

    def take(self, now: float) -> int | None:
        """
        Take one unit. Return the number of the window it was taken from, or None when there is none left.
        """
        if self._started is not None and self.per is not None and reached(now, self._started + self.per):
            self.used = 0
            self._number += 1
            self._started = None
        if self.used >= self.max_calls:
            self.refused += 1
            return None
        if self._started is None:
            self._started = now
        self.used += 1
        return self._number

    def give_back(self, number: int) -> None:
        """
        Give one unit back to the window it was taken from; nothing happens when that window is over.
        """
        if number == self._number:
            self.used -= 1

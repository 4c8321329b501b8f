"""Comparing readings of a clock, whose sums and differences are floats."""

from __future__ import annotations

from typing import Final

_SLACK: Final = 1e-9
"""Seconds that float arithmetic may lose: a moment that is due is not missed for it."""


def reached(now: float, moment: float) -> bool:
    """
    Say whether *moment* has come.
    """
    return now >= moment - _SLACK


def passed(now: float, moment: float) -> bool:
    """
    Say whether *moment* is over.
    """
    return now > moment + _SLACK

"""Checks of what a person configures, with errors that name the setting and the remedy."""

from __future__ import annotations

import math


def positive_seconds(name: str, value: float) -> float:
    """
    Return *value* if it is a finite number above 0.

    Raises:
        ValueError: Naming the setting.
    """
    if not _is_finite(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number of seconds above 0, got {value!r}")
    return float(value)


def seconds(name: str, value: float) -> float:
    """
    Return *value* if it is a finite number, 0 or above.

    Raises:
        ValueError: Naming the setting.
    """
    if not _is_finite(value) or value < 0:
        raise ValueError(f"{name} must be a finite number of seconds, 0 or above, got {value!r}")
    return float(value)


def whole(name: str, value: int, *, least: int) -> int:
    """
    Return *value* if it is a whole number of at least *least*.

    Raises:
        ValueError: Naming the setting.
    """
    if type(value) is not int or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or above, got {value!r}")
    return value


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)

"""Numbers that JSON cannot hold stand in vectors as strings."""

from __future__ import annotations

import math
from typing import Any

_NAMED = {"NaN": math.nan, "Inf": math.inf, "-Inf": -math.inf}


def number(value: Any) -> float:
    """
    Read a number of a vector.
    """
    return _NAMED[value] if isinstance(value, str) else float(value)


def numbers(values: dict[str, Any] | None) -> dict[str, float]:
    """
    Read an object of numbers.
    """
    return {key: number(value) for key, value in (values or {}).items()}


def written(value: float) -> Any:
    """
    Write a number as a vector would.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return value


def milliseconds(seconds: float) -> float:
    """
    Return *seconds* in milliseconds, without the noise of float addition.
    """
    return round(seconds * 1000, 6)

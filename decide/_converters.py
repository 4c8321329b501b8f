"""Converters that copy what a caller hands over, so that a frozen value stays as it was built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def str_tuple(values: Iterable[str]) -> tuple[str, ...]:
    """
    Copy *values* into a tuple, refusing the single string that would fall apart into letters.

    Raises:
        TypeError: If *values* is itself a string.
    """
    if isinstance(values, str):
        raise TypeError("expected a sequence of strings, got one string: put it in a tuple")
    return tuple(values)


def str_dict(values: Mapping[str, str]) -> dict[str, str]:
    """
    Copy a mapping of strings.
    """
    return dict(values)


def number_dict(values: Mapping[str, float]) -> dict[str, float]:
    """
    Copy a mapping of ids to numbers, keeping the caller's order.
    """
    return dict(values)


def object_dict(values: Mapping[str, object]) -> dict[str, object]:
    """
    Copy a mapping of anything, one level deep.
    """
    return dict(values)

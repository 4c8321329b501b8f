"""Whether what the product did is what a vector expects."""

from __future__ import annotations

from typing import Any

Json = Any


def pruned(value: Json) -> Json:
    """
    Return *value* without the members that are empty, zero, false or null: in a vector such a member may be left out.

    An object that is emptied this way stays, because an object of zeros is not the same as none.
    """
    if isinstance(value, dict):
        return {key: pruned(member) for key, member in value.items() if not _is_zero(member)}
    if isinstance(value, list):
        return [pruned(member) for member in value]
    return value


def same(one: Json, other: Json) -> bool:
    """
    Say whether two documents are equal, numbers by value and never equal to booleans.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(member, other[key]) for key, member in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def difference(expected: Json, actual: Json, path: str = "") -> str:
    """
    Name the first place where two documents differ; empty when they do not.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            if key not in expected or key not in actual:
                return f"{path}.{key}"
            if found := difference(expected[key], actual[key], f"{path}.{key}"):
                return found
        return ""
    if isinstance(expected, list) and isinstance(actual, list):
        for position, (one, other) in enumerate(zip(expected, actual, strict=False)):
            if found := difference(one, other, f"{path}[{position}]"):
                return found
        return "" if len(expected) == len(actual) else f"{path}[{min(len(expected), len(actual))}]"
    return "" if same(expected, actual) else path or "."


def _is_zero(value: Json) -> bool:
    return value is None or (not value and isinstance(value, bool | int | float | str | list | dict))

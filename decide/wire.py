"""Every value that travels, as strict JSON and back."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar, cast, overload

import attrs

from decide._json import DocumentError, Node, canonical, loads, plain
from decide._wire_questions import canonical_request, questions_from
from decide._wire_records import RECORDS

__all__ = ["DocumentError", "canonical", "canonical_request", "from_json", "loads", "questions_from", "to_json"]

T = TypeVar("T")


@overload
def to_json(value: StrEnum) -> str: ...  # pyright: ignore[reportOverlappingOverload] - no enum is an attrs class
@overload
def to_json(value: attrs.AttrsInstance) -> dict[str, object]: ...
def to_json(value: StrEnum | attrs.AttrsInstance) -> str | dict[str, object]:
    """
    Return *value* as JSON: an object for a value, a string for a word of a closed vocabulary.

    A verdict never travels: what is read back tells what a judge said, and is judged again before anyone acts on it.

    Raises:
        TypeError: If values of this type do not travel.
        DocumentError: If it holds what JSON cannot carry, such as a number that is not finite.
    """
    if isinstance(value, StrEnum):
        return value.value
    record = RECORDS.get(type(value))
    if record is None:
        raise TypeError(f"{type(value).__name__} does not travel as JSON")
    return cast(dict[str, object], plain(record.write(value)))


def from_json(kind: type[T], document: object) -> T:
    """
    Build a value of type *kind* from JSON that was read before, as by `loads`.

    Members it does not know are ignored; members left out are empty, except where that would be a guess.

    Raises:
        TypeError: If values of this type do not travel.
        DocumentError: A ValueError: a member is of the wrong type, missing or out of range; names the place.
        ValueError: If the value itself refuses what was read, as a policy that contradicts itself does.
    """
    node = Node(plain(document))
    if issubclass(kind, StrEnum):
        return _word(kind, node)
    record = RECORDS.get(kind)
    if record is None:
        raise TypeError(f"{kind.__name__} does not travel as JSON")
    return cast(T, record.read(node))


W = TypeVar("W", bound=StrEnum)


def _word(kind: type[W], node: Node) -> W:
    word = node.text()
    if word not in {member.value for member in kind}:
        raise DocumentError(node.path, "expected one of " + ", ".join(kind))
    return kind(word)

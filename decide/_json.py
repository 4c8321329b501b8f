"""Strict JSON: what is read is finite, unambiguous and of the type asked for; what is hashed has one form only."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, cast

import attrs

MAX_DEPTH: Final = 100
"""How deep objects and lists may nest; far beyond any value of ours, and far below what exhausts a stack."""


class DocumentError(ValueError):
    """
    A JSON document that cannot be read as what it should be.

    The message names the place and the type that was found there, never what the document says.

    Attributes:
        path: The place: members of ours by name, all others by position, as in `$.answers[2].scores[0].probability`.
        problem: What is wrong there.
    """

    def __init__(self, path: str = "$", problem: str = "") -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class _Ambiguous(dict[str, object]):
    """An object in which a key stands twice, marked until the place is known."""


def loads(text: str | bytes) -> object:
    """
    Read one JSON document.

    Raises:
        DocumentError: If it is no JSON, says a key twice, nests deeper than `MAX_DEPTH`, or holds a number that is not
            finite or text that is not Unicode.
    """
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        document: object = json.loads(decoded, object_pairs_hook=_object)
    except UnicodeDecodeError:
        raise DocumentError("$", "not UTF-8") from None
    except RecursionError:
        raise DocumentError("$", f"nested deeper than {MAX_DEPTH}") from None
    except json.JSONDecodeError as error:
        raise DocumentError("$", f"not JSON at line {error.lineno}, column {error.colno}") from None
    except ValueError:
        # The interpreter's own limit on the digits of a whole number.
        raise DocumentError("$", "a number is too long") from None
    ascii_only = decoded.isascii() and "\\u" not in decoded
    return document if _is_plain(document, is_text=_always if ascii_only else _is_unicode) else plain(document)


def plain(value: object, path: str = "$") -> object:
    """
    Copy *value* as plain JSON: dicts, lists, strings, numbers, booleans and None.

    Raises:
        DocumentError: If it holds anything that strict JSON cannot carry.
    """
    return _plain(value, path, MAX_DEPTH)


def canonical(value: object) -> str:
    """
    Write *value* in the form that is hashed: keys sorted by code point, no spaces, nothing escaped that need not be.

    Raises:
        DocumentError: If *value* holds anything that strict JSON cannot carry.
    """
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _is_plain(document: object, *, is_text: Callable[[str], bool]) -> bool:
    """
    Say whether a parsed document needs no second look, level by level.

    `plain` names the place of what is wrong and copies; on a megabyte of brackets that took seconds.
    """
    level = [document]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for value in level:
            kind = type(value)
            if kind is dict:
                members = cast("dict[str, object]", value)
                if is_text is not _always and not all(map(is_text, members)):
                    return False
                below.extend(members.values())
            elif kind is list:
                below.extend(cast("list[object]", value))
            elif kind is str:
                if not is_text(cast("str", value)):
                    return False
            elif kind is float:
                if not math.isfinite(cast("float", value)):
                    return False
            elif kind is _Ambiguous:
                return False
        if not below:
            return True
        level = below
    return False


def _always(_: str) -> bool:
    return True


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Ambiguous(found)


def _plain(value: object, path: str, depth: int) -> object:
    match value:
        case None | bool():
            return value
        case str():
            return _text(value, path)
        case int() | float():
            return _finite(value, path)
        case Mapping() | Sequence() if not isinstance(value, bytes | bytearray | memoryview):
            if depth == 0:
                raise DocumentError(path, f"nested deeper than {MAX_DEPTH}")
            return _container(value, path, depth - 1)
        case _:
            raise DocumentError(path, f"JSON has no {type(value).__name__}")


def _container(value: Mapping[object, object] | Sequence[object], path: str, depth: int) -> object:
    if not isinstance(value, Mapping):
        return [_plain(member, f"{path}[{position}]", depth) for position, member in enumerate(value)]
    if isinstance(value, _Ambiguous):
        raise DocumentError(path, "a key stands twice in this object")
    return {
        _key(key, path): _plain(member, f"{path}[{position}]", depth)
        for position, (key, member) in enumerate(value.items())
    }


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise DocumentError(path, f"a key must be a string, got {type(key).__name__}")
    return _text(key, path)


def _text(value: str, path: str) -> str:
    text = str.__str__(value)
    if not _is_unicode(text):
        raise DocumentError(path, "text that is not Unicode: half a surrogate pair")
    return text


def _finite(value: float, path: str) -> float:
    if not -math.inf < value < math.inf:
        raise DocumentError(path, "a number that is not finite")
    return value


@attrs.frozen
class Node:
    """
    A value inside a document, and where it stands: every way to read it checks its type.

    Attributes:
        value: The value, as `loads` returned it.
        path: Where it stands.
    """

    value: object
    path: str = "$"

    def text(self) -> str:
        """
        Read a string.
        """
        if not isinstance(self.value, str):
            raise self.expected("a string")
        return self.value

    def flag(self) -> bool:
        """
        Read a boolean.
        """
        if not isinstance(self.value, bool):
            raise self.expected("true or false")
        return self.value

    def number(self) -> float:
        """
        Read a finite number. Booleans and numeric strings are none.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.expected("a number")
        try:
            return float(_finite(self.value, self.path))
        except OverflowError:
            raise DocumentError(self.path, "a number that is not finite") from None

    def whole(self) -> int:
        """
        Read a whole number, written without a point.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.expected("a whole number")
        return self.value

    def members(self) -> Iterator[tuple[str, Node]]:
        """
        Yield the members of an object whose keys are the caller's, so that their places are told by position.
        """
        for position, (key, member) in enumerate(self._object().items()):
            yield key, Node(member, f"{self.path}[{position}]")

    def items(self) -> Iterator[Node]:
        """
        Yield the members of a list.
        """
        if not isinstance(self.value, list):
            raise self.expected("a list")
        for position, member in enumerate(self.value):
            yield Node(member, f"{self.path}[{position}]")

    def find(self, key: str) -> Node | None:
        """
        Return the member called *key* of an object whose keys are ours; None when it is left out.
        """
        members = self._object()
        return Node(members[key], f"{self.path}.{key}") if key in members else None

    def need(self, key: str) -> Node:
        """
        Return the member called *key*, which has to be there.
        """
        member = self.find(key)
        if member is None:
            raise DocumentError(f"{self.path}.{key}", "is required")
        return member

    def expected(self, what: str) -> DocumentError:
        """
        Return the error that says that *what* should stand here.
        """
        return DocumentError(self.path, f"expected {what}, got {type_name(self.value)}")

    def _object(self) -> dict[str, object]:
        if not isinstance(self.value, dict):
            raise self.expected("an object")
        return self.value


def type_name(value: object) -> str:
    """
    Name the JSON type of *value*.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case Mapping():
            return "an object"
        case Sequence():
            return "a list"
        case _:
            return type(value).__name__

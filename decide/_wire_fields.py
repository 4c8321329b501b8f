"""How the fields of a value become the members of a JSON object, and back."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, Generic, TypeVar

import attrs

from decide._json import DocumentError, Node, plain

T = TypeVar("T")
V = TypeVar("V")

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_MONEY = re.compile(r"-?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,4})?", re.ASCII)
_ZERO_TIME = dt.datetime(1, 1, 1, tzinfo=dt.UTC)


@attrs.frozen
class Codec(Generic[T]):
    """
    One type of member.

    Attributes:
        write: From the value's field to JSON.
        read: From JSON to the field, refusing what is not of the type.
        null: Whether null may stand for the empty value, as it does for lists and for what is optional.
    """

    write: Callable[[T], object]
    read: Callable[[Node], T]
    null: bool = False


@attrs.frozen
class Field:
    """
    One field of a value and the member it travels as.

    Attributes:
        name: The field.
        key: The member.
        codec: Its type.
        present: Says for which values the member is written; reading leaves an absent one at the field's default.
        required: Reading refuses an absent one.
    """

    name: str
    key: str
    codec: Codec[Any]
    present: Callable[[Any], bool] = bool
    required: bool = False


def always(_: object) -> bool:
    """
    Write the member for every value.
    """
    return True


def given(value: object) -> bool:
    """
    Write the member unless there is no value, so that nothing and zero stay apart.
    """
    return value is not None


class Record(Generic[V]):
    """
    The table of a value: its class and its fields, in the order in which they are written.
    """

    def __init__(self, kind: type[V], *fields: Field) -> None:
        self.kind = kind
        self._fields = fields

    def write(self, value: V) -> dict[str, object]:
        """
        Return *value* as a JSON object.
        """
        members = ((field, getattr(value, field.name)) for field in self._fields)
        return {field.key: field.codec.write(member) for field, member in members if field.present(member)}

    def read(self, node: Node) -> V:
        """
        Build a value from a JSON object; members without a field are ignored.
        """
        found: dict[str, object] = {}
        for field in self._fields:
            member = node.need(field.key) if field.required else node.find(field.key)
            if member is not None and not (field.codec.null and member.value is None):
                found[field.name] = field.codec.read(member)
        return self.kind(**found)

    def codec(self) -> Codec[V]:
        """
        Return how to write and read this value inside another.
        """
        return Codec(self.write, self.read, null=True)


def field(
    name: str, codec: Codec[Any], present: Callable[[Any], bool] = bool, *, required: bool = False, key: str = ""
) -> Field:
    """
    Describe a field whose member is its name in camel case.
    """
    head, *tail = name.split("_")
    return Field(name, key or head + "".join(part.title() for part in tail), codec, present, required)


def list_of(codec: Codec[T], *, empty: object = ()) -> Codec[Sequence[T]]:
    """
    A list; *empty* is what is written for none, when it is written at all.
    """
    return Codec(
        lambda values: [codec.write(value) for value in values] or (None if empty is None else []),
        lambda node: tuple(codec.read(item) for item in node.items()),
        null=True,
    )


def map_of(codec: Codec[T]) -> Codec[Mapping[str, T]]:
    """
    An object whose keys are the caller's.
    """
    return Codec(
        lambda values: {key: codec.write(value) for key, value in values.items()},
        lambda node: {key: codec.read(member) for key, member in node.members()},
        null=True,
    )


def _read_object(node: Node) -> dict[str, object]:
    return {key: member.value for key, member in node.members()}


def _write_time(moment: dt.datetime | None) -> str:
    if moment is None:
        moment = _ZERO_TIME
    offset = moment.utcoffset()
    if offset is None:
        raise DocumentError("$.now", "a time without a zone does not travel: give it a tzinfo")
    if offset % dt.timedelta(minutes=1):
        moment = moment.astimezone(dt.UTC)
    return moment.isoformat().removesuffix("+00:00") + ("Z" if not moment.utcoffset() else "")


def _read_time(node: Node) -> dt.datetime | None:
    text = node.text()
    if not _TIME.fullmatch(text):
        raise node.expected("an RFC 3339 time")
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise node.expected("an RFC 3339 time") from None
    return None if moment == _ZERO_TIME else moment


def _read_money(node: Node) -> Decimal:
    text = node.text()
    if not _MONEY.fullmatch(text):
        raise node.expected("a decimal number as a string")
    return Decimal(text)


def _write_money(amount: Decimal) -> str:
    if not amount.is_finite():
        raise DocumentError("$.cost", "a number that is not finite")
    return str(amount)


TEXT: Final[Codec[str]] = Codec(lambda value: value, Node.text)
FLAG: Final[Codec[bool]] = Codec(lambda value: value, Node.flag)
NUMBER: Final[Codec[float]] = Codec(lambda value: value, Node.number)
WHOLE: Final[Codec[int]] = Codec(lambda value: value, Node.whole)
TEXTS: Final = list_of(TEXT)
TEXTS_OR_NULL: Final = list_of(TEXT, empty=None)
OBJECT: Final[Codec[dict[str, object]]] = Codec(lambda value: value, _read_object, null=True)
ANYTHING: Final[Codec[object]] = Codec(plain, lambda node: node.value)
TIME: Final[Codec[dt.datetime | None]] = Codec(_write_time, _read_time)
MONEY: Final[Codec[Decimal]] = Codec(_write_money, _read_money, null=True)

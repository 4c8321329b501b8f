"""Errors as JSON and back: what an error means survives, what it quotes does not."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Final

from decide import errors
from decide._json import Node
from decide.answers import Usage
from decide.errors import DecideError, EngineError, EngineTimeoutError, NoAnswerError, detail_of
from decide.wire import from_json, to_json

_TYPES: Final[dict[str, type[DecideError]]] = {
    found.__name__: found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, DecideError)
}
_DEEPEST: Final = 20
"""How far causes and members are followed."""


def write_error(error: BaseException, depth: int = _DEEPEST) -> dict[str, object]:
    """
    Return *error* as JSON: its type, or the nearest of ours, its numbers, our own words, its members and its cause.

    No message and no text of a server is in it.
    """
    group = isinstance(error, BaseExceptionGroup)
    written: dict[str, object] = {"type": NoAnswerError.__name__ if group else _named(type(error))}
    written |= {key: value for key, value in _data(error).items() if value is not None and value is not False}
    members = error.exceptions if isinstance(error, BaseExceptionGroup) else getattr(error, "errors", ())
    if members and depth:
        written["errors"] = [write_error(member, depth - 1) for member in members]
    if error.__cause__ is not None and depth:
        written["cause"] = write_error(error.__cause__, depth - 1)
    return written


def read_error(node: Node) -> DecideError:
    """
    Build an error that means what the recorded one meant.

    Raises:
        DocumentError: If it is none of our types, or a member is of the wrong type.
    """
    kind = _TYPES.get(node.need("type").text())
    if kind is None:
        raise node.need("type").expected("the name of an error")
    detail = node.find("detail")
    words = detail.text() if detail else ""
    members = node.find("errors")
    error = (
        NoAnswerError(errors=[read_error(member) for member in members.items()] if members else (), detail=words)
        if kind is NoAnswerError
        else kind(f"a recorded {kind.__name__}" + (f": {words}" if words else ""))
    )
    error.detail = words
    _restore(error, node)
    cause = node.find("cause")
    error.__cause__ = read_error(cause) if cause else None
    return error


def _named(kind: type[BaseException]) -> str:
    return next((step.__name__ for step in kind.__mro__ if _TYPES.get(step.__name__) is step), EngineError.__name__)


def _data(error: BaseException) -> dict[str, object]:
    data: dict[str, object] = {"detail": detail_of(error) or None}
    if isinstance(error, DecideError):
        wait, status = error.retry_after, error.http_status
        data["httpStatus"] = status if isinstance(status, int) else None
        data["retryAfter"] = wait if isinstance(wait, int | float) and math.isfinite(wait) else None
        data["usage"] = _usage(error.usage)
    if isinstance(error, EngineError):
        data["transient"] = error.transient
    if isinstance(error, EngineTimeoutError):
        data["clipped"] = error.clipped
    return data


def _usage(usage: Usage | None) -> object:
    if isinstance(usage, Usage):
        with suppress(Exception):
            return to_json(usage)
    return None


def _restore(error: DecideError, node: Node) -> None:
    status, wait, usage = node.find("httpStatus"), node.find("retryAfter"), node.find("usage")
    error.http_status = status.whole() if status else None
    error.retry_after = wait.number() if wait else None
    error.usage = from_json(Usage, usage.value) if usage else None
    if isinstance(error, EngineError):
        transient = node.find("transient")
        error.transient = transient.flag() if transient else False
    if isinstance(error, EngineTimeoutError):
        clipped = node.find("clipped")
        error.clipped = clipped.flag() if clipped else False

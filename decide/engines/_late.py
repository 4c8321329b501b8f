"""Texts that are read when they are needed: keys and headers that may be set, or changed, after an engine was built."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from decide.errors import DecideError, MisconfiguredError

Late = str | Callable[[], str]
"""A text, or a function that is asked for it at every call, and must not block."""

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)


def key_from(variable: str) -> Callable[[], str]:
    """
    Return a key that is read from the environment at every call, so that it can be set, or changed, later.

    The call fails with a MisconfiguredError that names *variable* when it is not set, or empty.
    """
    return _Variable(variable)


def text_from(template: str) -> Callable[[], str]:
    """
    Return a text in which every `${NAME}` is read from the environment at every call; one that is not set is empty.

    Nothing else is special: neither `$NAME` nor a `${NAME}` inside a value.
    """
    return lambda: _VARIABLE.sub(lambda found: os.environ.get(found[1], ""), template)


class _Variable:
    """
    The value of a variable, and its name for those who describe where a key comes from.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self) -> str:
        key = os.environ.get(self.name, "")
        if not key:
            raise MisconfiguredError(f"environment variable {self.name} is not set", detail=f"{self.name} is not set")
        return key


def origin(text: Late | None) -> str:
    """
    Describe where *text* comes from, without it.
    """
    if text is None:
        return "none"
    if isinstance(text, _Variable):
        return f"environment variable {text.name}"
    return "given" if isinstance(text, str) else "a function"


def read(text: Late, what: str, engine: str) -> str:
    """
    Return *text* as it may stand in a header.

    Raises:
        MisconfiguredError: If it cannot, or the function for it fails; see `key_from`.
    """
    if isinstance(text, str):
        return text
    found, failed = "", ""
    try:
        found = text()
    except DecideError:
        raise
    except Exception as error:  # noqa: BLE001 - a caller's function, whose message may quote what it knows
        failed = type(error).__name__
    if failed:
        raise MisconfiguredError(f"{engine}: the function for {what} failed ({failed})", detail=f"no {what}")
    return found


def sendable(text: object) -> bool:
    """
    Say whether *text* may stand in a header.
    """
    return isinstance(text, str) and bool(text) and text.isascii() and text.isprintable()

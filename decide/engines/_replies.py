"""What comes back over HTTP, before anyone looks into it, or what broke on the way."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import attrs


@attrs.frozen(kw_only=True)
class Reply:
    """
    What a server sent back.

    Attributes:
        status: The HTTP status.
        headers: By name in lower case.
        body: The bytes; none when they were packed in an encoding that was not asked for.
        complete: The body was read to its end; else it was larger than we read.
        plain: The body came unpacked, as was asked for.
        secret: The key that was sent, so that no text of the server repeats it.
    """

    status: int
    headers: Mapping[str, str] = attrs.field(repr=False)
    body: bytes = attrs.field(default=b"", repr=False)
    complete: bool = True
    plain: bool = True
    secret: str = attrs.field(default="", repr=False)


def is_plain(encoding: str) -> bool:
    """
    Say whether a body with that `Content-Encoding` can be read as it is.
    """
    return encoding.strip().lower() in {"", "identity"}


class Fault(StrEnum):
    """
    Whose fault it is that there is no reply.
    """

    CONNECTION = "connection"
    REQUEST = "request"
    PROXY = "proxy"
    BUSY = "busy"
    TIMEOUT = "timeout"


class BrokenExchangeError(Exception):
    """
    There is no complete reply. Never leaves the engines.

    Attributes:
        what: The type of what happened.
        fault: Whose fault it is.
        answering: The head of a reply had come.
        status: What a proxy said instead of connecting.
    """

    def __init__(
        self, what: str, *, fault: Fault = Fault.CONNECTION, answering: bool = False, status: int | None = None
    ) -> None:
        super().__init__(what)
        self.what = what
        self.fault = fault
        self.answering = answering
        self.status = status

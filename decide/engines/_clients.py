"""A client of the caller's own, of httpx or of httpx2, as the way to a server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final, Protocol

import anyio

from decide.engines._replies import BrokenExchangeError, Fault, Reply, is_plain

_READ_AT_ONCE: Final = 128 * 1024
"""More than a client hands on without waiting for the network."""

_FAULTS: Final = {
    "PoolTimeout": Fault.BUSY,
    "TimeoutException": Fault.TIMEOUT,
    "LocalProtocolError": Fault.REQUEST,
    "UnsupportedProtocol": Fault.REQUEST,
    "InvalidURL": Fault.REQUEST,
}
"""By the name of a class, because httpx and httpx2 have the same errors without sharing them."""


class Response(Protocol):
    """
    The part of a response that is used here.
    """

    @property
    def status_code(self) -> int:
        """
        The HTTP status.
        """
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """
        By name, in any case.
        """
        ...

    def aiter_bytes(self) -> AsyncGenerator[bytes, None]:
        """
        Yield the body.
        """
        ...

    async def aclose(self) -> None:
        """
        Let go of the connection.
        """
        ...


class Client(Protocol):
    """
    The part of `httpx2.AsyncClient` and `httpx.AsyncClient` that is used here.
    """

    def build_request(self, method: str, url: Any, *, content: Any, headers: Any, timeout: Any) -> Any:
        """
        Return a request.
        """
        ...

    async def send(self, request: Any, *, stream: bool, follow_redirects: Any) -> Any:
        """
        Return a response of which only the head has been read.
        """
        ...


async def exchange(
    client: Client, method: str, url: str, headers: Mapping[str, str], body: bytes, *, longest: int
) -> Reply:
    """
    Send one request and read the reply, at most *longest* bytes of its body. Redirects are not followed.

    Raises:
        BrokenExchangeError: If there is no complete reply.
    """
    answering = False
    try:
        request = client.build_request(method, url, content=body, headers=dict(headers), timeout=None)
        response: Response = await client.send(request, stream=True, follow_redirects=False)
        answering = True
        async with aclosing(response):
            return await _read(response, longest)
    except Exception as error:  # noqa: BLE001 - a client's hooks and transports raise what they like
        raise BrokenExchangeError(type(error).__name__, fault=_fault(error), answering=answering) from None


async def _read(response: Response, longest: int) -> Reply:
    headers = {name.lower(): value for name, value in response.headers.items()}
    if not is_plain(headers.get("content-encoding", "")):
        return Reply(status=response.status_code, headers=headers, plain=False)
    body = bytearray()
    # What is too long is ended by cancelling the read that is under way: a generator of the client's would be left open
    # by a mere `break`, and trio warns of such.
    with anyio.CancelScope() as scope:
        async with aclosing(response.aiter_bytes()) as parts:
            async for part in parts:
                body += part
                if len(body) > longest:
                    scope.cancel()
                if len(body) > longest + _READ_AT_ONCE:
                    break
    complete = len(body) <= longest
    return Reply(status=response.status_code, headers=headers, body=bytes(body[:longest]), complete=complete)


def _fault(error: Exception) -> Fault:
    names = [one.__name__ for one in type(error).__mro__]
    return next((fault for name, fault in _FAULTS.items() if name in names), Fault.CONNECTION)

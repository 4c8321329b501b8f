"""The connections of one engine to its server, kept for the next call by the event loop that opened them."""

from __future__ import annotations

import socket
import ssl
import time
import weakref
from collections.abc import Awaitable, Mapping
from typing import Final

import anyio
import h11
from anyio.abc import ByteStream

from decide.engines._http11 import Connection
from decide.engines._loop_ends import close_at_end_of, current_loop
from decide.engines._proxies import Proxy, tunnel
from decide.engines._replies import BrokenExchangeError, Fault, Reply
from decide.engines._sockets import SocketStream, connected, encrypted

KEEP_ALIVE: Final = 4.0
"""Seconds that an idle connection is kept: fewer than the five after which common servers hang up."""

_Idle = dict[object, list[tuple[Connection, float]]]
_BROKEN = (OSError, anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Connections:
    """
    Connections to one place.

    Each serves one exchange at a time. Idle ones stay with the event loop that opened them and are closed when it ends,
    when they are too old, when this object is no longer used by anyone, and at `close`. How many there are is for the
    caller to bound.

    Args:
        host: Where to connect.
        port: Likewise.
        tls: How to encrypt; None for plain text.
        proxy: What lies in between.
        keep_alive: Seconds that an idle connection is kept.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        tls: ssl.SSLContext | None = None,
        proxy: Proxy | None = None,
        keep_alive: float = KEEP_ALIVE,
    ) -> None:
        self._host = host
        self._port = port
        self._tls = tls
        self._proxy = proxy
        self._keep_alive = keep_alive
        self._idle: _Idle = {}
        weakref.finalize(self, _close_all, self._idle)

    async def exchange(
        self, method: str, target: bytes, headers: Mapping[str, str], body: bytes, *, longest: int
    ) -> Reply:
        """
        Send a request over a connection that is free, or a new one, and read at most *longest* bytes of the reply.

        Cancelled, or failed, it closes the connection.

        Raises:
            BrokenExchangeError: If there is no complete reply; what happened is named as httpx names it.
        """
        request = self._request(method, target, headers)
        loop = current_loop()
        connection = self._free(loop) or await self._opened()
        try:
            reply = await _told(connection, connection.exchange(request, body, longest))
        except BaseException:
            connection.close()
            raise
        await self._keep(loop, connection, reply)
        return reply

    def close(self) -> None:
        """
        Close every idle connection.
        """
        _close_all(self._idle)

    def close_loop(self, loop: object) -> None:
        """
        Close the idle connections of *loop*.
        """
        _close(self._idle.pop(loop, []))

    @property
    def idle(self) -> int:
        """
        How many connections wait for the next call.
        """
        return sum(len(kept) for kept in list(self._idle.values()))

    def _free(self, loop: object) -> Connection | None:
        kept = self._idle.get(loop, [])
        oldest = time.monotonic() - self._keep_alive
        while kept:
            connection, since = kept.pop()
            if since > oldest and not connection.stale:
                return connection
            connection.close()
        return None

    def _request(self, method: str, target: bytes, headers: Mapping[str, str]) -> h11.Request:
        sent = dict(headers)
        if self._proxy is not None and self._tls is None:
            target = f"http://{headers['Host']}".encode("ascii") + target
            if self._proxy.authorization:
                sent["Proxy-Authorization"] = self._proxy.authorization
        try:
            return h11.Request(method=method, target=target, headers=list(sent.items()))
        except h11.LocalProtocolError:
            raise BrokenExchangeError("LocalProtocolError", fault=Fault.REQUEST) from None

    async def _opened(self) -> Connection:
        host, port = (self._host, self._port) if self._proxy is None else (self._proxy.host, self._proxy.port)
        try:
            plain = await connected(host, port)
            try:
                return Connection(await self._over(plain), plain)
            except BaseException:
                plain.close()
                raise
        except (h11.RemoteProtocolError, *_BROKEN):
            raise BrokenExchangeError("ConnectError") from None

    async def _over(self, plain: socket.socket) -> ByteStream:
        stream: ByteStream = SocketStream(plain)
        if self._proxy is not None:
            if self._proxy.tls is not None:
                stream = await encrypted(stream, self._proxy.host, self._proxy.tls)
            if self._tls is not None:
                await tunnel(stream, self._proxy, self._host, self._port)
        return stream if self._tls is None else await encrypted(stream, self._host, self._tls)

    async def _keep(self, loop: object, connection: Connection, reply: Reply) -> None:
        # What refuses a request may do so before it has read all of it, so that the rest would begin the next one.
        if not (connection.usable and 200 <= reply.status < 300):
            connection.close()
            return
        if loop not in self._idle:
            if not await close_at_end_of(loop, self):
                connection.close()
                return
            self._idle[loop] = []
        kept = self._idle[loop]
        now = time.monotonic()
        while kept and kept[0][1] <= now - self._keep_alive:
            kept.pop(0)[0].close()
        kept.append((connection, now))


async def _told(connection: Connection, reply: Awaitable[Reply]) -> Reply:
    """
    Wait for a reply, and name what breaks as httpx names it.
    """
    try:
        return await reply
    except (h11.RemoteProtocolError, anyio.EndOfStream):
        raise BrokenExchangeError("RemoteProtocolError", answering=connection.answering) from None
    except _BROKEN:
        raise BrokenExchangeError("ReadError", answering=connection.answering) from None


def _close(kept: list[tuple[Connection, float]]) -> None:
    while kept:
        kept.pop()[0].close()


def _close_all(idle: _Idle) -> None:
    for kept in list(idle.values()):
        _close(kept)

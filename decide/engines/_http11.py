"""One HTTP/1.1 connection: h11 says what the bytes mean, a stream carries them."""

from __future__ import annotations

import select
import socket
import ssl
from contextlib import suppress
from typing import Final

import anyio
import h11
from anyio.abc import ByteStream
from anyio.streams.tls import TLSAttribute

from decide.engines._replies import Reply, is_plain

MAX_HEAD_BYTES: Final = 100 * 1024
"""The longest head of a reply that is read, all its lines together."""

_READ_BYTES = 64 * 1024


class Connection:
    """
    A connection that carries one exchange after another.

    Attributes:
        answering: The exchange under way, or the last one, has got as far as the head of a reply.
    """

    def __init__(self, stream: ByteStream, connected: socket.socket) -> None:
        self._stream = stream
        self._socket = connected
        self._protocol = _protocol()
        self.answering = False

    def close(self) -> None:
        """
        Close the connection, at once, from any thread.
        """
        self._socket.close()

    @property
    def usable(self) -> bool:
        """
        Whether another exchange may begin: both sides have finished the last, and nothing came after it.
        """
        return (
            self._protocol.our_state is h11.IDLE
            and self._protocol.their_state is h11.IDLE
            and not self._protocol.trailing_data[0]
            and not _holds_more(self._stream)
        )

    @property
    def stale(self) -> bool:
        """
        Whether the other side hung up, or said something unasked, while nobody used the connection.
        """
        if self._socket.fileno() < 0:
            return True
        if not hasattr(select, "poll"):
            return bool(select.select([self._socket], [], [], 0)[0])
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0))

    async def exchange(self, request: h11.Request, body: bytes, longest: int) -> Reply:
        """
        Send a request in one piece and read the reply. Whatever ends this early leaves a connection to be closed.

        Args:
            request: The head; its content length is that of *body*.
            body: What follows it.
            longest: The longest body that is read; of a longer one, the beginning.

        Raises:
            OSError: If the connection breaks.
            anyio.EndOfStream: If the other side hangs up.
            anyio.BrokenResourceError: If what comes is not encrypted as it should be.
            h11.LocalProtocolError: If the request may not be sent.
            h11.RemoteProtocolError: If what comes is not HTTP/1.1, or its head is too long.
        """
        self.answering = False
        protocol = self._protocol
        sent = [protocol.send(request), protocol.send(h11.Data(body)), protocol.send(h11.EndOfMessage())]
        # A server that refuses a request may answer, and hang up, before it has read all of it.
        with suppress(OSError, anyio.BrokenResourceError):
            await self._stream.send(b"".join(part for part in sent if part))
        response = await self._response()
        self.answering = True
        headers = _by_name(response)
        if not is_plain(headers.get("content-encoding", "")):
            return Reply(status=response.status_code, headers=headers, plain=False)
        received, complete = await self._body(longest)
        if complete and protocol.our_state is h11.DONE and protocol.their_state is h11.DONE:
            protocol.start_next_cycle()
        return Reply(status=response.status_code, headers=headers, body=received, complete=complete)

    async def _response(self) -> h11.Response:
        while isinstance(event := await self._event(), h11.InformationalResponse) and event.status_code != 101:
            pass
        if not isinstance(event, h11.Response):
            raise h11.RemoteProtocolError("no reply")
        return event

    async def _body(self, longest: int) -> tuple[bytes, bool]:
        received = bytearray()
        while isinstance(event := await self._event(), h11.Data):
            received += event.data
            if len(received) > longest:
                return bytes(received[:longest]), False
        return bytes(received), True

    async def _event(self) -> object:
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            self._protocol.receive_data(await self._received())
        return event

    async def _received(self) -> bytes:
        try:
            return await self._stream.receive(_READ_BYTES)
        except anyio.EndOfStream:
            if self._protocol.their_state is h11.SEND_RESPONSE:
                raise
            return b""


def _holds_more(stream: ByteStream) -> bool:
    """
    Say whether more came over TLS than was taken: it waits where neither the protocol nor the socket shows it.
    """
    encrypted = stream.extra(TLSAttribute.ssl_object, None)  # noqa: S610 - no database here
    if encrypted is None:
        return False
    try:
        encrypted.read(1)
    except ssl.SSLWantReadError:
        return False
    except ssl.SSLError:
        return True
    return True


def _protocol() -> h11.Connection:
    return h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)


def _by_name(response: h11.Response) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in response.headers:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers

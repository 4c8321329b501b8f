"""A server that misbehaves as a test says, byte by byte, on either backend, and remembers what it was sent."""

import socket
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.abc
import attrs

BACKLOG = 64


class GoneError(Exception):
    """The client hung up."""


@attrs.frozen(kw_only=True)
class Received:
    """One request that was read to its end."""

    head: bytes
    body: bytes

    def header(self, name: str) -> str:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        found = [line.partition(":")[2].strip() for line in lines if line.partition(":")[0].lower() == name.lower()]
        return ", ".join(found)


class Peer:
    """The server's end of one connection."""

    def __init__(self, connection: socket.socket, requests: list[Received]) -> None:
        self._socket = connection
        self._requests = requests
        self._buffer = b""

    async def request(self) -> Received:
        """Read one request to its end."""
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += await self.read()
        head, _, rest = self._buffer.partition(b"\r\n\r\n")
        length = int(Received(head=head, body=b"").header("content-length") or 0)
        while len(rest) < length:
            rest += await self.read()
        self._buffer = rest[length:]
        received = Received(head=head, body=rest[:length])
        self._requests.append(received)
        return received

    async def read(self) -> bytes:
        while True:
            await anyio.wait_readable(self._socket)
            try:
                data = self._socket.recv(65536)
            except BlockingIOError:
                continue
            except OSError:
                raise GoneError from None
            if not data:
                raise GoneError
            return data

    async def send(self, *data: bytes) -> None:
        """Send all of *data* in one piece."""
        view = memoryview(b"".join(data))
        while view:
            await anyio.wait_writable(self._socket)
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:
                continue
            except OSError:
                raise GoneError from None

    async def drip(self, data: bytes, *, every: float = 0.0) -> None:
        """Send byte after byte, so that every read of the client makes progress."""
        for position in range(len(data)):
            await self.send(data[position : position + 1])
            await anyio.sleep(every)

    async def gone(self) -> None:
        """Wait until the client has hung up."""
        with suppress(GoneError):
            while True:
                await self.read()

    def reset(self) -> None:
        """Hang up with a reset in place of an orderly end."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()


Behaviour = Callable[[Peer], Awaitable[None]]


@attrs.define
class Served:
    """A running server, and what came to it."""

    url: str
    requests: list[Received] = attrs.field(factory=list)
    connections: int = 0
    open: int = 0
    _changed: anyio.Event = attrs.field(factory=anyio.Event)

    async def all_closed(self) -> None:
        """Wait until no connection is open."""
        while self.open:
            await self._changed.wait()

    async def serve(self, listener: socket.socket, behave: Behaviour, accept_after: anyio.Event | None) -> None:
        if accept_after is not None:
            await accept_after.wait()
        async with anyio.create_task_group() as group:
            while True:
                await anyio.wait_readable(listener)
                connection, _ = listener.accept()
                connection.setblocking(False)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections += 1
                self.open += 1
                group.start_soon(self._behave, connection, behave)

    async def _behave(self, connection: socket.socket, behave: Behaviour) -> None:
        try:
            with suppress(GoneError):
                await behave(Peer(connection, self.requests))
        finally:
            connection.close()
            self.open -= 1
            self._changed.set()
            self._changed = anyio.Event()


@asynccontextmanager
async def misbehaving(
    behave: Behaviour, *, backlog: int = BACKLOG, accept_after: anyio.Event | None = None
) -> AsyncGenerator[Served]:
    """
    Run a server for as long as the block lasts.

    Args:
        behave: What it does with a connection, which ends when this returns.
        backlog: How many connections the kernel takes before the server accepts one.
        accept_after: When it begins to accept; None for at once.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=backlog) as listener:
        listener.setblocking(False)
        served = Served(f"http://127.0.0.1:{listener.getsockname()[1]}")
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(served.serve, listener, behave, accept_after)
            try:
                yield served
            except Exception as error:  # noqa: BLE001 - raised below, so that it does not come wrapped in a group
                failure = error
            finally:
                group.cancel_scope.cancel()
        if failure is not None:
            raise failure


def reply(
    body: bytes, *headers: str, status: str = "200 OK", version: str = "HTTP/1.1", length: int | None = None
) -> bytes:
    """Return a whole reply, as JSON and with its length unless *headers* say otherwise."""
    named = {header.partition(":")[0].lower() for header in headers}
    lines = [f"{version} {status}", *headers]
    if "content-type" not in named:
        lines.append("Content-Type: application/json")
    if not named & {"content-length", "transfer-encoding"}:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def says(data: bytes) -> Behaviour:
    """Read a request, send exactly these bytes and hang up."""

    async def behave(peer: Peer) -> None:
        await peer.request()
        await peer.send(data)

    return behave

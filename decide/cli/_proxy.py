"""A TCP proxy on loopback that holds connections back for as long as it is told to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
from anyio import TypedAttributeProvider
from anyio.abc import ByteStream, SocketAttribute

LOOPBACK: Final = "127.0.0.1"


class DelayingProxy:
    """
    What lies between the demo and its server.

    Attributes:
        port: Where it listens.
        delay: Seconds that every new connection is held back. Whoever is told later is held back longer.
    """

    def __init__(self, port: int, target: int) -> None:
        self.port = port
        self.delay = 0.0
        self._target = target

    async def forward(self, client: ByteStream) -> None:
        """
        Serve one connection: connect it to the target after the delay, or close it when nobody listens there.
        """
        async with client:
            await anyio.sleep(self.delay)
            with suppress(OSError):
                async with await anyio.connect_tcp(LOOPBACK, self._target) as server:
                    await _join(client, server)


@asynccontextmanager
async def delaying_proxy(target: int) -> AsyncIterator[DelayingProxy]:
    """
    Run a proxy to the port *target*; leaving drops its connections.
    """
    async with await anyio.create_tcp_listener(local_host=LOOPBACK) as listener, anyio.create_task_group() as group:
        proxy = DelayingProxy(port_of(listener), target)
        group.start_soon(listener.serve, proxy.forward)
        yield proxy
        group.cancel_scope.cancel()


def port_of(listener: TypedAttributeProvider) -> int:
    """
    Return the port that *listener* listens on.
    """
    return listener.extra(SocketAttribute.local_port)  # noqa: S610 - an attribute of anyio's, no SQL


async def _join(client: ByteStream, server: ByteStream) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(_pump, client, server)
        await _pump(server, client)
        group.cancel_scope.cancel()


async def _pump(source: ByteStream, sink: ByteStream) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for chunk in source:
            await sink.send(chunk)

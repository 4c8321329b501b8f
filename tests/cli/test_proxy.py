"""The proxy that the demo slows down, over real sockets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import ByteStream

from decide.cli._proxy import LOOPBACK, delaying_proxy, port_of

pytestmark = pytest.mark.real_time


@asynccontextmanager
async def shouting_server() -> AsyncIterator[int]:
    """A server that answers one message in capitals and hangs up."""

    async def shout(client: ByteStream) -> None:
        async with client:
            await client.send((await client.receive()).upper())

    async with await anyio.create_tcp_listener(local_host=LOOPBACK) as listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, shout)
        yield port_of(listener)
        group.cancel_scope.cancel()


async def talk(port: int, message: bytes) -> bytes:
    """Send *message* and return everything that comes back before the other side hangs up."""
    async with await anyio.connect_tcp(LOOPBACK, port) as stream:
        await stream.send(message)
        return b"".join([chunk async for chunk in stream])


async def test_what_is_sent_arrives_and_what_is_answered_comes_back() -> None:
    async with shouting_server() as port, delaying_proxy(port) as proxy:
        assert await talk(proxy.port, b"hello") == b"HELLO"


async def test_a_connection_is_held_back_for_the_delay() -> None:
    async with shouting_server() as port, delaying_proxy(port) as proxy:
        proxy.delay = 0.15
        begun = anyio.current_time()
        assert await talk(proxy.port, b"slowly") == b"SLOWLY"

        assert anyio.current_time() - begun >= 0.15


async def test_a_target_that_is_gone_hangs_up() -> None:
    async with shouting_server() as port:
        pass
    async with delaying_proxy(port) as proxy:
        with anyio.fail_after(5):
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                async with await anyio.connect_tcp(LOOPBACK, proxy.port) as stream:
                    await stream.receive()


async def test_a_client_that_gives_up_leaves_the_proxy_in_service() -> None:
    async with shouting_server() as port, delaying_proxy(port) as proxy:
        proxy.delay = 10.0
        with anyio.move_on_after(0.05):
            await talk(proxy.port, b"never")
        proxy.delay = 0.0

        assert await talk(proxy.port, b"again") == b"AGAIN"


async def test_leaving_drops_the_connections_that_are_held_back() -> None:
    with anyio.fail_after(5):
        async with shouting_server() as port, delaying_proxy(port) as proxy:
            proxy.delay = 60.0
            async with await anyio.connect_tcp(LOOPBACK, proxy.port) as stream:
                await stream.send(b"hello")
                await anyio.sleep(0.02)
        assert anyio.current_time() > 0

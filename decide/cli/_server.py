"""A real decision server in a process of its own, for as long as a demo needs it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio
from anyio.abc import Process

from decide.cli._proxy import LOOPBACK, port_of

_MODULE = "sparrow_decider.cli"
_PATIENCE: Final = 15.0
_PAUSE: Final = 0.05


class ServerError(Exception):
    """
    The server did not come up.
    """


class SparrowServer:
    """
    A running `sparrow-decider serve`.

    Attributes:
        port: Where it listens, on loopback.
    """

    def __init__(self, process: Process, port: int) -> None:
        self.port = port
        self._process = process

    async def kill(self) -> None:
        """
        End the process at once, without a chance to say goodbye, and wait until it is gone, also when cancelled.
        """
        with anyio.CancelScope(shield=True):
            if self._process.returncode is None:
                self._process.kill()
            await self._process.wait()

    async def healthy(self) -> None:
        """
        Wait until the server says that it is well.

        Raises:
            ServerError: If it ends first, or takes longer than 15 seconds.
        """
        with anyio.move_on_after(_PATIENCE):
            while self._process.returncode is None:
                if await _is_well(self.port):
                    return
                await anyio.sleep(_PAUSE)
        raise ServerError("sparrow-decider serve did not start; is the extra decide-engine[local] installed?")


@asynccontextmanager
async def sparrow_server() -> AsyncIterator[SparrowServer]:
    """
    Run `sparrow-decider serve` on a free port of loopback. However this is left, the process is gone afterwards.
    """
    try:
        server = await _started(await _free_port())
    except OSError as error:
        raise ServerError(f"sparrow-decider serve did not start: {error.strerror}") from None
    try:
        await server.healthy()
        yield server
    finally:
        await server.kill()


async def _started(port: int) -> SparrowServer:
    command = [sys.executable, "-m", _MODULE, "serve", "--host", LOOPBACK, "--port", str(port)]
    process = await anyio.open_process(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return SparrowServer(process, port)


async def _free_port() -> int:
    async with await anyio.create_tcp_listener(local_host=LOOPBACK) as listener:
        return port_of(listener)


async def _is_well(port: int) -> bool:
    try:
        async with await anyio.connect_tcp(LOOPBACK, port) as stream:
            await stream.send(b"GET /health HTTP/1.0\r\n\r\n")
            reply = b"".join([chunk async for chunk in stream])
    except (OSError, anyio.BrokenResourceError):
        return False
    return reply.split(b" ", 2)[1:2] == [b"200"]

"""TCP and TLS streams that no event loop owns, so that closing one never waits and never warns."""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Final

import anyio
import anyio.lowlevel
import httpx2
from anyio.abc import ByteStream
from anyio.streams.tls import TLSStream

HEAD_START: Final = 0.3
"""Seconds that an address of a host has for itself before the next one is tried instead."""

_Address = tuple[socket.AddressFamily, tuple[object, ...]]


class SocketStream(ByteStream):
    """
    A connected socket.

    anyio's own stream costs asyncio twice the time for a round trip and can only be closed by a task of its loop.
    """

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    async def send(self, item: bytes) -> None:
        rest = memoryview(item)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        received = self._waiting(max_bytes)
        if received is None:
            while received is None:
                await anyio.wait_readable(self._socket)
                received = self._waiting(max_bytes)
        else:
            # A server that never stops talking must stop neither the others nor the clock.
            await anyio.lowlevel.checkpoint()
        if not received:
            raise anyio.EndOfStream
        return received

    def _waiting(self, max_bytes: int) -> bytes | None:
        try:
            return self._socket.recv(max_bytes)
        except BlockingIOError:
            return None

    async def send_eof(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    async def aclose(self) -> None:
        self._socket.close()


async def connected(host: str, port: int) -> socket.socket:
    """
    Connect to the first address of *host* that takes the connection.

    `localhost` is this machine and is never looked up. Each address has `HEAD_START` seconds for itself, the last one
    as long as the caller has.

    Raises:
        OSError: If there is no such host, or nobody takes the connection.
    """
    addresses = await _addresses(host, port)
    failure = OSError("no address")
    for position, (family, address) in enumerate(addresses, start=1):
        with anyio.move_on_after(HEAD_START if position < len(addresses) else None):
            try:
                return await _connected(family, address)
            except OSError as error:
                failure = error
    raise failure


@cache
def trusted() -> ssl.SSLContext:
    """
    Return how to encrypt for hosts that a public authority vouches for.

    Loading the certificates takes some 0.1 s, once in a process, and blocks.
    """
    context = httpx2.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


async def encrypted(plain: ByteStream, host: str, context: ssl.SSLContext) -> ByteStream:
    """
    Return a stream over *plain* that only *host* can read.

    Raises:
        OSError: If the handshake fails: `ssl.SSLError` is one.
        anyio.BrokenResourceError: If the other side does not speak TLS.
        anyio.EndOfStream: If the other side hangs up.
    """
    return await TLSStream.wrap(plain, hostname=host, ssl_context=context, server_side=False, standard_compatible=False)


async def _addresses(host: str, port: int) -> list[_Address]:
    if host == "localhost":
        return [(socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port, 0, 0))]
    try:
        version = ipaddress.ip_address(host).version
    except ValueError:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return _by_turns((family, address) for family, _, _, _, address in found)
    return [(socket.AF_INET, (host, port)) if version == 4 else (socket.AF_INET6, (host, port, 0, 0))]


def _by_turns(addresses: Iterable[_Address]) -> list[_Address]:
    """
    Let the families take turns, in the resolver's order, so that one that leads nowhere costs one head start.
    """
    seen: Counter[socket.AddressFamily] = Counter()
    ranked: list[tuple[int, _Address]] = []
    for family, address in addresses:
        ranked.append((seen[family], (family, address)))
        seen[family] += 1
    return [address for _, address in sorted(ranked, key=lambda one: one[0])]


async def _connected(family: socket.AddressFamily, address: tuple[object, ...]) -> socket.socket:
    new = socket.socket(family, socket.SOCK_STREAM)
    try:
        new.setblocking(False)
        new.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            new.connect(address)
        except BlockingIOError:
            await anyio.wait_writable(new)
            if failed := new.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(failed, os.strerror(failed)) from None
    except BaseException:
        new.close()
        raise
    return new

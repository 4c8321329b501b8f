"""Which proxy lies between us and a server, if any, and how a connection is had through it."""

from __future__ import annotations

import base64
import ssl
from typing import Final
from urllib.parse import unquote
from urllib.request import getproxies, proxy_bypass

import attrs
import h11
import httpx2
from anyio.abc import ByteStream

from decide.engines._endpoints import url_of
from decide.engines._replies import BrokenExchangeError, Fault
from decide.engines._setup import SetupError
from decide.engines._sockets import trusted

ENVIRONMENT: Final = "environment"
"""Stands for the proxy that the environment names for a host: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`."""


@attrs.frozen(kw_only=True)
class Proxy:
    """
    A proxy that speaks HTTP.

    Attributes:
        host: Where it is.
        port: Likewise.
        tls: How to encrypt what goes to itself; None for plain text.
        authorization: What it is told about who we are; empty for nothing.
    """

    host: str
    port: int
    tls: ssl.SSLContext | None = attrs.field(default=None, repr=False)
    authorization: str = attrs.field(default="", repr=False)

    def __str__(self) -> str:
        return f"{'http' if self.tls is None else 'https'}://{self.host}:{self.port}"


def proxy_for(url: httpx2.URL, proxy: str | None, *, loopback: bool) -> Proxy | None:
    """
    Return the proxy for requests to *url*.

    Args:
        url: Where requests go.
        proxy: A proxy's URL, `ENVIRONMENT`, or None for none.
        loopback: The server is on this machine, where the environment's proxies are not used.

    Raises:
        SetupError: If there is one that cannot be used.
    """
    if proxy is None or (proxy == ENVIRONMENT and loopback):
        return None
    if proxy != ENVIRONMENT:
        return _read(proxy)
    named = getproxies()
    found = named.get(url.scheme) or named.get("all")
    if not found or proxy_bypass(url.netloc.decode("ascii")):
        return None
    return _read(found if "://" in found else f"http://{found}")


async def tunnel(stream: ByteStream, proxy: Proxy, host: str, port: int) -> None:
    """
    Have *proxy*, at the other end of *stream*, connect it to a host.

    Raises:
        BrokenExchangeError: If it will not.
        OSError: If the connection breaks.
        anyio.EndOfStream: If the proxy hangs up.
        h11.RemoteProtocolError: If it is none.
    """
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    headers = [("Host", place), ("User-Agent", "decide-engine")]
    if proxy.authorization:
        headers.append(("Proxy-Authorization", proxy.authorization))
    protocol = h11.Connection(h11.CLIENT)
    asked = protocol.send(h11.Request(method="CONNECT", target=place, headers=headers)) or b""
    await stream.send(asked + (protocol.send(h11.EndOfMessage()) or b""))
    while (event := protocol.next_event()) is h11.NEED_DATA:
        protocol.receive_data(await stream.receive())
    status = event.status_code if isinstance(event, h11.Response) else None
    if status is None or not 200 <= status < 300 or protocol.trailing_data[0]:
        raise BrokenExchangeError("Proxy", fault=Fault.PROXY, status=status)


def _read(text: str) -> Proxy:
    url = url_of(text)
    if url is None or url.scheme not in {"http", "https"} or not url.host:
        raise SetupError(
            "proxy: must be the URL of an http or https proxy; for another kind pass client=httpx2.AsyncClient(proxy=…)"
        )
    secret = unquote(url.userinfo.decode("ascii"))
    return Proxy(
        host=url.host,
        port=url.port or (443 if url.scheme == "https" else 80),
        tls=trusted() if url.scheme == "https" else None,
        authorization=f"Basic {base64.b64encode(secret.encode()).decode('ascii')}" if secret else "",
    )

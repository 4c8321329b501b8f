"""The address that a base URL stands for, and how far away it is."""

from __future__ import annotations

import ipaddress
from typing import Final

import attrs
import httpx2

from decide.engines._setup import SetupError

ROUTE: Final = "/v1/systemone"


@attrs.frozen(kw_only=True)
class Endpoint:
    """
    Where requests go.

    Attributes:
        url: The full address of the route.
        loopback: The host is this machine: `localhost`, 127.0.0.0/8 or ::1, spelled so. Look-alikes are not.
        encrypted: The scheme is https.
    """

    url: httpx2.URL
    loopback: bool
    encrypted: bool


def endpoint(base_url: str) -> Endpoint:
    """
    Read a base URL as people type it.

    Blanks around it, trailing slashes, a trailing `/v1` and a trailing `/v1/systemone` are taken off, then
    `/v1/systemone` is put on, so that every form of one server gives one address. A path in front of it, as in
    `/api/alpha`, stays.

    Raises:
        SetupError: If the scheme is not http or https, or the URL has credentials, a query, a fragment, no host, or
            characters on which URL parsers disagree.
    """
    url = _parsed(base_url.strip())
    if url is None:
        raise SetupError("base_url: not a URL; write it as https://host or http://127.0.0.1:8000")
    if url.scheme not in {"http", "https"}:
        raise SetupError("base_url: must start with http:// or https://")
    if url.userinfo:
        raise SetupError("base_url: must not hold credentials; pass api_key")
    if not url.host:
        raise SetupError("base_url: names no host")
    if url.port is not None and not 0 < url.port < 65536:
        raise SetupError("base_url: there is no such port")
    if url.query or url.fragment or "?" in base_url or "#" in base_url:
        raise SetupError("base_url: must not have a query or a fragment")
    path = url.raw_path.decode("ascii").rstrip("/").removesuffix(ROUTE).removesuffix("/v1").rstrip("/")
    return Endpoint(
        url=url.copy_with(raw_path=f"{path}{ROUTE}".encode("ascii")),
        loopback=is_loopback(url.host),
        encrypted=url.scheme == "https",
    )


def is_loopback(host: str) -> bool:
    """
    Say whether *host* is this machine by its spelling alone, without looking it up.
    """
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    # An IPv4 address inside an IPv6 one counts as loopback in some versions of Python; a look-alike is none of ours.
    return address.is_loopback if isinstance(address, ipaddress.IPv4Address) else str(address) == "::1"


def _parsed(text: str) -> httpx2.URL | None:
    if "\\" in text or not text.isprintable() or " " in text:
        return None
    try:
        return httpx2.URL(text)
    except httpx2.InvalidURL:
        return None

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
        base: What stands before the route in the path: no slash at its end, no version.
        loopback: The host is this machine: `localhost`, 127.0.0.0/8 or ::1, spelled so. Look-alikes are not.
        encrypted: The scheme is https.
    """

    url: httpx2.URL
    base: str
    loopback: bool
    encrypted: bool

    @property
    def port(self) -> int:
        """
        The port, also when the URL leaves it to the scheme.
        """
        return self.url.port or (443 if self.encrypted else 80)

    def at(self, path: str) -> httpx2.URL:
        """
        Return the address of another route of the same server.
        """
        return self.url.copy_with(raw_path=f"{self.base}{path}".encode("ascii"))


def endpoint(base_url: str, route: str = ROUTE) -> Endpoint:
    """
    Read a base URL as people type it.

    Blanks around it and trailing slashes are taken off, and so is what it already has of *route* (`/v1`,
    `/v1/systemone`) or another version; then *route* is put on, so that every form of one server gives one address. A
    path in front of it, as in `/api/alpha`, stays.

    Raises:
        SetupError: If the scheme is not http or https, or the URL has credentials, a query, a fragment, no host, or
            characters on which URL parsers disagree.
    """
    url = parsed(base_url)
    base = _base(url.raw_path.decode("ascii").rstrip("/"), route)
    return Endpoint(
        url=url.copy_with(raw_path=f"{base}{route}".encode("ascii")),
        base=base,
        loopback=is_loopback(url.host),
        encrypted=url.scheme == "https",
    )


def parsed(base_url: str) -> httpx2.URL:
    """
    Parse a base URL.

    Raises:
        SetupError: As `endpoint` does.
    """
    url = url_of(base_url.strip())
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
    return url


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


def url_of(text: str) -> httpx2.URL | None:
    """
    Return *text* as a URL; None when it is none, or one on which parsers disagree.
    """
    if "\\" in text or not text.isprintable() or " " in text:
        return None
    try:
        return httpx2.URL(text)
    except httpx2.InvalidURL:
        return None


def _base(path: str, route: str) -> str:
    parts = route.split("/")
    for end in range(len(parts), 1, -1):
        if path.endswith("/".join(parts[:end])):
            return path.removesuffix("/".join(parts[:end])).rstrip("/")
    return path.removesuffix("/v1").rstrip("/")

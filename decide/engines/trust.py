"""Which servers on other machines may be sent anything, as a person has written it down."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

import attrs

from decide.engines._endpoints import is_loopback, parsed
from decide.engines._setup import SetupError

_DOTS: Final = frozenset({".", "..", "%2e", "%2e%2e", ".%2e", "%2e."})
_PORTS: Final = {"http": 80, "https": 443}


@attrs.frozen
class Place:
    """
    A server, and a part of it: what a URL says once it has been parsed.

    Attributes:
        scheme: http or https.
        host: In lower case, an address in its shortest form.
        port: Filled in when the URL leaves it to the scheme.
        path: The segments of the path.
    """

    scheme: str
    host: str
    port: int
    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return "/".join([f"{self.scheme}://{host}{port}", *self.path])

    @property
    def loopback(self) -> bool:
        """
        Whether it is this machine, which needs no trust.
        """
        return is_loopback(self.host)

    def covers(self, other: Place) -> bool:
        """
        Say whether *other* is this place or below it: the same scheme, host and port, and whole segments of the path.
        """
        same = (self.scheme, self.host, self.port) == (other.scheme, other.host, other.port)
        return same and other.path[: len(self.path)] == self.path


def place_of(url: str) -> Place:
    """
    Read a URL as a place.

    Raises:
        SetupError: If its scheme is not http or https, or it has credentials, a query, a fragment, dot segments, or
            characters on which URL parsers disagree.
    """
    found = parsed(url)
    # Looked for in what was written: a parser resolves them, each in its own way.
    written = url.strip().partition("://")[2].split("/")[1:]
    if any(segment.lower() in _DOTS for segment in written):
        raise SetupError("base_url: must not have dot segments in its path")
    segments = [segment for segment in found.raw_path.decode("ascii").split("/") if segment]
    return Place(found.scheme, _host(found.host), found.port or _PORTS[found.scheme], tuple(segments))


def is_trusted(url: str, lines: Iterable[str]) -> bool:
    """
    Say whether *url* is this machine, or one of the places in *lines* covers it.

    Lines that are blank, begin with # or are no URL stand for nothing.

    Raises:
        SetupError: If *url* is none that could be trusted.
    """
    place = place_of(url)
    return place.loopback or any(known.covers(place) for known in _places(lines))


class Trust:
    """
    The places that a person trusts, one a line in a file of theirs.

    Args:
        path: The file; by default `decide/trusted` below `$XDG_STATE_HOME`, or below `~/.local/state`.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path: Path = _default_path() if path is None else path

    def places(self) -> tuple[Place, ...]:
        """
        Return what is trusted, in the order in which it was added.

        Raises:
            OSError: If the file cannot be read.
        """
        return tuple(dict.fromkeys(_places(self._lines())))

    def covers(self, url: str) -> bool:
        """
        Say whether *url* may be sent anything.

        Raises:
            SetupError: If *url* is none that could be trusted.
            OSError: If the file cannot be read.
        """
        return is_trusted(url, self._lines())

    def add(self, url: str) -> bool:
        """
        Trust *url* and what is below it; False when it needs none or has it.

        Raises:
            SetupError: If it is none that could be trusted.
            OSError: If the file cannot be written.
        """
        place = place_of(url)
        if place.loopback or place in self.places():
            return False
        self._write([*self._lines(), str(place)])
        return True

    def remove(self, url: str) -> bool:
        """
        Trust exactly *url* no longer; False when it was not trusted. Comments in the file stay.

        Raises:
            SetupError: If it is none that could be trusted.
            OSError: If the file cannot be written.
        """
        place = place_of(url)
        if place not in self.places():
            return False
        rest = [line for line in self._lines() if place not in _places([line])]
        if any(line.strip() for line in rest):
            self._write(rest)
        else:
            self.path.unlink()
        return True

    def _lines(self) -> list[str]:
        try:
            return self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []

    def _write(self, lines: Iterable[str]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with NamedTemporaryFile("w", encoding="utf-8", dir=self.path.parent, delete=False) as new:
            new.writelines(f"{line}\n" for line in lines)
        Path(new.name).replace(self.path)


def _host(host: str) -> str:
    """
    Return a host in the one form that an address has several of.
    """
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host


def _places(lines: Iterable[str]) -> Iterable[Place]:
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                yield place_of(line)
            except SetupError:
                continue


def _default_path() -> Path:
    state = os.environ.get("XDG_STATE_HOME", "")
    base = Path(state) if Path(state).is_absolute() else Path.home() / ".local" / "state"
    return base / "decide" / "trusted"

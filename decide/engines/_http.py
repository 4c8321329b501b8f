"""One HTTP service as its engine talks to it: what travels there, what waits, and what is told when nothing comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs
import httpx2

from decide._turn_queue import TurnQueue
from decide.attempt_log import AttemptLog
from decide.deadlines import LEAST_TIME
from decide.engines import _clients, _late
from decide.engines._clients import Client
from decide.engines._connections import Connections
from decide.engines._endpoints import Endpoint
from decide.engines._late import Late
from decide.engines._proxies import ENVIRONMENT, Proxy, proxy_for
from decide.engines._replies import BrokenExchangeError, Fault, Reply
from decide.engines._setup import SetupError
from decide.engines._sockets import trusted
from decide.errors import BusyError, DecideError, EngineError, EngineTimeoutError, MisconfiguredError

MAX_RESPONSE_BYTES: Final = 1024 * 1024
CONCURRENCY: Final = 64

_COMMON = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "decide-engine"}
_RESERVED = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "host", "te", "transfer-encoding", "upgrade"}
)


@attrs.frozen(kw_only=True)
class Sending:
    """
    How requests to a service are sent. What each means, `SystemOneEngine` says.
    """

    api_key: Late | None = attrs.field(default=None, repr=False)
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    headers: Mapping[str, Late] = attrs.field(factory=dict, repr=False)
    allow_insecure: bool = False
    proxy: str | None = attrs.field(default=ENVIRONMENT, repr=False)
    max_response_bytes: int = MAX_RESPONSE_BYTES
    concurrency: int = CONCURRENCY
    wait: float | None = None
    client: Client | None = None


class HttpService:
    """
    A service, and the connections to it.

    Requests are never sent twice and never redirected. Replies are never unpacked, and read only so far. Errors hold
    neither the key, nor what was sent, nor what came back.

    Args:
        place: Where it is.
        name: What errors call it.
        sending: How to talk to it.

    Raises:
        SetupError: If something of that makes no sense.
    """

    def __init__(self, place: Endpoint, name: str, sending: Sending) -> None:
        _check(place, sending)
        self.place = place
        self._name = name
        self._sending = sending
        self._turns = TurnQueue(sending.concurrency)
        own = sending.client is None
        self.proxy: Proxy | None = proxy_for(place.url, sending.proxy, loopback=place.loopback) if own else None
        # The certificates are loaded here and not in a call, which it would block.
        tls = trusted() if own and place.encrypted else None
        self._connections = Connections(place.url.host, place.port, tls=tls, proxy=self.proxy)

    async def post(self, body: bytes, log: AttemptLog) -> Reply:
        """
        Send *body*, JSON, to the route of the service.

        The wait for a connection is written into *log*. Cancelled, it closes the connection.

        Raises:
            DecideError: Of the kind that the failure stands for.
        """
        return await self._send("POST", self.place.url, body, log)

    async def get(self, path: str, log: AttemptLog) -> Reply:
        """
        Get another route of the service.

        Raises:
            DecideError: As `post` does.
        """
        return await self._send("GET", self.place.at(path), b"", log)

    def close(self) -> None:
        """
        Close the connections that wait for the next call.
        """
        self._connections.close()

    def effective(self) -> dict[str, object]:
        """
        Describe where requests go and how, without anything that is secret.
        """
        sending = self._sending
        return {
            "url": str(self.place.url),
            "loopback": self.place.loopback,
            "proxy": "the client's" if sending.client is not None else str(self.proxy) if self.proxy else "none",
            "key": _late.origin(sending.api_key),
            "key_header": sending.key_header,
            "headers": sorted(sending.headers),
            "concurrency": sending.concurrency,
            "wait": sending.wait,
            "max_response_bytes": sending.max_response_bytes,
            "client": type(sending.client).__name__ if sending.client is not None else "own",
        }

    async def _send(self, method: str, url: httpx2.URL, body: bytes, log: AttemptLog) -> Reply:
        await self._take_turn(log)
        try:
            reply = await self._sent(method, url, body)
        finally:
            self._turns.pass_on()
        if isinstance(reply, DecideError):
            raise reply
        return reply

    async def _sent(self, method: str, url: httpx2.URL, body: bytes) -> Reply | DecideError:
        """
        Send one request with the key, and return the reply, or what went wrong.

        The error is returned without its traceback, because the frames on the way hold the key, and some who print a
        traceback print what its frames hold.
        """
        try:
            key = self._key()
            reply = await self._exchange(method, url, self._headers(key, body), body)
        except DecideError as error:
            return error.with_traceback(None)
        return reply if isinstance(reply, DecideError) else attrs.evolve(reply, secret=key)

    def _key(self) -> str:
        if self._sending.api_key is None:
            return ""
        key = _late.read(self._sending.api_key, "key", self._name)
        if not _late.sendable(key):
            raise MisconfiguredError(f"{self._name}: api_key must be printable ASCII, and not empty", detail="no key")
        return key

    def _headers(self, key: str, body: bytes) -> dict[str, str]:
        headers = {"Host": self.place.url.netloc.decode("ascii"), **_COMMON}
        if body:
            headers |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        if key:
            headers[self._sending.key_header] = f"{self._sending.key_prefix}{key}"
        for name, text in self._sending.headers.items():
            headers[name] = found = _late.read(text, "header", self._name)
            if found != "" and not _late.sendable(found):
                raise MisconfiguredError(f"{self._name}: header {name} must be printable ASCII", detail="no header")
        return headers

    async def _take_turn(self, log: AttemptLog) -> None:
        """
        Wait for one of so many exchanges at once, as long as a call that begins then would still have time.
        """
        if self._turns.take_free():
            return
        started = log.now()
        within = log.deadline - started - LEAST_TIME
        if self._sending.wait is not None:
            within = min(within, self._sending.wait)
        try:
            came = await self._turns.take(within)
        finally:
            log.waited += log.now() - started
        if not came:
            raise BusyError(f"{self._name}: no connection came free", detail="no connection")

    async def _exchange(
        self, method: str, url: httpx2.URL, headers: Mapping[str, str], body: bytes
    ) -> Reply | DecideError:
        """
        Send one request and read the reply, or say what broke on the way.

        The error is returned and not raised, because raised in here it would keep that of the client as its context,
        which may hold the request.
        """
        longest = self._sending.max_response_bytes
        try:
            if self._sending.client is not None:
                return await _clients.exchange(self._sending.client, method, str(url), headers, body, longest=longest)
            return await self._connections.exchange(method, url.raw_path, headers, body, longest=longest)
        except BrokenExchangeError as error:
            return self._broken(error)

    def _broken(self, error: BrokenExchangeError) -> DecideError:
        what = error.what
        match error.fault:
            case Fault.BUSY:
                return BusyError(f"{self._name}: no connection came free", detail=what)
            case Fault.TIMEOUT:
                return EngineTimeoutError(f"{self._name}: the client gave up waiting", detail=what)
            case Fault.REQUEST:
                return MisconfiguredError(f"{self._name}: the request cannot be sent ({what})", detail=what)
            case Fault.PROXY:
                return MisconfiguredError(
                    f"{self._name}: the proxy refuses to connect ({error.status})", detail=f"proxy {error.status}"
                )
            case Fault.CONNECTION:
                failed = EngineError(f"{self._name}: the connection failed ({what})", detail=what)
                failed.transient = not error.answering
                return failed


def _check(place: Endpoint, sending: Sending) -> None:
    key = sending.api_key
    if key is not None and not (place.encrypted or place.loopback or sending.allow_insecure):
        raise SetupError("api_key: would travel in clear text; use https, or allow_insecure=True")
    if isinstance(key, str) and not _late.sendable(key):
        raise SetupError("api_key: must be printable ASCII, and not empty")
    if sending.max_response_bytes <= 0:
        raise SetupError("max_response_bytes: must be above 0")
    if type(sending.concurrency) is not int or sending.concurrency < 1:
        raise SetupError("concurrency: must be 1 or above")
    if sending.wait is not None and not sending.wait >= 0:
        raise SetupError("wait: must be 0 seconds or above, or None")
    for name, text in sending.headers.items():
        if name.lower() in _RESERVED or name.lower() == sending.key_header.lower():
            raise SetupError(f"headers: {name} is set by the engine itself")
        if not _late.sendable(name) or (isinstance(text, str) and text and not _late.sendable(text)):
            raise SetupError("headers: names and texts must be printable ASCII")

"""A vendor's own SDK as the way to its server: one request, nothing kept open, and no error that quotes anything."""

from __future__ import annotations

import importlib
import logging
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any, Final

import anyio
import attrs
import httpcore2  # noqa: F401 - httpx2 would import it in the first call, and block
import httpx2

from decide.engines import _late
from decide.engines._endpoints import is_loopback, parsed
from decide.engines._http_errors import answered
from decide.engines._late import Late, key_from
from decide.engines._replies import Reply, is_plain
from decide.engines._setup import SetupError
from decide.engines._sockets import trusted
from decide.errors import (
    BusyError,
    DecideError,
    EngineError,
    EngineTimeoutError,
    InvalidAnswerError,
    MisconfiguredError,
)

MAX_RESPONSE_BYTES: Final = 4 * 1024 * 1024
"""The longest reply that is read: the log-probabilities of its tokens are many times the text."""

_FAULTS: dict[str, type[DecideError]] = {
    "PoolTimeout": BusyError,
    "TimeoutException": EngineTimeoutError,
    "LocalProtocolError": MisconfiguredError,
    "UnsupportedProtocol": MisconfiguredError,
    "InvalidURL": MisconfiguredError,
}
"""By the name of a class, because a caller's SDK may sit on httpx or on httpx2."""

_calling: ContextVar[bool] = ContextVar("decide.engines.calling", default=False)


@attrs.frozen(kw_only=True)
class Vendor:
    """
    An SDK and what is known of the service it is for.

    Attributes:
        package: The name under which it is imported, and of our extra.
        url: The service.
        variable: The environment variable that holds its key by custom.
        build: Makes a client out of the module, an HTTP client, a base URL, and a key that is empty for none.
    """

    package: str
    url: str
    variable: str
    build: Callable[[ModuleType, httpx2.AsyncClient, str, str], Any]

    def load(self) -> ModuleType:
        """
        Import the SDK.

        Raises:
            SetupError: If it is not installed.
        """
        try:
            module = importlib.import_module(self.package)
        except ImportError:
            module = None
        if module is None:
            raise SetupError(f"needs the package {self.package}: pip install 'decide-engine[{self.package}]'")
        _hush(f"{self.package}._base_client")
        return module


class VendorServer:
    """
    A server that an SDK is for, by its base URL or by a client of the caller's.

    Args:
        vendor: Whose SDK.
        client: A client of the SDK, of the caller's own making; its address, key, transport and proxies are used.
        base_url: Another server that speaks the same; None for the vendor's.
        api_key: The key; None for the vendor's customary variable, or for none at all with a *base_url*.
        allow_insecure: Send a key over plain http to another machine.
        max_response_bytes: The longest reply that is read, unless *client* is the caller's.

    Raises:
        SetupError: If the SDK is not installed, or an argument makes no sense.
    """

    def __init__(
        self,
        vendor: Vendor,
        *,
        client: Any,
        base_url: str | None,
        api_key: Late | None,
        allow_insecure: bool,
        max_response_bytes: int,
    ) -> None:
        self._module = vendor.load()
        if client is not None and (base_url is not None or api_key is not None):
            raise SetupError("client: has its own base_url and api_key; give one or the other")
        url = parsed(vendor.url if base_url is None else base_url)
        if base_url is None and api_key is None:
            api_key = key_from(vendor.variable)
        local = is_loopback(url.host)
        if client is None and api_key is not None and not (url.scheme == "https" or local or allow_insecure):
            raise SetupError("api_key: would travel in clear text; use https, or allow_insecure=True")
        if isinstance(api_key, str) and not _late.sendable(api_key):
            raise SetupError("api_key: must be printable ASCII, and not empty")
        if max_response_bytes <= 0:
            raise SetupError("max_response_bytes: must be above 0")
        self._vendor = vendor
        self._client = client
        self._url = str(url)
        self._api_key = api_key
        self._longest = max_response_bytes
        self._trust_env = not local
        # The certificates are loaded here and not in a call, which it would block.
        self._tls: ssl.SSLContext | bool = (
            trusted() if client is None and (url.scheme == "https" or not local) else False
        )

    def __str__(self) -> str:
        return type(self._client).__name__ if self._client is not None else self._url

    async def post(self, path: str, body: Mapping[str, object], *, holding: str, name: str) -> dict[str, object]:
        """
        Send one request and return the JSON object that comes back.

        Args:
            path: The route, below the base URL.
            body: What is sent.
            holding: The member, a list, that tells an answer from an error.
            name: Who asks, for the message of an error.

        Raises:
            DecideError: Of the kind that the failure stands for. It quotes neither the body nor the reply.
        """
        key = self._key(name)
        reply = await self._exchanged(path, body, key, name)
        if isinstance(reply, DecideError):
            raise reply
        return answered(reply, name, secret=key, holds=lambda document: _is_filled(document.get(holding)))

    def _key(self, name: str) -> str:
        if self._client is not None:
            return _text(getattr(self._client, "api_key", ""))
        if self._api_key is None or isinstance(self._api_key, str):
            return self._api_key or ""
        key = _late.read(self._api_key, "key", name)
        if not _late.sendable(key):
            raise MisconfiguredError(f"{name}: api_key must be printable ASCII, and not empty", detail="no key")
        return key

    async def _exchanged(self, path: str, body: Mapping[str, object], key: str, name: str) -> Reply | DecideError:
        """
        Send one request and read the reply, or say what broke on the way.

        Errors are returned and not raised, because raised in here they would keep that of the SDK as their context,
        which holds the request.
        """
        keyless = self._client is None and not key
        headers = {header: self._module.Omit() for header in ("Authorization", "X-Api-Key")} if keyless else {}
        options = {"follow_redirects": False, "max_retries": 0, "timeout": None, "headers": headers}
        token = _calling.set(True)
        try:
            with anyio.CancelScope() as too_long:
                async with self._opened(key, too_long) as sdk:
                    response = await sdk.post(path, cast_to=httpx2.Response, body=dict(body), options=options)
                    return self._reply(response)
        except Exception as error:  # noqa: BLE001 - an SDK, its hooks and its transport raise what they like
            response = getattr(error, "response", None)
            answering = isinstance(getattr(response, "status_code", None), int)
            return self._reply(response) if answering else _failure(error, name)
        finally:
            _calling.reset(token)
        problem = f"larger than {self._longest} bytes"
        return InvalidAnswerError(f"{name}: the reply cannot be used: {problem}", detail=problem)

    def _reply(self, response: Any) -> Reply:
        headers = {str(key).lower(): str(value) for key, value in response.headers.items()}
        body = bytes(response.content) if response.is_closed else b""
        return Reply(
            status=response.status_code,
            headers=headers,
            body=body[: self._longest],
            complete=len(body) <= self._longest,
        )

    @asynccontextmanager
    async def _opened(self, key: str, too_long: anyio.CancelScope) -> AsyncGenerator[Any, None]:
        if self._client is not None:
            yield self._client
            return

        async def bound(response: httpx2.Response) -> None:
            if not is_plain(response.headers.get("content-encoding", "")):
                raise _PackedError
            if isinstance(response.stream, httpx2.AsyncByteStream):
                response.stream = _Bounded(response.stream, self._longest, too_long)

        async with httpx2.AsyncClient(
            verify=self._tls,
            trust_env=self._trust_env,
            timeout=None,
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [bound]},
        ) as http:
            yield self._vendor.build(self._module, http, self._url, key)


class _PackedError(Exception):
    """
    A reply came in an encoding that was not asked for. Never leaves this module.
    """


class _Bounded(httpx2.AsyncByteStream):
    """
    A body that cancels the call when it gets too long.

    Raising here would leave the generators below open, of which trio warns; a cancelled read closes them all.
    """

    def __init__(self, stream: httpx2.AsyncByteStream, longest: int, too_long: anyio.CancelScope) -> None:
        self._stream = stream
        self._longest = longest
        self._too_long = too_long

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._stream:
            read += len(part)
            if read > self._longest:
                self._too_long.cancel()
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Hush(logging.Filter):
    """
    Drops what an SDK logs for debugging while a call of ours is under way: some log the whole request.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno > logging.DEBUG or not _calling.get()


def _hush(logger: str) -> None:
    quiet = logging.getLogger(logger)
    if not any(isinstance(filtered, _Hush) for filtered in quiet.filters):
        quiet.addFilter(_Hush())


def _failure(error: Exception, name: str) -> DecideError:
    if isinstance(error, _PackedError) or isinstance(error.__cause__, _PackedError):
        problem = "packed in an encoding that was not asked for"
        return InvalidAnswerError(f"{name}: the reply cannot be used: {problem}", detail=problem)
    cause = error.__cause__ or error
    what = type(cause).__name__[:200]
    classes = [one.__name__ for one in type(cause).__mro__]
    kind = next((kind for fault, kind in _FAULTS.items() if fault in classes), EngineError)
    failed = kind(f"{name}: the call failed ({what})", detail=what)
    if isinstance(failed, EngineError) and "TransportError" in classes:
        failed.transient = True
    return failed


def _is_filled(member: object) -> bool:
    return isinstance(member, list) and bool(member)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

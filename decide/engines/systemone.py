"""A decision server that speaks System One over HTTP, as an engine with typed errors."""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Final

import anyio
import httpcore2  # noqa: F401 - httpx2 would import it in the first call, and block
import httpx2

from decide.answers import ScoreResult
from decide.attempt_log import AttemptLog
from decide.decisions import Decision
from decide.engines import _answering
from decide.engines._endpoints import endpoint
from decide.engines._http_errors import Reply, answered
from decide.engines._setup import SetupError
from decide.engines._systemone_decode import Reading, read_answers
from decide.engines._systemone_encode import body_of, wire_request
from decide.errors import BusyError, DecideError, EngineError, EngineTimeoutError, MisconfiguredError
from decide.policies import NARROWING, SelectionPolicy
from decide.questions import ScoreRequest
from decide.requests import Request

Key = str | Callable[[], str]

MAX_RESPONSE_BYTES: Final = 1024 * 1024

_READ_AT_ONCE = 128 * 1024
"""More than a client hands on without waiting for the network."""

_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "decide-engine",
}


def key_from(variable: str) -> Callable[[], str]:
    """
    Return a key that is read from the environment at every call, so that it can be set, or changed, later.

    The call fails with a MisconfiguredError that names *variable* when it is not set, or empty.
    """

    def read() -> str:
        key = os.environ.get(variable, "")
        if not key:
            raise MisconfiguredError(f"environment variable {variable} is not set", detail="no key")
        return key

    return read


class SystemOneEngine:
    """
    Ask a server that answers `POST /v1/systemone`.

    One call is one request: never retried, never redirected. A connection serves one call, so that one engine works on
    any event loop and leaves nothing open behind a loop that has ended. Loopback ignores the proxies of the
    environment; other hosts use them.

    A combinator bounds a call by *decision_timeout*; called directly, the engine does so itself. A cancelled call
    closes its connection.

    Args:
        base_url: The server, with or without `/v1`: `http://127.0.0.1:8000`, `https://api.example.com/v1`.
        model: What to ask for; empty leaves it to the server, as some refuse names that they do not know.
        api_key: Sent as a bearer token, to this server only; a function is called for every request and must not block,
            see `key_from`.
        name: What traces call the engine.
        decision_timeout: Seconds for one call, from connecting to the last byte; None for no limit of its own.
        calibrated: The server's probabilities are measured ones. Say False for a server that only reports what its
            model says of itself.
        allow_insecure: Send a key over plain http to another machine.
        policy: The bars for what is folded into a decision, see `decide`.
        max_response_bytes: The longest reply that is read.
        client: A client of the caller's, who also closes it and keeps it to one event loop. Its timeouts and redirects
            are not used, its proxies are.

    Raises:
        SetupError: If *base_url* cannot be used, or *api_key* would travel in clear text, or another argument makes no
            sense.
    """

    def __init__(
        self,
        base_url: str,
        *,
        model: str = "",
        api_key: Key | None = None,
        name: str = "systemone",
        decision_timeout: float | None = 2.0,
        calibrated: bool = True,
        allow_insecure: bool = False,
        policy: SelectionPolicy = NARROWING,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        client: httpx2.AsyncClient | None = None,
    ) -> None:
        place = endpoint(base_url)
        if api_key is not None and not (place.encrypted or place.loopback or allow_insecure):
            raise SetupError("api_key: would travel in clear text; use https, or allow_insecure=True")
        if isinstance(api_key, str) and not _sendable(api_key):
            raise SetupError("api_key: must be printable ASCII, and not empty")
        if decision_timeout is not None and not decision_timeout > 0:
            raise SetupError("decision_timeout: must be above 0 seconds, or None")
        if max_response_bytes <= 0:
            raise SetupError("max_response_bytes: must be above 0")
        if not model.isprintable():
            raise SetupError("model: must be printable")
        self._endpoint = place
        self._model = model
        self._api_key = api_key
        self._name = name
        self._calibrated = calibrated
        self._max_response_bytes = max_response_bytes
        self._client = client
        # Loading the trusted certificates takes some 0.1 s, so it is done here and not in a call.
        needs_tls = client is None and (place.encrypted or not place.loopback)
        self._tls: ssl.SSLContext | bool = httpx2.create_ssl_context() if needs_tls else False
        self.decision_timeout = decision_timeout
        self.policy = policy

    def __repr__(self) -> str:
        return f"SystemOneEngine({str(self._endpoint.url)!r}, model={self._model!r}, name={self._name!r})"

    @property
    def name(self) -> str:
        """
        What traces call the engine.
        """
        return self._name

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        with anyio.move_on_after(self.decision_timeout):
            return await self.score_traced(request, AttemptLog())
        raise self._too_late()

    async def score_traced(self, request: ScoreRequest, log: AttemptLog, /) -> ScoreResult:
        return await _answering.score(self, request, log)

    async def decide(self, request: Request, /) -> Decision | None:
        with anyio.move_on_after(self.decision_timeout):
            return await self.decide_traced(request, AttemptLog())
        raise self._too_late()

    async def decide_traced(self, request: Request, log: AttemptLog, /) -> Decision | None:
        return await _answering.decide(self, request, log)

    async def read(self, request: ScoreRequest, /) -> Reading:
        """
        Ask the server.

        Raises:
            DecideError: Of the kind that the failure stands for. No error holds the key, the state, a question or the
                body of the reply; `server_text` holds what the server said, redacted and cut.
        """
        asked = wire_request(request)
        body = body_of(asked, self._model)
        key = self._key()
        reply = await self._exchange(body, {**_HEADERS, "Authorization": f"Bearer {key}"} if key else _HEADERS)
        if isinstance(reply, DecideError):
            raise reply
        document = answered(reply, self._name, secret=key)
        return read_answers(request, asked, document, engine=self._name, calibrated=self._calibrated)

    def _key(self) -> str:
        if self._api_key is None or isinstance(self._api_key, str):
            return self._api_key or ""
        key, failed = "", ""
        try:
            key = self._api_key()
        except DecideError:
            raise
        except Exception as error:  # noqa: BLE001 - a caller's function, whose message may quote the key
            failed = type(error).__name__
        if failed:
            raise MisconfiguredError(f"{self._name}: the function for api_key failed ({failed})", detail="no key")
        if not _sendable(key):
            raise MisconfiguredError(f"{self._name}: api_key must be printable ASCII, and not empty", detail="no key")
        return key

    async def _exchange(self, body: bytes, headers: Mapping[str, str]) -> Reply | DecideError:
        """
        Send one request and read the reply, or say what broke on the way.

        The error is returned and not raised, because raised in here it would keep that of the client as its context,
        which holds the request.
        """
        try:
            async with self._opened() as client:
                request = client.build_request("POST", self._endpoint.url, content=body, headers=headers, timeout=None)
                response = await client.send(request, stream=True, follow_redirects=False)
                async with aclosing(response):
                    return await self._reply(response)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            return self._fault(error)
        except (ImportError, ValueError):
            return MisconfiguredError(f"{self._name}: the proxy of the environment cannot be used", detail="proxy")

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[httpx2.AsyncClient, None]:
        if self._client is not None:
            yield self._client
            return
        async with httpx2.AsyncClient(verify=self._tls, trust_env=not self._endpoint.loopback) as client:
            yield client

    async def _reply(self, response: httpx2.Response) -> Reply:
        body, complete = bytearray(), True
        plain = response.headers.get("content-encoding", "").strip().lower() in {"", "identity"}
        if plain:
            complete = await self._read_into(body, response)
        return Reply(
            status=response.status_code, headers=response.headers, body=bytes(body), complete=complete, plain=plain
        )

    async def _read_into(self, body: bytearray, response: httpx2.Response) -> bool:
        """
        Read the reply into *body* up to the limit, and say whether that was all of it.

        What is too long is ended by cancelling the read that is under way: a generator below this one would be left
        open by a mere `break`, and trio warns of such.
        """
        limit = self._max_response_bytes
        with anyio.CancelScope() as scope:
            async with aclosing(response.aiter_bytes()) as parts:
                async for part in parts:
                    body += part
                    if len(body) > limit:
                        scope.cancel()
                    if len(body) > limit + _READ_AT_ONCE:
                        break
        complete = len(body) <= limit
        del body[limit:]
        return complete

    def _fault(self, error: Exception) -> DecideError:
        what = type(error).__name__
        if isinstance(error, httpx2.PoolTimeout):
            return BusyError(f"{self._name}: no connection came free", detail=what)
        if isinstance(error, httpx2.TimeoutException):
            return EngineTimeoutError(f"{self._name}: the client gave up waiting", detail=what)
        if isinstance(error, httpx2.LocalProtocolError | httpx2.UnsupportedProtocol | httpx2.InvalidURL):
            return MisconfiguredError(f"{self._name}: the request cannot be sent ({what})", detail=what)
        return EngineError(f"{self._name}: the connection failed ({what})", detail=what)

    def _too_late(self) -> EngineTimeoutError:
        return EngineTimeoutError(f"{self._name}: no answer within {self.decision_timeout} s")


def _sendable(key: object) -> bool:
    return isinstance(key, str) and bool(key) and key.isascii() and key.isprintable()

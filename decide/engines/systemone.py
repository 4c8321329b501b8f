"""A decision server that speaks System One over HTTP, as an engine with typed errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Self

import anyio

from decide.answers import ScoreResult
from decide.attempt_log import AttemptLog
from decide.decisions import Decision
from decide.engines import _answering
from decide.engines._clients import Client
from decide.engines._endpoints import endpoint
from decide.engines._http import CONCURRENCY, MAX_RESPONSE_BYTES, HttpService, Sending
from decide.engines._http_errors import answered
from decide.engines._late import Late, key_from, text_from
from decide.engines._proxies import ENVIRONMENT
from decide.engines._setup import SetupError
from decide.engines._systemone_decode import Reading, read_answers
from decide.engines._systemone_encode import body_of, wire_request
from decide.errors import EngineTimeoutError
from decide.policies import NARROWING, SelectionPolicy
from decide.questions import ScoreRequest
from decide.requests import Request

__all__ = ["ENVIRONMENT", "MAX_RESPONSE_BYTES", "Key", "SystemOneEngine", "key_from", "text_from"]

Key = Late
"""A key, or a function that is asked for it at every call."""


class SystemOneEngine:
    """
    Ask a server that answers `POST /v1/systemone`.

    One call is one request: never retried, never redirected. One engine works in several event loops and threads:
    connections are kept for the next call by the loop that opened them, and closed when it ends. `async with engine`
    closes them earlier.

    A combinator bounds a call by *decision_timeout*; called directly, the engine does so itself. A cancelled call
    closes its connection. Waiting for a connection is recorded apart from the latency.

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
        max_response_bytes: The longest reply that is read. It is never unpacked.
        headers: Further headers; a function is called for every request, see `text_from`.
        proxy: The URL of an http or https proxy, or None for none. By default the one that the environment names, as it
            is when the engine is built; loopback never uses that one.
        concurrency: Requests at once, from all loops and threads together; the others wait.
        wait: Seconds that a call waits for its turn at most, before it fails as busy. None for as long as it has,
            without the last 50 ms, in which no call is worth beginning.
        client: A client of the caller's, of httpx2 or httpx, who also closes it and keeps it to one event loop. Its
            timeouts and redirects are not used, its proxies are.

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
        headers: Mapping[str, Late] | None = None,
        proxy: str | None = ENVIRONMENT,
        concurrency: int = CONCURRENCY,
        wait: float | None = None,
        client: Client | None = None,
    ) -> None:
        if decision_timeout is not None and not decision_timeout > 0:
            raise SetupError("decision_timeout: must be above 0 seconds, or None")
        if not model.isprintable():
            raise SetupError("model: must be printable")
        sending = Sending(
            api_key=api_key,
            headers=headers or {},
            allow_insecure=allow_insecure,
            proxy=proxy,
            max_response_bytes=max_response_bytes,
            concurrency=concurrency,
            wait=wait,
            client=client,
        )
        self._service = HttpService(endpoint(base_url), name, sending)
        self._model = model
        self._name = name
        self._calibrated = calibrated
        self.decision_timeout = decision_timeout
        self.policy = policy

    def __repr__(self) -> str:
        return f"SystemOneEngine({str(self._service.place.url)!r}, model={self._model!r}, name={self._name!r})"

    @property
    def name(self) -> str:
        """
        What traces call the engine.
        """
        return self._name

    @property
    def effective(self) -> Mapping[str, object]:
        """
        What the engine really uses, proxies included and secrets left out.
        """
        return {
            "name": self._name,
            "model": self._model,
            "calibrated": self._calibrated,
            "decision_timeout": self.decision_timeout,
            **self._service.effective(),
        }

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """
        Close the connections that wait for the next call, on every event loop. A later call opens new ones.
        """
        self._service.close()

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        with self._bounded() as log:
            return await self.score_traced(request, log)
        raise self._too_late()

    async def score_traced(self, request: ScoreRequest, log: AttemptLog, /) -> ScoreResult:
        return await _answering.score(self, request, log)

    async def decide(self, request: Request, /) -> Decision | None:
        with self._bounded() as log:
            return await self.decide_traced(request, log)
        raise self._too_late()

    async def decide_traced(self, request: Request, log: AttemptLog, /) -> Decision | None:
        return await _answering.decide(self, request, log)

    async def read(self, request: ScoreRequest, log: AttemptLog, /) -> Reading:
        """
        Ask the server.

        Raises:
            DecideError: Of the kind that the failure stands for. No error holds the key, the state, a question or the
                body of the reply; `server_text` holds what the server said, redacted and cut.
        """
        asked = wire_request(request)
        reply = await self._service.post(body_of(asked, self._model), log)
        document = answered(reply, self._name, secret=reply.secret)
        return read_answers(request, asked, document, engine=self._name, calibrated=self._calibrated)

    @contextmanager
    def _bounded(self) -> Iterator[AttemptLog]:
        """
        Bound a call that nobody of ours bounds.
        """
        log = AttemptLog()
        if self.decision_timeout is not None:
            log.deadline = log.now() + self.decision_timeout
        with anyio.CancelScope(deadline=log.deadline):
            yield log

    def _too_late(self) -> EngineTimeoutError:
        return EngineTimeoutError(f"{self._name}: no answer within {self.decision_timeout} s")

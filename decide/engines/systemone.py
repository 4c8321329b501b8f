"""A decision server that speaks System One over HTTP, as an engine with typed errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Self
from urllib.parse import quote

import anyio

from decide.answers import ScoreResult
from decide.attempt_log import AttemptLog
from decide.decisions import Decision
from decide.engines import _answering
from decide.engines._clients import Client
from decide.engines._endpoints import endpoint, parsed
from decide.engines._exchanges import Asking, Exchanges, Transform
from decide.engines._http import CONCURRENCY, MAX_RESPONSE_BYTES, HttpService, Sending
from decide.engines._late import Late, key_from, text_from
from decide.engines._proxies import ENVIRONMENT
from decide.engines._setup import SetupError
from decide.engines._systemone_decode import Reading, read_answers
from decide.engines._systemone_encode import wire_request
from decide.engines._usage import read_model
from decide.engines._vendors import check_parts
from decide.engines.dialects import Dialect, dialect_called
from decide.engines.health import Health
from decide.engines.limits import NO_LIMITS, Limits
from decide.engines.prices import Price
from decide.errors import EngineTimeoutError
from decide.policies import NARROWING, SelectionPolicy
from decide.questions import ScoreRequest
from decide.requests import Request

__all__ = ["ENVIRONMENT", "MAX_RESPONSE_BYTES", "Key", "SystemOneEngine", "key_from", "text_from"]

Key = Late
"""A key, or a function that is asked for it at every call."""


class SystemOneEngine:
    """
    Ask a server that answers questions in System One or a dialect of it.

    One call is one request: never retried, never redirected. One engine works in several event loops and threads:
    connections are kept for the next call by the loop that opened them, and closed when it ends. `async with engine`
    closes them earlier.

    A combinator bounds a call by *decision_timeout*; called directly, the engine does so itself. A cancelled call
    closes its connection. Waiting for a connection is recorded apart from the latency.

    Args:
        base_url: The server, with or without `/v1`: `http://127.0.0.1:8000`, `https://api.example.com/v1`.
        dialect: What the server speaks, by name or as a `decide.engines.dialects.Dialect`; nothing is guessed, and a
            reply in another dialect is a configuration that somebody has to mend.
        route: The path of the route after *base_url*, when it is not that of the dialect.
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
        limits: What the server takes at most, besides what its dialect says; more is refused before it is sent.
        split: Ask more questions than the limit in several requests, one after the other. A failure of one is that of
            the call; the usage is the sum.
        request_params: Further members of the body; they replace ours.
        body_transform: Gets the finished body, and returns another or None to keep it.
        price: What the server charges, to tell the cost where it tells the tokens only.
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
        dialect: str | Dialect = "systemone",
        route: str | None = None,
        model: str = "",
        api_key: Key | None = None,
        name: str = "systemone",
        decision_timeout: float | None = 2.0,
        calibrated: bool = True,
        allow_insecure: bool = False,
        policy: SelectionPolicy = NARROWING,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        limits: Limits = NO_LIMITS,
        split: bool = False,
        request_params: Mapping[str, object] | None = None,
        body_transform: Transform | None = None,
        price: Price | None = None,
        headers: Mapping[str, Late] | None = None,
        proxy: str | None = ENVIRONMENT,
        concurrency: int = CONCURRENCY,
        wait: float | None = None,
        client: Client | None = None,
    ) -> None:
        _check(decision_timeout, model)
        spoken = dialect_called(dialect)
        if isinstance(dialect, str):
            check_parts(parsed(base_url).host, dialect, model)
        place = endpoint(base_url, _route(spoken.route if route is None else route, model))
        sending = Sending(
            api_key=api_key,
            key_header=spoken.key_header,
            key_prefix=spoken.key_prefix,
            headers=headers or {},
            allow_insecure=allow_insecure,
            proxy=proxy,
            max_response_bytes=max_response_bytes,
            concurrency=concurrency,
            wait=wait,
            client=client,
        )
        asking = Asking(
            dialect=spoken,
            model=model,
            limits=limits,
            request_params=request_params or {},
            body_transform=body_transform,
            split=split,
            price=price,
        )
        self._service = HttpService(place, name, sending)
        self._exchanges = Exchanges(self._service, name, asking)
        self._dialect = spoken
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
            "dialect": self._dialect.name,
            "model": self._model,
            "calibrated": self._calibrated,
            "decision_timeout": self.decision_timeout,
            **self._exchanges.effective(),
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

    async def health(self) -> Health:
        """
        Look at the server: what it says of its health, or else whether it answers.

        Where it has no route for its health, that costs one yes/no question. Each takes two seconds at most and charges
        no time budget. What the server does wrong is in what is returned.

        Raises:
            MisconfiguredError: If `body_transform` fails.
        """
        return await self._exchanges.health()

    async def models(self) -> tuple[str, ...]:
        """
        Return the ids of the models that the server lists.

        Raises:
            DecideError: Of the kind that the failure stands for; one without such a route is misconfigured.
        """
        with self._bounded() as log:
            return await self._exchanges.models(log)
        raise self._too_late()

    async def read(self, request: ScoreRequest, log: AttemptLog, /) -> Reading:
        """
        Ask the server.

        Raises:
            DecideError: Of the kind that the failure stands for. No error holds the key, the state, a question or the
                body of the reply; `server_text` holds what the server said, redacted and cut.
        """
        asked = wire_request(request)
        self._exchanges.warn(request)
        answered = await self._exchanges.ask(asked, log)
        log.model = read_model(answered.document.get("model"))
        return read_answers(
            request,
            asked,
            answered.document,
            engine=self._name,
            calibrated=self._calibrated,
            usage=answered.usage,
        )

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


def _check(decision_timeout: float | None, model: str) -> None:
    if decision_timeout is not None and not decision_timeout > 0:
        raise SetupError("decision_timeout: must be above 0 seconds, or None")
    if not model.isprintable():
        raise SetupError("model: must be printable")


def _route(route: str, model: str) -> str:
    """
    Return the route with the model in it, if it has a place there.
    """
    if "{model}" not in route:
        return route
    if not model:
        raise SetupError("model: is part of the address in this dialect, so it is required")
    return route.replace("{model}", quote(model, safe="/@:~.+-_"))

"""A decider in another process, asked to decide and believed in nothing that it says about its own answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Self

import anyio
import attrs

from decide._json import DocumentError
from decide.answers import Usage
from decide.attempt_log import AttemptLog
from decide.decisions import Decision
from decide.engines._clients import Client
from decide.engines._endpoints import endpoint
from decide.engines._http import CONCURRENCY, MAX_RESPONSE_BYTES, HttpService, Sending
from decide.engines._http_errors import answered
from decide.engines._late import Late
from decide.engines._proxies import ENVIRONMENT
from decide.engines._request_keys import visible
from decide.engines._setup import SetupError
from decide.engines._spliced import spliced
from decide.engines._usage import UNREADABLE_MODEL, read_model
from decide.engines._waiting import own_wait
from decide.errors import EngineTimeoutError, InvalidAnswerError, InvalidRequestError
from decide.outcomes import AttemptOutcome, Outcome
from decide.requests import Request
from decide.wire import from_json, to_json

PROTOCOL: Final = 1
ROUTE: Final = "/v1/decide"

_OUTCOMES = frozenset(Outcome)


class RemoteEngine:
    """
    Ask a server that answers `POST /v1/decide` with a whole decision.

    The request goes as JSON of the wire form, without what no engine is sent: entity keys, what is pending or was last
    shown, the client's context. The reply is `{"decision": {...}}`, or the decision itself; `{"decision": null}`
    abstains. Its verdict is not believed: the decision is judged here, as anyone's. Its `outcome` is kept as
    information, and whose policy judged there is dropped.

    A `report` beside the decision is copied into the trace, after the engine's own attempt: its attempts, under names
    that begin with the engine's and a slash. They carry what the call cost, so that nothing is counted twice.

    One call is one request: never retried, never redirected. A combinator bounds a call by *decision_timeout*; called
    directly, the engine does so itself. A cancelled call closes its connection.

    Args:
        base_url: The server, with or without `/v1`.
        api_key: Sent as a bearer token, to this server only; a function is called for every request.
        name: What traces call the engine.
        decision_timeout: Seconds for one call; None for no limit of its own.
        calibrated: Let the server's claim stand that its numbers are measured ones. False takes it back.
        allow_insecure: Send a key over plain http to another machine.
        headers: Further headers, as texts or as functions that are asked at every call.
        proxy: The proxy's URL; by default that of the environment, None for none; loopback ignores it.
        concurrency: Most calls under way at a time.
        wait: Seconds to wait for one of these at most; None waits as long as a call would still have time.
        max_response_bytes: The longest reply that is read.
        client: A client of the caller's, who also closes it and keeps it to one event loop.

    Raises:
        SetupError: If *base_url* cannot be used, or *api_key* would travel in clear text, or another argument makes no
            sense.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: Late | None = None,
        name: str = "remote",
        decision_timeout: float | None = 2.0,
        calibrated: bool = True,
        allow_insecure: bool = False,
        headers: Mapping[str, Late] | None = None,
        proxy: str | None = ENVIRONMENT,
        concurrency: int = CONCURRENCY,
        wait: float | None = None,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        client: Client | None = None,
    ) -> None:
        if decision_timeout is not None and not decision_timeout > 0:
            raise SetupError("decision_timeout: must be above 0 seconds, or None")
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
        self._service = HttpService(endpoint(base_url, ROUTE), name, sending)
        self._name = name
        self._calibrated = calibrated
        self.decision_timeout = decision_timeout

    def __repr__(self) -> str:
        return f"RemoteEngine({str(self._service.place.url)!r}, name={self._name!r})"

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

    async def decide(self, request: Request, /) -> Decision | None:
        with self._bounded() as log:
            return await self.decide_traced(request, log)
        raise EngineTimeoutError(f"{self._name}: no answer within {self.decision_timeout} s")

    async def decide_traced(self, request: Request, log: AttemptLog, /) -> Decision | None:
        with log.attempt(self._name) as attempt:
            body = _body(request)
            started = log.now()
            with own_wait(log, attempt):
                reply = await self._service.post(body, log)
            document = answered(reply, self._name, secret=reply.secret, holds=_holds)
            decision = self._read(document)
            report = spliced(
                document.get("report"),
                engine=self._name,
                started=log.since_origin(started),
                latency=log.now() - started,
            )
            log.include(report)
            log.engine = self._name
            # What the call cost stands at the attempts of the server, when it tells of any.
            attempt.usage = Usage() if report.attempts else None
            if decision is None:
                attempt.outcome = AttemptOutcome.ABSTAINED
                return None
            log.model = decision.model
            attempt.malformed = int(decision.model == UNREADABLE_MODEL)
            return decision

    def _read(self, document: Mapping[str, object]) -> Decision | None:
        found = document.get("decision", document)
        if found is None:
            return None
        problem = ""
        try:
            decision = from_json(Decision, found)
        except DocumentError as error:
            problem = str(error)
        else:
            return attrs.evolve(
                decision,
                calibrated=decision.calibrated and self._calibrated,
                outcome=decision.outcome if decision.outcome in _OUTCOMES else "",
                model=read_model(decision.model),
                judged_by="",
            )
        # Raised out here, so that it has no context that could quote the reply.
        raise InvalidAnswerError(f"{self._name}: the reply is no decision: {problem}", detail=f"no decision: {problem}")

    @contextmanager
    def _bounded(self) -> Iterator[AttemptLog]:
        log = AttemptLog()
        if self.decision_timeout is not None:
            log.deadline = log.now() + self.decision_timeout
        with anyio.CancelScope(deadline=log.deadline):
            yield log


def _body(request: Request) -> bytes:
    problem = ""
    try:
        document = to_json(attrs.evolve(request, client_context=None, state=visible(request.state)))
    except DocumentError as error:
        problem = error.problem
    else:
        text = json.dumps(
            {"protocol": PROTOCOL, **document}, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
        return text.encode()
    raise InvalidRequestError(f"the request cannot be sent as JSON: {problem}", detail="the request is no JSON")


def _holds(document: Mapping[str, object]) -> bool:
    """
    Say whether a reply holds a decision, or says that there is none, without an error beside it.
    """
    failed = document.get("error") or document.get("errors") or document.get("success") is False
    return ("decision" in document or "module" in document) and not failed

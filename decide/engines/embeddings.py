"""Vectors for texts, from a server that speaks OpenAI's embeddings: all of them, and each one checked, or none."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Self

import anyio

from decide._checks import positive_seconds, whole
from decide._json import DocumentError, Node, plain
from decide.attempt_log import AttemptLog
from decide.deadlines import charged
from decide.engines._clients import Client
from decide.engines._endpoints import endpoint
from decide.engines._http import HttpService, Sending
from decide.engines._http_errors import answered
from decide.engines._late import Late
from decide.engines._proxies import ENVIRONMENT
from decide.engines._setup import SetupError
from decide.engines.health import WELL, Health, check_health
from decide.errors import EngineTimeoutError, InvalidAnswerError, InvalidRequestError

ROUTE: Final = "/v1/embeddings"
BATCH_SIZE: Final = 16
UNIT_TOLERANCE: Final = 0.01
"""How far the length of a unit vector may be from 1: half-precision numbers lose a tenth of that."""

Vector = tuple[float, ...]

_MAX_RESPONSE_BYTES = 8 * 1024 * 1024
_PROBE: Final = "health"


class Embedder:
    """
    Turn texts into vectors with a server that answers `POST /v1/embeddings`. No engine: it decides nothing.

    Vectors come back in the order of the texts, or not at all: one that is missing, stands twice, has a wrong number of
    dimensions, or numbers that cannot be, spoils the whole call, because a vector in the wrong place finds the wrong
    things without anyone noticing. Of vectors of unit length the dot product is the cosine similarity.

    Texts are sent in batches, one after the other; each is one request, never retried, never redirected. Calls inside a
    `time_budget` share it. A cancelled call closes its connection.

    Args:
        base_url: The server, with or without `/v1`.
        model: What to ask for.
        dimensions: Numbers in every vector; None takes as many as the first vector of a call has.
        unit_length: Refuse vectors whose length is not 1, within a hundredth. Say False for a model that does not
            normalise its vectors.
        batch_size: Most texts in one request.
        timeout: Seconds for one request.
        api_key: As in `SystemOneEngine`, and so are the arguments below.
        name: What errors call the server.

    Raises:
        SetupError: If an argument makes no sense.
    """

    def __init__(
        self,
        base_url: str,
        *,
        model: str,
        dimensions: int | None = None,
        unit_length: bool = True,
        batch_size: int = BATCH_SIZE,
        timeout: float = 30.0,
        api_key: Late | None = None,
        name: str = "embeddings",
        allow_insecure: bool = False,
        headers: Mapping[str, Late] | None = None,
        proxy: str | None = ENVIRONMENT,
        max_response_bytes: int = _MAX_RESPONSE_BYTES,
        client: Client | None = None,
    ) -> None:
        try:
            self._dimensions = None if dimensions is None else whole("dimensions", dimensions, least=1)
            self._batch_size = whole("batch_size", batch_size, least=1)
            self._timeout = positive_seconds("timeout", timeout)
        except ValueError as error:
            raise SetupError(str(error)) from None
        if not (model and model.isprintable()):
            raise SetupError("model: is required, and must be printable")
        sending = Sending(
            api_key=api_key,
            headers=headers or {},
            allow_insecure=allow_insecure,
            proxy=proxy,
            max_response_bytes=max_response_bytes,
            client=client,
        )
        self._service = HttpService(endpoint(base_url, ROUTE), name, sending)
        self._model = model
        self._unit_length = unit_length
        self._name = name

    def __repr__(self) -> str:
        return f"Embedder({str(self._service.place.url)!r}, model={self._model!r}, name={self._name!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """
        Close the connections that wait for the next call, on every event loop. A later call opens new ones.
        """
        self._service.close()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """
        Return a vector for every text, in their order; none for none, without asking.

        Raises:
            TypeError: If *texts* is one text, or holds something else.
            InvalidRequestError: If a text is no Unicode.
            InvalidAnswerError: If a reply is not exactly one sound vector for every text, by position.
            DecideError: Of the kind that any other failure stands for.
        """
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise TypeError("texts: a sequence of strings is required")
        bodies = [
            (self._body(texts[start : start + self._batch_size]), len(texts[start : start + self._batch_size]))
            for start in range(0, len(texts), self._batch_size)
        ]
        found: list[Vector] = []
        for body, count in bodies:
            found.extend(self._read(await self._asked(body), count, len(found[0]) if found else self._dimensions))
        return found

    async def health(self) -> Health:
        """
        Look at the service: what it says of its health, or else whether it embeds one word.

        Takes at most two seconds for each, charges no time budget and raises nothing that the service does wrong.
        """
        return await check_health(
            self._service, path="/health", well=WELL, probe=self._body([_PROBE]), answers=_is_one_vector
        )

    def _body(self, texts: Sequence[str]) -> bytes:
        try:
            document = plain({"model": self._model, "input": list(texts)})
        except DocumentError:
            document = None
        if document is None:
            raise InvalidRequestError("texts: one of them is no Unicode", detail="a text is no Unicode")
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()

    async def _asked(self, body: bytes) -> dict[str, object]:
        log = AttemptLog()
        with charged() as until:
            log.deadline = min(log.now() + self._timeout, until)
            with anyio.CancelScope(deadline=log.deadline):
                reply = await self._service.post(body, log)
                return answered(reply, self._name, secret=reply.secret, holds=_holds)
            late = EngineTimeoutError(f"{self._name}: no answer in time")
            late.clipped = log.deadline == until
            raise late

    def _read(self, document: Mapping[str, object], count: int, dimensions: int | None) -> list[Vector]:
        problem = ""
        try:
            vectors = dict(_entries(Node(document["data"], "$.data")))
            return self._checked(vectors, count, dimensions)
        except DocumentError as error:
            problem = str(error)
        # Raised out here, so that it has no context that could quote the reply.
        raise InvalidAnswerError(f"{self._name}: the reply cannot be used: {problem}", detail=problem)

    def _checked(self, vectors: Mapping[int, Vector], count: int, dimensions: int | None) -> list[Vector]:
        if sorted(vectors) != list(range(count)):
            raise DocumentError("$.data", f"expected one vector for each of {count} texts, got {len(vectors)}")
        ordered = [vectors[index] for index in range(count)]
        expected = dimensions or len(ordered[0])
        for index, vector in enumerate(ordered):
            if len(vector) != expected:
                raise DocumentError(f"vector {index}", f"expected {expected} dimensions, got {len(vector)}")
            if self._unit_length and abs(math.hypot(*vector) - 1.0) > UNIT_TOLERANCE:
                raise DocumentError(f"vector {index}", "its length is not 1; see unit_length")
        return ordered


def _entries(data: Node) -> Iterator[tuple[int, Vector]]:
    seen: set[int] = set()
    for entry in data.items():
        index = entry.need("index")
        if index.whole() in seen:
            raise DocumentError(index.path, "stands twice")
        seen.add(index.whole())
        yield index.whole(), tuple(number.number() for number in entry.need("embedding").items())


def _is_one_vector(document: Mapping[str, object]) -> bool:
    data = document.get("data")
    return isinstance(data, list) and len(data) == 1


def _holds(document: Mapping[str, object]) -> bool:
    return isinstance(document.get("data"), list)

"""Vectors from a server: in the order of the texts and sound, or none at all."""

import json
import math
from collections.abc import Callable
from typing import Any

import anyio
import httpx2
import pytest

from decide import (
    AuthError,
    DecideError,
    EngineError,
    EngineTimeoutError,
    InvalidAnswerError,
    InvalidRequestError,
    MisconfiguredError,
    RateLimitedError,
    TimeBudgetError,
    time_budget,
)
from decide.engines._setup import SetupError
from decide.engines.embeddings import Embedder
from tests.faults.server import Peer, misbehaving, reply

KEY = "sk-sentinel-key"
Entries = list[dict[str, Any]]


def vector(text: str, dimensions: int = 3) -> list[float]:
    """A vector of unit length that tells its text."""
    angle = len(text) / 10
    return [math.cos(angle), math.sin(angle), *[0.0] * (dimensions - 2)]


def entries(texts: list[str]) -> Entries:
    return [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(texts)]


class Server:
    """Answers as OpenAI's servers do, after *change* had its way with the entries."""

    def __init__(self, change: Callable[[Entries], object] = lambda found: found) -> None:
        self._change = change
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.bodies.append(body)
        self.keys.append(request.headers.get("authorization"))
        return httpx2.Response(200, json={"object": "list", "data": self._change(entries(body["input"])), "model": "m"})


def over(answer: Callable[[httpx2.Request], Any], **options: Any) -> Embedder:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    return Embedder("http://127.0.0.1:8000", client=client, **{"model": "bge", **options})


async def test_every_text_gets_its_vector_in_the_order_of_the_texts() -> None:
    server = Server(lambda found: found[::-1])

    found = await over(server, dimensions=3, api_key=KEY).embed(["a", "bb", "ccc"])

    assert found == [tuple(vector(text)) for text in ("a", "bb", "ccc")]
    assert server.bodies == [{"model": "bge", "input": ["a", "bb", "ccc"]}]
    assert server.keys == [f"Bearer {KEY}"]


async def test_texts_go_in_batches_and_come_back_as_one_list() -> None:
    server = Server()
    texts = ["x" * number for number in range(1, 8)]

    found = await over(server, batch_size=3).embed(texts)

    assert found == [tuple(vector(text)) for text in texts]
    assert [len(body["input"]) for body in server.bodies] == [3, 3, 1]


async def test_sixteen_texts_are_one_batch_by_default() -> None:
    server = Server()

    await over(server).embed(["x"] * 17)

    assert [len(body["input"]) for body in server.bodies] == [16, 1]


async def test_no_texts_need_no_server() -> None:
    server = Server()

    assert await over(server).embed([]) == []
    assert server.bodies == []


def changed(at: int, **members: Any) -> Callable[[Entries], object]:
    def change(found: Entries) -> Entries:
        return [{**entry, **members} if place == at else entry for place, entry in enumerate(found)]

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found: found[:2], "expected one vector for each of 3 texts, got 2"),
        (lambda found: [*found, {"index": 3, "embedding": vector("d")}], "each of 3 texts, got 4"),
        (lambda found: [], "got 0"),
        (changed(1, index=0), "$.data[1].index: stands twice"),
        (changed(1, index=7), "expected one vector for each of 3 texts"),
        (changed(1, index=-1), "expected one vector for each of 3 texts"),
        (changed(1, index=1.0), "$.data[1].index: expected a whole number"),
        (changed(1, index=True), "$.data[1].index: expected a whole number"),
        (changed(1, index=None), "$.data[1].index: expected a whole number"),
        (changed(1, embedding=[1.0, 0.0]), "vector 1: expected 3 dimensions, got 2"),
        (changed(0, embedding=[]), "vector 0: expected 3 dimensions, got 0"),
        (changed(2, embedding="AACAPw=="), "$.data[2].embedding: expected a list, got a string"),
        (changed(2, embedding=[1.0, "0.0", 0.0]), "$.data[2].embedding[1]: expected a number, got a string"),
        (changed(2, embedding=[1.0, None, 0.0]), "$.data[2].embedding[1]: expected a number, got null"),
        (changed(2, embedding=[True, 0.0, 0.0]), "$.data[2].embedding[0]: expected a number, got a boolean"),
        (changed(2, embedding=[0.0, 0.0, 0.0]), "vector 2: its length is not 1"),
        (changed(2, embedding=[1.0, 1.0, 0.0]), "vector 2: its length is not 1"),
        (changed(2, embedding=[1e200, 1e200, 0.0]), "vector 2: its length is not 1"),
        (lambda found: ["sentinel"] * 3, "$.data[0]: expected an object, got a string"),
        (lambda found: [{"embedding": vector("a")}] * 3, "$.data[0].index: is required"),
    ],
    ids=str,
)
async def test_one_unsound_vector_spoils_the_call(change: Callable[[Entries], object], said: str) -> None:
    with pytest.raises(InvalidAnswerError) as caught:
        await over(Server(change), dimensions=3).embed(["a", "bb", "ccc"])

    assert said in str(caught.value)
    assert said in caught.value.detail
    assert "sentinel" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"1e999"])
async def test_a_number_that_is_not_finite_spoils_the_call(number: bytes) -> None:
    body = b'{"data": [{"index": 0, "embedding": [%s, 0, 0]}]}' % number

    with pytest.raises(InvalidAnswerError):
        await over(lambda _: httpx2.Response(200, content=body)).embed(["a"])


async def test_vectors_of_one_call_have_one_length_also_across_batches() -> None:
    sizes = iter([3, 4])

    def server(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json={"data": [{"index": 0, "embedding": vector("a", next(sizes))}]})

    with pytest.raises(InvalidAnswerError, match="expected 3 dimensions, got 4"):
        await over(server, batch_size=1).embed(["a", "b"])


async def test_half_precision_is_still_unit_length_and_others_are_for_the_caller_to_allow() -> None:
    half = changed(0, embedding=[0.9995, 0.03, 0.0])
    twice = changed(0, embedding=[2.0, 0.0, 0.0])

    assert await over(Server(half)).embed(["a"]) == [(0.9995, 0.03, 0.0)]
    assert await over(Server(twice), unit_length=False).embed(["a"]) == [(2.0, 0.0, 0.0)]


async def test_a_failed_batch_leaves_nothing_of_the_others() -> None:
    calls: list[int] = []

    def server(request: httpx2.Request) -> httpx2.Response:
        calls.append(1)
        return httpx2.Response(503) if len(calls) == 2 else Server()(request)

    with pytest.raises(EngineError):
        await over(server, batch_size=1).embed(["a", "b", "c"])

    assert len(calls) == 2


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {}, AuthError),
        (404, {}, MisconfiguredError),
        (422, {"detail": "sentinel"}, InvalidRequestError),
        (429, {}, RateLimitedError),
        (500, {}, EngineError),
        (200, {}, InvalidAnswerError),
        (200, {"data": None}, InvalidAnswerError),
        (200, {"error": {"type": "server_error"}}, EngineError),
        (302, {}, MisconfiguredError),
    ],
)
async def test_what_is_no_answer_has_the_kind_of_every_http_engine(
    status: int, body: object, kind: type[DecideError]
) -> None:
    with pytest.raises(DecideError) as caught:
        await over(lambda _: httpx2.Response(status, json=body)).embed(["sentinel"])

    assert type(caught.value) is kind
    assert "sentinel" not in str(caught.value)


async def _stalled(_: httpx2.Request) -> httpx2.Response:
    await anyio.sleep_forever()
    raise AssertionError


async def test_a_silent_server_is_given_up_after_the_timeout_of_a_batch() -> None:
    started = anyio.current_time()

    with pytest.raises(EngineTimeoutError) as caught:
        await over(_stalled, timeout=3.0).embed(["a"])

    assert anyio.current_time() - started == pytest.approx(3.0)
    assert not caught.value.clipped


async def test_calls_share_the_time_budget_around_them() -> None:
    embedder = over(_stalled)

    with time_budget(2.0):
        with pytest.raises(EngineTimeoutError) as caught:
            await embedder.embed(["a"])
        with pytest.raises(TimeBudgetError):
            await embedder.embed(["a"])

    assert caught.value.clipped


async def test_the_caller_cancels_a_call() -> None:
    with anyio.move_on_after(1) as scope:
        await over(_stalled).embed(["a"])

    assert scope.cancelled_caught


@pytest.mark.real_time
async def test_it_speaks_over_a_real_socket_and_closes_it() -> None:
    async def serve(peer: Peer) -> None:
        while True:
            texts = json.loads((await peer.request()).body)["input"]
            await peer.send(reply(json.dumps({"data": entries(texts)}).encode()))

    async with misbehaving(serve) as served:
        async with Embedder(f"{served.url}/v1", model="bge", batch_size=1) as embedder:
            found = await embedder.embed(["a", "bb"])
        with anyio.fail_after(5):
            await served.all_closed()

    assert found == [tuple(vector("a")), tuple(vector("bb"))]
    assert served.connections == 1
    assert served.requests[0].head.startswith(b"POST /v1/embeddings HTTP/1.1")


@pytest.mark.parametrize("texts", ["one text", [1], ["a", None]])
async def test_what_is_no_text_is_refused(texts: Any) -> None:
    with pytest.raises(TypeError, match="a sequence of strings"):
        await over(Server()).embed(texts)


async def test_a_text_that_is_no_unicode_is_refused_before_anything_is_sent() -> None:
    server = Server()

    with pytest.raises(InvalidRequestError) as caught:
        await over(server, batch_size=1).embed(["a", "\ud800"])

    assert server.bodies == []
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "options",
    [
        {"model": ""},
        {"model": "a\nb"},
        {"dimensions": 0},
        {"batch_size": 0},
        {"timeout": 0},
        {"timeout": math.inf},
        {"base_url": "http://example.com", "api_key": KEY},
        {"base_url": "file:///etc"},
    ],
)
def test_what_cannot_work_is_refused_when_it_is_built(options: dict[str, Any]) -> None:
    with pytest.raises(SetupError):
        Embedder(**{"base_url": "http://127.0.0.1:8000", "model": "bge", **options})


def test_it_shows_no_key() -> None:
    shown = repr(Embedder("http://127.0.0.1:8472/", model="bge", api_key=KEY))

    assert shown == "Embedder('http://127.0.0.1:8472/v1/embeddings', model='bge', name='embeddings')"

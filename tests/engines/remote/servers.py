"""A remote decider of our own on loopback: a real engine behind `POST /v1/decide`, or a reply from a script."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from decide import AttemptLog, Request
from decide.engines.remote import RemoteEngine
from decide.wire import from_json, to_json
from tests.fakes import REQUEST, decision
from tests.faults.server import Peer, Served, misbehaving, reply

DECISION: dict[str, Any] = to_json(decision())


def over(answer: Callable[[httpx2.Request], httpx2.Response], **options: Any) -> RemoteEngine:
    """An engine whose server is a function."""
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    return RemoteEngine("http://127.0.0.1:8000", client=client, **options)


def saying(body: object, status: int = 200, **options: Any) -> RemoteEngine:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return over(lambda _: httpx2.Response(status, content=content), **options)


@asynccontextmanager
async def deciding(engine: Any) -> AsyncGenerator[Served]:
    """Serve an engine over the whole wire, its report included."""

    async def behave(peer: Peer) -> None:
        while True:
            received = await peer.request()
            log = AttemptLog()
            found = await engine.decide_traced(from_json(Request, json.loads(received.body)), log)
            answer = {
                "protocol": 1,
                "decision": None if found is None else to_json(found),
                "report": to_json(log.report()),
            }
            await peer.send(reply(json.dumps(answer).encode()))

    async with misbehaving(behave) as served:
        yield served


async def told(engine: RemoteEngine) -> tuple[Any, AttemptLog]:
    """What an engine decides, and what it writes about it."""
    log = AttemptLog()
    return await engine.decide_traced(REQUEST, log), log

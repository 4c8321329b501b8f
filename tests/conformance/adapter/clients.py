"""Engines whose server is a script, for the vectors of clients."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from os import environ
from typing import Any

import httpx2

from decide.engines.systemone import SystemOneEngine

Doc = dict[str, Any]
Handler = Callable[[httpx2.Request], httpx2.Response]

PLACE = "http://127.0.0.1:8471"
YES = {"type": "noul", "noul": 0.96}


def engine_over(handler: Handler, **options: Any) -> SystemOneEngine:
    """
    Return an engine whose requests *handler* answers.
    """
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(handler))
    return SystemOneEngine(PLACE, client=client, **options)


def replying(body: object, status: int = 200) -> Handler:
    """
    Answer everything with *body*: a text as it is, anything else as JSON.
    """
    content = body if isinstance(body, str) else json.dumps(body)
    return lambda request: httpx2.Response(status, content=content.encode())


class Failing(httpx2.AsyncByteStream):
    """
    A body that begins, and then does what *ending* does.
    """

    def __init__(self, ending: Callable[[], Any]) -> None:
        self._ending = ending

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"{"
        await self._ending()


@contextmanager
def environment(names: Doc) -> Iterator[None]:
    """
    Let variables of the environment have these values for a while; None unsets one.
    """
    before = {name: environ.get(name) for name in names}
    try:
        _set(names)
        yield
    finally:
        _set(before)


def _set(names: Doc) -> None:
    for name, value in names.items():
        if value is None:
            environ.pop(name, None)
        else:
            environ[name] = value

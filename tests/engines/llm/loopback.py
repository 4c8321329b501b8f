"""A server on this machine that says what a test has it say, and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anthropic  # noqa: F401 - a model that is made on a loop would block it by loading them
import anyio
import attrs
import openai  # noqa: F401
from anyio.abc import SocketStream

from decide.engines.anthropic import AnthropicMessages
from decide.engines.chat import ChatModel
from decide.engines.openai import OpenAIChat, OpenAIResponses

ANSWER = '{"answers": {"q0": {"noul": 0.9}}}'


@attrs.frozen
class Asked:
    """
    One request as it came.
    """

    line: str
    headers: dict[str, str]
    body: Any


Answer = bytes | Callable[[SocketStream], Awaitable[None]]


class Server:
    """
    Gives one answer after the other, the last one over and over.
    """

    def __init__(self, *answers: Answer) -> None:
        self._answers = answers
        self.asked: list[Asked] = []
        self.left = anyio.Event()
        self.url = ""

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            try:
                self.asked.append(await _asked(stream))
                answer = self._answers[min(len(self.asked), len(self._answers)) - 1]
                await (stream.send(answer) if isinstance(answer, bytes) else answer(stream))
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                self.left.set()


@asynccontextmanager
async def serving(*answers: Answer) -> AsyncGenerator[Server, None]:
    """
    Run a server while the block lasts.
    """
    server = Server(*answers)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server.serve)
        server.url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
        yield server
        tasks.cancel_scope.cancel()


async def _asked(stream: SocketStream) -> Asked:
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    head, _, body = data.partition(b"\r\n\r\n")
    line, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (header.partition(":") for header in rest)}
    while len(body) < int(headers.get("content-length", "0")):
        body += await stream.receive()
    return Asked(line, headers, json.loads(body))


def http(status: int, body: object = None, **headers: str) -> bytes:
    """
    Write a reply.
    """
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"Content-Type": "application/json", "Content-Length": str(len(content)), "Connection": "close"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status} Whatever\r\n{head}\r\n".encode() + content


async def hang(stream: SocketStream) -> None:
    """
    Say nothing until the client leaves.
    """
    while True:
        await stream.receive()


def chat(content: object, finish: str = "stop", **choice: object) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "reasoning_content": '{"answers": {"q0": {"noul": 0.1}}}'}
    return {
        "model": "m-1-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, **choice}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17},
    }


def responses(text: object, **members: object) -> dict[str, Any]:
    reasoning = {"type": "reasoning", "summary": [{"type": "summary_text", "text": '{"answers": {"q0": true}}'}]}
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "model": "m-1-2026",
        "status": "completed",
        "output": [reasoning, {"type": "message", "role": "assistant", "content": [part]}],
        "usage": {"input_tokens": 12, "output_tokens": 5},
        **members,
    }


def messages(text: object, stop: str = "end_turn", **members: object) -> dict[str, Any]:
    thinking = {"type": "thinking", "thinking": '{"answers": {"q0": true}}', "signature": "x"}
    return {
        "type": "message",
        "model": "m-1-2026",
        "content": [thinking, {"type": "text", "text": text}],
        "stop_reason": stop,
        "usage": {"input_tokens": 12, "output_tokens": 5},
        **members,
    }


@attrs.frozen
class Vendor:
    """
    One adapter: how it is made for a server, and what a good reply to it looks like.
    """

    name: str
    make: Callable[..., ChatModel]
    reply: Callable[..., dict[str, Any]]
    route: str
    base: str = ""

    def at(self, server: Server, **options: Any) -> ChatModel:
        return self.make("m-1", base_url=f"{server.url}{self.base}", **options)


VENDORS: Mapping[str, Vendor] = {
    vendor.name: vendor
    for vendor in (
        Vendor("chat", OpenAIChat, chat, "/v1/chat/completions", "/v1"),
        Vendor("responses", OpenAIResponses, responses, "/v1/responses", "/v1"),
        Vendor("messages", AnthropicMessages, messages, "/v1/messages"),
    )
}

"""Measures a call of the System One engine beside the bare client, the vendor's SDK and a raw socket, in one run."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any

import anyio
import httpcore2
import httpx2
from _loopback import serving
from overhead import machine
from typesafe_sdk import AsyncTypeSafeClient, Noul, RetryPolicy

from decide import Chain, ChoiceQuestion, NoulQuestion, Question, ScoreQuestion, ScoreRequest
from decide.engines._http_errors import answered
from decide.engines._replies import Reply
from decide.engines._systemone_decode import read_answers
from decide.engines._systemone_encode import wire_request
from decide.engines.dialects import DIALECTS
from decide.engines.systemone import SystemOneEngine

Call = Callable[[], Awaitable[object]]

OURS = "decide: score"
BARE = "httpx2: post, parse"
GOAL = 1.15
"""A call of ours, of a bare one of the client that everybody uses."""

GOAL_MS = 1.0
"""Milliseconds to read and check a reply of 64 answers."""

AT_ONCE = (1, 64)
FIVE = (0.6, 0.1, 0.1, 0.1, 0.1)
STATE = "Parcel 7 arrived broken and I was billed twice."
ASKED = {"type": "noul", "instructions": "Is money back requested?"}
BODY = {"model": "jev-latest", "state": STATE, "questions": {"refund": ASKED}}
REPLY = {
    "model": "jev-1.13.0",
    "answers": {"refund": {"type": "noul", "noul": 0.97}},
    "usage": {"input_tokens": 24, "output_tokens": 1},
}


@dataclass(frozen=True)
class Effort:
    """
    How much to measure: rounds in which every contestant has its turn, and the calls of each turn.
    """

    rounds: int
    calls: int


FULL = Effort(rounds=41, calls=64)
QUICK = Effort(rounds=2, calls=2)


async def contestants(port: int, stack: AsyncExitStack) -> dict[str, Call]:
    """
    Return every way to make the call, the connections of each kept by itself.
    """
    base = f"http://127.0.0.1:{port}"
    url, content = f"{base}/v1/systemone", json.dumps(BODY).encode()
    client = await stack.enter_async_context(httpx2.AsyncClient(trust_env=False))
    pool = await stack.enter_async_context(httpcore2.AsyncConnectionPool(max_connections=100))
    engine = await stack.enter_async_context(SystemOneEngine(base, model="jev-latest", decision_timeout=10.0))
    chain = Chain([engine])
    request = ScoreRequest(text=STATE, questions={"refund": NoulQuestion("Is money back requested?")})
    vendor = await stack.enter_async_context(
        AsyncTypeSafeClient(api_key="k", base_url=base, retry=RetryPolicy(max_retries=0), compression=False)
    )
    raw = _RawSockets(port, content)
    stack.push_async_callback(raw.close)

    async def bare() -> object:
        return (await client.post(url, json=BODY)).json()

    async def core() -> object:
        headers = {"Host": f"127.0.0.1:{port}", "Content-Type": "application/json", "Content-Length": str(len(content))}
        response = await pool.request("POST", url, headers=headers, content=content)
        return json.loads(response.content)

    async def sdk() -> object:
        return await vendor.system_one(STATE, {"refund": Noul(instructions="Is money back requested?")}, model="jev")

    return {
        "raw socket": raw.call,
        "httpcore2: post, parse": core,
        BARE: bare,
        "typesafe-sdk: system_one": sdk,
        OURS: lambda: engine.score(request),
        "decide: Chain.score": lambda: chain.score(request),
    }


class _RawSockets:
    """
    The request as bytes on anyio's own streams, the reply parsed and nothing checked.
    """

    def __init__(self, port: int, body: bytes) -> None:
        head = f"POST /v1/systemone HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
        self._port = port
        self._sent = head.encode() + body
        self._idle: list[anyio.abc.SocketStream] = []

    async def call(self) -> object:
        stream = self._idle.pop() if self._idle else await anyio.connect_tcp("127.0.0.1", self._port)
        await stream.send(self._sent)
        received = await stream.receive()
        self._idle.append(stream)
        return json.loads(received.partition(b"\r\n\r\n")[2])

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().aclose()


async def measured(port: int, at_once: int, effort: Effort) -> dict[str, dict[str, float]]:
    """
    Return what a call takes, in microseconds of the clock and of the client's CPU: medians over the rounds.
    """
    spent: dict[str, list[tuple[float, float]]] = {}
    async with AsyncExitStack() as stack:
        calls = await contestants(port, stack)
        for name, call in calls.items():
            await _turn(call, at_once, at_once)
            spent[name] = []
        for _ in range(effort.rounds):
            for name, call in calls.items():
                spent[name].append(await _turn(call, at_once, max(effort.calls, at_once)))
    bare = spent[BARE]
    return {
        name: {
            "us": median(wall for wall, _ in turns),
            "cpu us": median(cpu for _, cpu in turns),
            "of the bare client": median(ours[0] / theirs[0] for ours, theirs in zip(turns, bare, strict=True)),
        }
        for name, turns in spent.items()
    }


async def _turn(call: Call, at_once: int, calls: int) -> tuple[float, float]:
    left = iter(range(calls))

    async def caller() -> None:
        for _ in left:
            await call()

    wall, cpu = time.perf_counter(), time.process_time()
    async with anyio.create_task_group() as group:
        for _ in range(at_once):
            group.start_soon(caller)
    return (time.perf_counter() - wall) / calls * 1e6, (time.process_time() - cpu) / calls * 1e6


def reading(effort: Effort) -> dict[str, float]:
    """
    Return the milliseconds of CPU that a reply of 64 answers takes to parse alone, and to read and check.
    """
    kinds: list[Question] = [
        NoulQuestion("?"),
        ChoiceQuestion("?", dict.fromkeys("abcde", "what it does")),
        ScoreQuestion("?", ["low", "mid", "high"]),
    ]
    answers: list[dict[str, object]] = [
        {"type": "noul", "noul": 0.97},
        {"type": "choice", "choice": "a", "confidence": 0.5, "probabilities": dict(zip("abcde", FIVE, strict=True))},
        {
            "type": "score",
            "score": 0.5,
            "confidence": 0.3,
            "legend": {"0": "low", "1": "mid", "2": "high"},
            "probabilities": {"0": 0.6, "1": 0.3, "2": 0.1},
        },
    ]
    names = [f"q{number}" for number in range(64)]
    request = ScoreRequest(text=STATE, questions={name: kinds[at % 3] for at, name in enumerate(names)})
    body = json.dumps({**REPLY, "answers": {name: answers[at % 3] for at, name in enumerate(names)}}).encode()
    asked, spoken, reply = wire_request(request), DIALECTS["systemone"], Reply(status=200, headers={}, body=body)

    def read() -> None:
        document = spoken.read(asked, answered(reply, "jev", holds=spoken.holds))
        read_answers(request, asked, document, engine="jev", calibrated=True, usage=None)

    return {"json.loads": _fastest(lambda: json.loads(body), effort), "read and checked": _fastest(read, effort)}


def _fastest(work: Callable[[], object], effort: Effort) -> float:
    turns = []
    for _ in range(effort.rounds):
        begun = time.process_time()
        for _ in range(effort.calls):
            work()
        turns.append((time.process_time() - begun) / effort.calls * 1e3)
    return min(turns)


def measure(effort: Effort) -> dict[str, Any]:
    """
    Return everything that is measured.
    """
    found: dict[str, Any] = {"machine": machine(), "reading 64 answers, ms": reading(effort)}
    with serving(json.dumps(REPLY).encode()) as port:
        for backend in ("asyncio", "trio"):
            found[backend] = {
                str(at_once): anyio.run(measured, port, at_once, effort, backend=backend) for at_once in AT_ONCE
            }
    return found


def missed(found: Mapping[str, Any]) -> list[str]:
    """
    Return the goals that do not hold.
    """
    ratios = {
        f"{backend}, {at_once} at once": found[backend][str(at_once)][OURS]["of the bare client"]
        for backend in ("asyncio", "trio")
        for at_once in AT_ONCE
    }
    slow = [f"{where}: {ratio:.2f} of the bare client, goal {GOAL}" for where, ratio in ratios.items() if ratio > GOAL]
    took = found["reading 64 answers, ms"]["read and checked"]
    return slow + ([f"reading 64 answers: {took:.2f} ms, goal {GOAL_MS}"] if took > GOAL_MS else [])


def table(found: Mapping[str, Any]) -> Iterator[str]:
    """
    Yield the tables, in Markdown.
    """
    columns = [(backend, str(at_once)) for backend in ("asyncio", "trio") for at_once in AT_ONCE]
    yield "| us a call (times the bare client) | " + " | ".join(f"{b}, {n} at once" for b, n in columns) + " |"
    yield "| --- |" + " ---: |" * len(columns)
    for name in found["asyncio"]["1"]:
        cells = [found[backend][at_once][name] for backend, at_once in columns]
        yield f"| {name} | " + " | ".join(f"{c['us']:.0f} ({c['of the bare client']:.2f})" for c in cells) + " |"
    yield ""
    yield "| CPU ms for a reply of 64 answers | |"
    yield "| --- | ---: |"
    for name, spent in found["reading 64 answers, ms"].items():
        yield f"| {name} | {spent:.2f} |"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--quick", action="store_true", help="see that it runs")
    options = parser.parse_args(arguments)
    found = measure(QUICK if options.quick else FULL)
    problems = missed(found)
    if options.json:
        print(json.dumps({**found, "missed": problems}))
    else:
        print(*table(found), "", *problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

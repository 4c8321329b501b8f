"""Vectors of a decider's host: the one status of a call, and what its calls share: a time budget and turns."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import anyio
import anyio.lowlevel
import httpx2

from decide import (
    AttemptLog,
    BusyError,
    DecideError,
    EngineTimeoutError,
    NoulAnswer,
    NoulQuestion,
    ScoreRequest,
    ScoreResult,
    TimeBudgetError,
    Turns,
    time_budget,
)
from decide.deadlines import charged
from decide.engines.systemone import SystemOneEngine
from decide.engines.trust import is_trusted
from tests.conformance.adapter.clients import YES, Failing, engine_over
from tests.conformance.adapter.numbers import milliseconds
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]

BUDGET = 2.0
WAIT = 1.0
ELSEWHERE = "https://decider.example"
ASKED = ScoreRequest(text="s", questions={"q": NoulQuestion("?")})
HOLDING = ScoreRequest(text="somebody else", questions={"q": NoulQuestion("?")})


class Called(NamedTuple):
    """
    What became of one call.
    """

    status: str | None
    sent: bool


async def status(given: Doc) -> Ran:
    """
    Make one call, and name what became of it as a host does.
    """
    sent: list[httpx2.Request] = []
    engine = engine_over(_server(given, sent), dialect="chalk", decision_timeout=BUDGET)
    called = await _host_call(given, engine, sent)
    return Ran(actual={"status": called.status, "sent": called.sent}, exact=True)


def _server(given: Doc, sent: list[httpx2.Request]) -> Callable[[httpx2.Request], httpx2.Response]:
    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        reply = given.get("reply", "ok")
        if isinstance(reply, int):
            body = given.get("body", {"answers": {"q": YES}} if reply == 200 else {})
            if isinstance(body, str):
                return httpx2.Response(reply, content=body.encode())
            return httpx2.Response(reply, json=body)
        if reply == "ok":
            return httpx2.Response(200, json={"answers": {"q": YES}})
        if found := re.match(r"(\d{3}) then (\w+)", reply):
            return httpx2.Response(int(found[1]), stream=Failing(_resets if found[2].startswith("reset") else _stalls))
        if re.search("stall|hang|timeout|slow", reply):
            return httpx2.Response(200, stream=Failing(_stalls))
        raise httpx2.ConnectError("")

    return answer


async def _resets() -> None:
    raise httpx2.ReadError("")


async def _stalls() -> None:
    await anyio.sleep_forever()


async def _host_call(given: Doc, engine: SystemOneEngine, sent: list[httpx2.Request]) -> Called:
    if given.get("mode") == "off":
        return Called("off", sent=False)
    local = given.get("local", False)
    if not (local or given.get("trusted", True) or is_trusted(ELSEWHERE, [])):
        return Called("untrusted", sent=False)
    behind = Behind(engine, given.get("lock_held_ms", 60_000 if given.get("lock_held") else 0) / 1000)
    # Only a server of this machine is asked in turn.
    turns = Turns(behind, at_once=1 if local else 100, wait=WAIT)
    spent = BUDGET - given["left_ms"] / 1000 if "left_ms" in given else 0.0
    failed: DecideError | None = None
    async with anyio.create_task_group() as group:
        if behind.held:
            group.start_soon(turns.score, HOLDING)
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
        failed = await _failure_within(turns, spent)
        group.cancel_scope.cancel()
    return Called(_status(failed, given), sent=bool(sent))


async def _failure_within(turns: Turns, spent: float) -> DecideError | None:
    with time_budget(BUDGET):
        with charged():
            await anyio.sleep(spent)
        try:
            await turns.score_traced(ASKED, AttemptLog())
        except DecideError as error:
            return error
    return None


def _status(failed: DecideError | None, given: Doc) -> str | None:
    code = given.get("reply") if failed is None else failed.http_status
    match failed:
        case TimeBudgetError():
            return "budget"
        case BusyError():
            return "busy"
        case EngineTimeoutError():
            return "timeout"
        case DecideError() if failed.detail == "protocol":
            return "version"
        case DecideError() if code is None:
            return "starting" if _is_starting(given) else "unreachable"
    if not isinstance(code, int):
        return None
    body = given.get("body")
    if code == 200 and (failed is None or (isinstance(body, dict) and isinstance(body.get("answers"), dict))):
        return None  # a host takes a reply that leaves every answer out for one that knows none of them
    if code in {401, 403}:
        return "auth"
    return {4: "rejected", 5: "server"}.get(code // 100, "invalid")


def _is_starting(given: Doc) -> bool:
    refused = given.get("reply") == "connection refused"
    young = given.get("process_age_s", 0) < given.get("start_limit_s", 0)
    return bool(refused and given.get("local") and given.get("process_alive") and young)


class Behind:
    """
    An engine behind a lock that somebody may hold for a while.
    """

    name = "decider"
    decision_timeout = 60.0

    def __init__(self, engine: SystemOneEngine, held: float) -> None:
        self._engine = engine
        self.held = held

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        if request is HOLDING:
            await anyio.sleep(self.held)
            return ScoreResult()
        return await self._engine.score_traced(request, AttemptLog())


class Taking:
    """
    An engine whose calls take as long as they are told to, and that knows how many it had at once.
    """

    name = "decider"
    decision_timeout = 60.0

    def __init__(self, seconds: list[float]) -> None:
        self._left = list(seconds)
        self._now = 0
        self.calls = 0
        self.overlaps = 0
        self.limits: list[float] = []

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        return await self.score_traced(request, AttemptLog())

    async def score_traced(self, request: ScoreRequest, log: AttemptLog, /) -> ScoreResult:
        self.limits.append(log.deadline - log.now())
        self.calls += request is not HOLDING
        self._now += 1
        self.overlaps += self._now > 1
        try:
            await anyio.sleep(self._left.pop(0) if len(self._left) > 1 else self._left[0])
        finally:
            self._now -= 1
        return ScoreResult(answers={"q": NoulAnswer(noul=0.9)})


async def budget_and_turns(given: Doc) -> Ran:
    """
    Make calls one after the other in one loop, or at once in several, and time them.
    """
    seconds = given.get("call_ms", 0)
    wait = given.get("queue_ms", WAIT * 1000) / 1000
    held = given.get("lock_held_ms", 0) / 1000
    calls = [one / 1000 for one in seconds] if isinstance(seconds, list) else [seconds / 1000]
    engine = Taking([held, *calls] if held else calls)
    turns = Turns(engine, wait=wait)
    loops = given.get("loops", 1)
    made: list[tuple[str, float, float]] = []
    async with anyio.create_task_group() as group:
        if held:
            group.start_soon(turns.score, HOLDING)
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
        async with anyio.create_task_group() as callers:
            for _ in range(loops):
                callers.start_soon(_loop, turns, len(calls), given.get("spent_ms", 0) / 1000, made)
        group.cancel_scope.cancel()
    return Ran(actual=_measured(made, engine), expect=lambda expected: _held_to(expected, made, engine))


async def _loop(turns: Turns, calls: int, spent: float, made: list[tuple[str, float, float]]) -> None:
    with time_budget(BUDGET) as budget:
        with charged():
            await anyio.sleep(spent)
        for _ in range(calls):
            begun = anyio.current_time()
            failed: DecideError | None = None
            try:
                await turns.score_traced(ASKED, AttemptLog())
            except DecideError as error:
                failed = error
            took = milliseconds(anyio.current_time() - begun)
            made.append((_status(failed, {}) or "ok", took, milliseconds(budget.spent)))


def _measured(made: list[tuple[str, float, float]], engine: Taking) -> Doc:
    return {"calls": [[status, took] for status, took, _ in made], "reached": engine.calls, "overlaps": engine.overlaps}


def _held_to(expected: Doc, made: list[tuple[str, float, float]], engine: Taking) -> Doc:
    """
    Return what was measured, if it is within what a vector expects; else what it expects.
    """
    statuses = [status for status, _, _ in made]
    took, spent = made[-1][1], made[-1][2]
    ok = statuses.count("ok")
    checks: dict[str, Callable[[Any], bool]] = {
        "pattern": lambda pattern: _follows(statuses, pattern),
        "spent_ms_at_most": lambda most: spent <= most,
        "first_call_limit_ms": lambda limit: milliseconds(engine.limits[0]) == limit,
        "status": lambda status: statuses == [status],
        "elapsed_at_most_ms": lambda most: took <= most,
        "ms_between": lambda bounds: bounds[0] <= took <= bounds[1],
        "ms_at_most": lambda most: took <= most,
        "sent": lambda sent: bool(engine.calls) is sent,
        "ok": lambda count: ok == count,
        "ok_between": lambda bounds: bounds[0] <= ok <= bounds[1],
        "rest": lambda rest: set(statuses) - {"ok"} == {rest},
        "overlaps": lambda overlaps: engine.overlaps == overlaps,
        "formula": lambda _: True,
    }
    if all(checks[name](value) for name, value in expected.items()):
        return _measured(made, engine)
    return expected


def _follows(statuses: list[str], pattern: str) -> bool:
    """
    Say whether statuses follow a pattern, in which one with a question mark may be left out.
    """
    words = (f"({word[:-1]} )?" if word.endswith("?") else f"{word} " for word in pattern.split())
    return re.fullmatch("".join(words), "".join(f"{status} " for status in statuses)) is not None

"""Many calls at one engine: what they share, what they wait for, and what they leave behind."""

import gc
import weakref

import anyio
import pytest

from decide import (
    Breaker,
    Chain,
    Hedged,
    NoulAnswer,
    NoulQuestion,
    ScoreRequest,
    ScoreResult,
    Turns,
)
from decide.engines.systemone import SystemOneEngine
from tests.engines.wire import asking
from tests.fakes import Engine, answers
from tests.faults.connections import GOOD, never_answers
from tests.faults.server import Peer, misbehaving, reply

pytestmark = pytest.mark.real_time

GRACE = 5.0


class Counting:
    """A server that takes its time, and counts how many ask at once."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._now = 0
        self.most = 0

    async def __call__(self, peer: Peer) -> None:
        while True:
            await peer.request()
            self._now += 1
            self.most = max(self.most, self._now)
            await anyio.sleep(self._seconds)
            self._now -= 1
            await peer.send(reply(GOOD))


async def outcomes(chain: Chain, calls: int) -> list[tuple[str, float, float]]:
    found: list[tuple[str, float, float]] = []

    async def call() -> None:
        (attempt,) = (await chain.score(asking())).trace.attempts
        found.append((attempt.outcome, attempt.latency, attempt.waited))

    async with anyio.create_task_group() as group:
        for _ in range(calls):
            group.start_soon(call)
    return found


async def test_a_hundred_calls_at_once_are_all_decided() -> None:
    server = Counting(0.05)
    async with (
        misbehaving(server, backlog=128) as served,
        SystemOneEngine(served.url, decision_timeout=10.0) as engine,
    ):
        found = await outcomes(Chain([engine]), 100)

    assert [outcome for outcome, _, _ in found] == ["decided"] * 100


async def test_waiting_in_line_is_not_the_latency_of_the_engine() -> None:
    server = Counting(0.03)
    async with (
        misbehaving(server) as served,
        SystemOneEngine(served.url, decision_timeout=10.0, concurrency=2) as engine,
    ):
        found = await outcomes(Chain([engine]), 20)

    assert [outcome for outcome, _, _ in found] == ["decided"] * 20
    assert server.most == 2
    assert max(waited for _, _, waited in found) > 0.2
    assert max(latency for _, latency, _ in found) < 0.2


@pytest.mark.parametrize("turns", [True, False], ids=["turns", "concurrency"])
async def test_a_server_that_serves_one_at_a_time_never_sees_two(turns: bool) -> None:
    server = Counting(0.05)
    many, wait = (64, None) if turns else (1, 0.12)
    async with (
        misbehaving(server) as served,
        SystemOneEngine(served.url, decision_timeout=10.0, concurrency=many, wait=wait) as engine,
    ):
        breaker = Breaker(Turns(engine, wait=0.12) if turns else engine, threshold=1)
        found = await outcomes(Chain([breaker]), 10)

    assert server.most == 1
    assert {outcome for outcome, _, _ in found} == {"decided", "busy"}
    assert breaker.state == "closed"


async def test_a_caller_that_gives_up_in_line_leaves_it() -> None:
    server = Counting(0.1)
    async with (
        misbehaving(server) as served,
        SystemOneEngine(served.url, decision_timeout=10.0, concurrency=1) as engine,
    ):
        async with anyio.create_task_group() as group:
            group.start_soon(engine.score, asking())
            await anyio.sleep(0.02)
            for _ in range(4):
                group.start_soon(give_up, engine, 0.03)
        assert (await engine.score(asking())).noul("n").noul == 0.9
        assert len(served.requests) == 2


async def give_up(engine: SystemOneEngine, seconds: float) -> None:
    with anyio.move_on_after(seconds):
        await engine.score(asking())


async def test_lost_hedges_leave_no_connection_and_no_request_behind() -> None:
    quick = Engine("backup", answers(ScoreResult(answers={"n": NoulAnswer(noul=0.5)})))
    alive: list[weakref.ref[ScoreRequest]] = []
    async with misbehaving(never_answers) as served, SystemOneEngine(served.url, decision_timeout=GRACE) as engine:
        hedged = Hedged(engine, quick, delay=0.002)
        for _ in range(100):
            request = ScoreRequest(text="state", questions={"n": NoulQuestion("?")})
            alive.append(weakref.ref(request))
            await hedged.score(request)
            del request
        with anyio.fail_after(GRACE):
            await served.all_closed()
        gc.collect()

    assert [one for one in alive if one() is not None] == []
    assert served.connections <= 100

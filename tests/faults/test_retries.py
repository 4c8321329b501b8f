"""Retries over real connections: only what may pass, only as often as asked, never past the deadline."""

import anyio
import pytest

from decide import Breaker, Chain, Decided, Fallback, NoulAnswer, Retry, ScoreResult, Stopped, Undecided
from decide.engines.systemone import SystemOneEngine
from tests.engines.wire import asking
from tests.fakes import Engine, answers
from tests.faults.connections import GOOD, never_answers
from tests.faults.server import Behaviour, Peer, misbehaving, reply

pytestmark = pytest.mark.real_time

ANSWER = ScoreResult(answers={"n": NoulAnswer(noul=0.9)})
BUSY = reply(b'{"detail": "no"}', status="503 No")


def in_turn(*replies: bytes) -> Behaviour:
    """Answer request after request, on whatever connection, each with the next reply; the last repeats."""
    left = list(replies)

    async def behave(peer: Peer) -> None:
        while True:
            await peer.request()
            await peer.send(left.pop(0) if len(left) > 1 else left[0])

    return behave


@pytest.mark.parametrize(
    ("status", "requests"),
    [(status, 1) for status in (204, 301, 400, 401, 402, 403, 404, 405, 409, 410, 413, 415, 422, 431, 501)]
    + [(status, 4) for status in (408, 425, 429, 500, 502, 503, 504, 529)],
)
async def test_only_refusals_that_may_pass_are_sent_again(status: int, requests: int) -> None:
    async with (
        misbehaving(in_turn(reply(b"{}", status=f"{status} No"))) as served,
        SystemOneEngine(served.url, decision_timeout=5.0) as engine,
    ):
        ended = await Chain([Retry(engine, retries=3, backoff=0.0)]).score(asking())

    assert len(served.requests) == requests
    assert [attempt.tries for attempt in ended.trace.attempts] == [requests]
    assert isinstance(ended, Undecided | Stopped)


async def test_by_default_one_decision_is_one_request_to_each_engine() -> None:
    async with (
        misbehaving(in_turn(BUSY)) as first,
        misbehaving(in_turn(BUSY)) as second,
        SystemOneEngine(first.url, name="a") as a,
        SystemOneEngine(second.url, name="b") as b,
    ):
        breaker = Breaker(a)
        ended = await Chain([Fallback(breaker, b)]).score(asking())

    assert (len(first.requests), len(second.requests)) == (1, 1)
    assert breaker.stats().failures == 1
    assert [attempt.outcome for attempt in ended.trace.attempts] == ["error", "error"]
    assert ended.trace.outage


async def test_retries_are_one_attempt_and_one_failure_however_deep_they_stand() -> None:
    async with misbehaving(in_turn(BUSY)) as served, SystemOneEngine(served.url, name="a") as engine:
        breaker = Breaker(Retry(engine, retries=2, backoff=0.0))
        ended = await Chain([breaker, Engine("b", answers(ANSWER))]).score(asking())

    assert len(served.requests) == 3
    assert breaker.stats().failures == 1
    assert [(attempt.outcome, attempt.tries) for attempt in ended.trace.attempts] == [("error", 3), ("decided", 1)]


@pytest.mark.parametrize("asked", ["-1", "soon", "Sun, 01 Mar 2020 12:00:30 GMT", ""])
async def test_a_wait_that_nobody_can_keep_is_the_usual_backoff(asked: str) -> None:
    refused = reply(b"{}", f"Retry-After: {asked}", status="429 No")
    async with misbehaving(in_turn(refused, reply(GOOD))) as served, SystemOneEngine(served.url) as engine:
        ended = await Chain([Retry(engine, retries=1, backoff=0.01)]).score(asking())

    assert isinstance(ended, Decided)
    assert len(served.requests) == 2


async def test_the_wait_that_is_asked_for_is_kept_and_none_follows_the_last_try() -> None:
    at: list[float] = []

    async def behave(peer: Peer) -> None:
        while True:
            await peer.request()
            at.append(anyio.current_time())
            await peer.send(reply(b"{}", "retry-after-ms: 200", status="429 No"))

    async with misbehaving(behave) as served, SystemOneEngine(served.url) as engine:
        await Chain([Retry(engine, retries=1, backoff=0.001)]).score(asking())
        ended = anyio.current_time()

    assert len(at) == 2
    assert at[1] - at[0] >= 0.2
    assert ended - at[1] < 0.15


async def test_tries_and_waits_share_one_deadline() -> None:
    async with misbehaving(in_turn(BUSY)) as served, SystemOneEngine(served.url, decision_timeout=0.3) as engine:
        begun = anyio.current_time()
        ended = await Chain([Retry(engine, retries=50, backoff=0.1)]).score(asking())
        took = anyio.current_time() - begun

    assert took < 0.3 + 0.3
    assert 1 <= len(served.requests) <= 5
    assert [attempt.outcome for attempt in ended.trace.attempts] in (["error"], ["timeout"])


async def test_a_server_that_hangs_is_asked_once_and_the_caller_is_let_go_at_once() -> None:
    async with (
        misbehaving(never_answers) as served,
        SystemOneEngine(served.url, decision_timeout=5.0) as engine,
    ):
        begun = anyio.current_time()
        with anyio.move_on_after(0.2) as scope:
            await Chain([Retry(engine, retries=3)]).score(asking())
        took = anyio.current_time() - begun
        await served.all_closed()

    assert scope.cancelled_caught
    assert took < 0.2 + 0.3
    assert len(served.requests) == 1

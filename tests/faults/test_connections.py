"""What an engine does with its connections: none is trusted with more than it was used for."""

import anyio
import pytest

from decide import (
    Chain,
    Decided,
    EngineError,
    Hedged,
    MisconfiguredError,
    NoulAnswer,
    RateLimitedError,
    Retry,
    ScoreResult,
)
from decide.engines.systemone import SystemOneEngine
from tests.engines.wire import asking
from tests.fakes import Engine, answers
from tests.faults.connections import GOOD
from tests.faults.encrypted import over_tls, trusting
from tests.faults.replies import noul
from tests.faults.server import Behaviour, Peer, misbehaving, reply, says

pytestmark = pytest.mark.real_time

KEY = "sk-sentinel"
GRACE = 5.0
QUICK = ScoreResult(answers={"n": NoulAnswer(noul=0.5)})


def in_turn(*replies: bytes) -> Behaviour:
    """Keep the connection, and answer request after request on it; the last reply repeats."""

    async def behave(peer: Peer) -> None:
        for turn in range(1000):
            await peer.request()
            await peer.send(replies[min(turn, len(replies) - 1)])

    return behave


async def noul_of(engine: SystemOneEngine) -> float | None:
    return (await engine.score(asking())).noul("n").noul


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed_and_takes_no_key_anywhere(status: int) -> None:
    async with misbehaving(says(reply(GOOD))) as elsewhere:
        moved = says(reply(b"{}", f"Location: {elsewhere.url}/v1/systemone", status=f"{status} Moved"))
        async with misbehaving(moved) as served:
            with pytest.raises(MisconfiguredError) as caught:
                await SystemOneEngine(served.url, api_key=KEY).score(asking())

    assert caught.value.http_status == status
    assert len(served.requests) == 1
    assert served.requests[0].header("authorization") == f"Bearer {KEY}"
    assert elsewhere.connections == 0


async def test_a_redirect_to_itself_is_one_request() -> None:
    async with misbehaving(says(reply(b"", "Location: /v1/systemone", status="308 Moved"))) as served:
        with pytest.raises(MisconfiguredError):
            await SystemOneEngine(served.url).score(asking())

    assert len(served.requests) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (["Retry-After: 2"], 2.0),
        (["Retry-After:   2   "], 2.0),
        (["Retry-After: 1.5"], 1.5),
        (["Retry-After: 0"], 0.0),
        (["Retry-After: +3"], 3.0),
        (["Retry-After: -1"], None),
        (["Retry-After: 99999999999"], 600.0),
        (["Retry-After: " + "9" * 50_000], 600.0),
        (["Retry-After: 1e3"], None),
        (["Retry-After: inf"], None),
        (["Retry-After: soon"], None),
        (["Retry-After:"], None),
        (["Retry-After: \u0662"], None),
        (["Retry-After: 2", "Retry-After: 7"], None),
        (["Retry-After: Sun, 01 Mar 2020 12:00:30 GMT"], None),
        (["Retry-After: Fri, 31 Feb 2199 12:00:30 GMT"], None),
        (["Retry-After: Thu, 01 Jan 2199 12:00:30 GMT"], 600.0),
        (["Retry-After: Thursday, 01-Jan-68 12:00:30 GMT"], 600.0),
        (["Retry-After: Thu Jan  1 12:00:30 2199"], 600.0),
        (["Retry-After: Thu, 01 Jan 2199 12:00:30 gmt"], 600.0),
        (["Retry-After: Thu, 01 Jan 2199 12:00:30 -0000"], 600.0),
        (["Retry-After: Thu, 01 Jan 2199 12:00:30 +0100"], None),
        (["retry-after-ms: 250", "Retry-After: 9"], 0.25),
        (["retry-after-ms: 0", "Retry-After: 9"], 0.0),
        (["retry-after-ms: -250", "Retry-After: 9"], 9.0),
        (["retry-after-ms: " + "9" * 50_000], 600.0),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_the_wait_that_a_server_asks_for_is_a_number_of_seconds_or_none(
    headers: list[str], seconds: float | None
) -> None:
    raw = [header.encode().decode("latin-1") for header in headers]
    async with misbehaving(says(reply(b"{}", *raw, status="429 No"))) as served:
        with pytest.raises(RateLimitedError) as caught:
            await SystemOneEngine(served.url).score(asking())

    assert caught.value.retry_after == seconds


async def test_a_server_that_is_loading_is_waited_for_only_when_retries_are_on() -> None:
    loading = reply(b'{"error": {"code": 503}}', "Retry-After: 0", status="503 Loading")
    async with misbehaving(in_turns_over_connections(loading, loading, reply(GOOD))) as served:
        engine = SystemOneEngine(served.url)
        with pytest.raises(EngineError):
            await engine.score(asking())
        assert len(served.requests) == 1

        ended = await Chain([Retry(engine, retries=2, backoff=0.0)]).score(asking())

    assert isinstance(ended, Decided)
    assert [(attempt.outcome, attempt.tries) for attempt in ended.trace.attempts] == [("decided", 2)]


def in_turns_over_connections(*replies: bytes) -> Behaviour:
    """Answer one request per connection, each with the next reply."""
    left = list(replies)

    async def behave(peer: Peer) -> None:
        await peer.request()
        await peer.send(left.pop(0))

    return behave


async def test_a_connection_that_the_server_closed_meanwhile_is_no_failed_attempt() -> None:
    async with misbehaving(says(reply(GOOD))) as served:
        engine = SystemOneEngine(served.url)
        for _ in range(5):
            assert await noul_of(engine) == 0.9
            await served.all_closed()

    assert len(served.requests) == 5


@pytest.mark.parametrize("reset", [False, True])
async def test_a_request_that_was_read_is_never_sent_again(reset: bool) -> None:
    async def behave(peer: Peer) -> None:
        if len(served.requests) == 0:
            await peer.request()
            await peer.send(reply(GOOD))
        await peer.request()
        if reset:
            peer.reset()

    async with misbehaving(behave) as served:
        engine = SystemOneEngine(served.url)
        assert await noul_of(engine) == 0.9
        with pytest.raises(EngineError):
            await engine.score(asking())

    assert len(served.requests) == 2


@pytest.mark.parametrize("pause", [0.0, 0.02])
async def test_a_reply_that_nobody_asked_for_answers_no_later_request(pause: float) -> None:
    async def behave(peer: Peer) -> None:
        first = len(served.requests) == 0
        await peer.request()
        if first:
            await peer.send(reply(noul(b"0.9")) + (b"" if pause else reply(noul(b"0.1"))))
            await anyio.sleep(pause)
            await peer.send(reply(noul(b"0.1")) if pause else b"")
            sent.set()
            await peer.request()
        await peer.send(reply(noul(b"0.5")))

    sent = anyio.Event()
    async with misbehaving(behave) as served:
        engine = SystemOneEngine(served.url)
        first = await noul_of(engine)
        await sent.wait()
        second = await noul_of(engine)

    assert (first, second) == (0.9, 0.5)


async def test_a_reply_that_nobody_asked_for_answers_no_later_request_over_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("decide.engines._http.trusted", trusting)

    async def behave(peer: Peer) -> None:
        first = len(served.requests) == 0
        while True:
            await peer.request()
            surplus = [reply(noul(b"0.1"))] if first else []
            await peer.send(reply(noul(b"0.9" if first else b"0.5")), *surplus)

    async with misbehaving(over_tls(behave)) as served:
        url = served.url.replace("http://127.0.0.1", "https://localhost")
        async with SystemOneEngine(url, decision_timeout=GRACE) as engine:
            found = [await noul_of(engine) for _ in range(4)]

    assert found == [0.9, 0.5, 0.5, 0.5]
    assert served.connections == 2


@pytest.mark.parametrize("text", ["\u00e9", "a\nb", "a\r\nX-Other: b", "\ud800", 5, None, b"x", "\x00"])
async def test_a_header_that_turns_out_not_to_be_one_is_our_own_fault_and_not_quoted(text: object) -> None:
    def late() -> str:
        return text  # type: ignore[return-value]  # what a caller's function may do all the same

    async with misbehaving(says(reply(GOOD))) as served:
        with pytest.raises(MisconfiguredError, match="X-Team") as caught:
            await SystemOneEngine(served.url, headers={"X-Team": late}).score(asking())

    assert served.connections == 0
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert repr(text) not in str(caught.value)


async def test_a_server_sets_no_cookies() -> None:
    many = [f"Set-Cookie: c{number}={'x' * 100}; Max-Age=99999; Path=/" for number in range(200)]
    async with misbehaving(says(reply(GOOD, *many, "Set-Cookie: ;;;=bad"))) as served:
        engine = SystemOneEngine(served.url)
        for _ in range(2):
            await noul_of(engine)

    assert [request.header("cookie") for request in served.requests] == ["", ""]


async def test_callers_that_no_connection_is_accepted_for_all_end_at_their_deadline() -> None:
    outcomes: list[str] = []

    async def call() -> None:
        ended = await Chain([engine]).score(asking())
        outcomes.extend(attempt.outcome for attempt in ended.trace.attempts)

    async with misbehaving(in_turn(reply(GOOD)), backlog=1, accept_after=anyio.Event()) as served:
        engine = SystemOneEngine(served.url, decision_timeout=0.3)
        begun = anyio.current_time()
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(call)
        took = anyio.current_time() - begun

    assert outcomes == ["timeout"] * 20
    assert took < 0.3 + 1.0


async def test_three_hundred_cancelled_hedges_leave_an_engine_that_answers() -> None:
    accepting = anyio.Event()
    async with misbehaving(in_turn(reply(GOOD)), backlog=8, accept_after=accepting) as served:
        engine = SystemOneEngine(served.url, decision_timeout=GRACE)
        hedged = Hedged(engine, Engine("backup", answers(QUICK)), delay=0.001)

        async def hedge() -> None:
            for _ in range(30):
                report = (await hedged.score(asking())).report
                assert report is not None
                assert [attempt.outcome for attempt in report.attempts] == ["cancelled", "decided"]

        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(hedge)
        accepting.set()
        found = [await noul_of(engine) for _ in range(20)]

    assert found == [0.9] * 20

"""What comes of a call when the server, or whatever stands in its place, is out to break it."""

import tracemalloc
from contextlib import suppress

import anyio
import httpx2
import pytest

from decide import Chain, Decided, DecideError, Stopped
from decide.engines.systemone import SystemOneEngine
from tests.engines.wire import asking
from tests.faults.connections import FRAMING, SILENT
from tests.faults.replies import CONTENT, FORMATS, STATUSES
from tests.faults.rows import LENIENT, STOPPING, Row, seen, verdict, wavered
from tests.faults.server import misbehaving

pytestmark = pytest.mark.real_time

ROWS = [*SILENT, *FRAMING, *FORMATS, *CONTENT, *STATUSES]
TIMEOUT = 0.4
PATIENCE = 10.0
GRACE = 1.0
MEMORY = 16 * 1024 * 1024
HEAVY = {
    "drips-the-head",
    "storms-1xx",
    "pads-chunks",
    "packed-bomb",
    "huge-header",
    "headers-without-end",
    "trailers-without-end",
    "huge-body",
    "body-without-end",
    "chunks-without-end",
    "huge-error",
    "many-digits",
    "many-decimals",
    "deep",
    "wide",
    "matted",
    "long-list",
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_hostile_server_ends_the_attempt_as_the_table_says(row: Row) -> None:
    async with misbehaving(row.behave) as served:
        engine = SystemOneEngine(served.url, decision_timeout=TIMEOUT if row.outcome == "timeout" else PATIENCE)
        breaker = await wavered(engine)
        begun = anyio.current_time()

        ended = await Chain([breaker], policy=LENIENT).score(asking())

        assert anyio.current_time() - begun < TIMEOUT + GRACE or row.outcome != "timeout"
        (attempt,) = ended.trace.attempts
        assert attempt.outcome == row.outcome
        assert attempt.detail in row.details
        assert isinstance(ended, Decided) is (row.outcome == "decided")
        assert isinstance(ended, Stopped) is (row.outcome in STOPPING)
        assert attempt.usage is None
        assert seen(breaker) == verdict(row.outcome)
        assert len(served.requests) <= 1
        engine.close()
        with anyio.fail_after(GRACE):
            await served.all_closed()


@pytest.mark.parametrize("row", [row for row in ROWS if row.name in HEAVY], ids=lambda row: row.name)
async def test_a_flood_is_not_kept(row: Row) -> None:
    async with misbehaving(row.behave) as served:
        chain = Chain([SystemOneEngine(served.url, decision_timeout=TIMEOUT)])
        tracemalloc.start()
        try:
            await chain.score(asking())
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert peak < MEMORY


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_client_of_the_callers_own_changes_no_outcome(row: Row) -> None:
    timeout = TIMEOUT if row.outcome == "timeout" else PATIENCE
    async with misbehaving(row.behave) as served, httpx2.AsyncClient(trust_env=False) as client:
        engine = SystemOneEngine(served.url, decision_timeout=timeout, client=client)

        ended = await Chain([engine], policy=LENIENT).score(asking())

    assert [attempt.outcome for attempt in ended.trace.attempts] == [row.outcome]


@pytest.mark.parametrize("row", [row for row in ROWS if row.outcome != "timeout"], ids=lambda row: row.name)
async def test_looking_at_a_hostile_server_raises_nothing_untyped(row: Row) -> None:
    async with misbehaving(row.behave) as served, SystemOneEngine(served.url) as engine:
        health = await engine.health()
        listed: tuple[str, ...] | None = None
        with suppress(DecideError):
            listed = await engine.models()

    assert health.detail.isprintable()
    assert not health.healthy or row.outcome in {"decided", "abstained", "invalid"}
    assert listed is None

"""Replies that were recorded and then spoiled: nothing escapes untyped, and nothing invalid is acted on."""

import time
from collections.abc import Iterator

import anyio.from_thread
import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decide import (
    Attempt,
    Chain,
    ChoiceAnswer,
    Decided,
    DecideError,
    NoulAnswer,
    ScoreAnswer,
    ScoreResult,
    validate_score_result,
)
from decide.attempt_log import AttemptLog
from decide.engines.dialects import DIALECTS
from decide.engines.systemone import SystemOneEngine
from decide.outcomes import AttemptOutcome
from tests.engines.wire import asking, engine_over
from tests.faults.connections import CHUNKED, EARLY, GOOD, SPLIT
from tests.faults.mutations import RECORDED, Recorded, Reply, replies, torn
from tests.faults.oracle import answers_in, may_act
from tests.faults.rows import LENIENT
from tests.faults.server import Peer, misbehaving, reply

pytestmark = pytest.mark.real_time

SECONDS = 1.0
"""Of the processor's time, which other programs do not take from us."""

PATIENCE = 60.0
ENDINGS = {
    AttemptOutcome(name)
    for name in ("decided", "abstained", "invalid", "error", "rejected", "auth", "quota", "misconfigured")
}


@pytest.fixture(scope="module")
def portal() -> Iterator[anyio.from_thread.BlockingPortal]:
    with anyio.from_thread.start_blocking_portal("trio") as running:
        yield running


def test_enough_was_recorded() -> None:
    assert len(RECORDED) > 70
    assert {recorded.dialect for recorded in RECORDED} == set(DIALECTS)


@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), recorded=st.sampled_from(RECORDED))
def test_a_spoiled_reply_ends_typed_and_is_acted_on_only_where_it_is_valid(
    portal: anyio.from_thread.BlockingPortal, data: st.DataObject, recorded: Recorded
) -> None:
    spoiled = data.draw(replies(recorded.reply))
    begun = time.process_time()

    result, (attempt,) = portal.call(score, recorded, spoiled)

    assert time.process_time() - begun < SECONDS
    assert attempt.outcome in ENDINGS
    if result is not None:
        assert validate_score_result(recorded.request, result) == ()
        holds_only_what_is_valid(recorded, spoiled, result)


WIRE = reply(GOOD, "X-A: b", "Retry-After: 1"), CHUNKED + SPLIT, EARLY + reply(b"{}", status="429 No")


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def wire(request: pytest.FixtureRequest) -> Iterator[tuple[anyio.from_thread.BlockingPortal, list[bytes], str]]:
    """A server that says what is last in a list, a portal to its loop, and where it is."""
    said: list[bytes] = []

    async def behave(peer: Peer) -> None:
        await peer.request()
        await peer.send(said[-1])

    with (
        anyio.from_thread.start_blocking_portal(request.param) as running,
        running.wrap_async_context_manager(misbehaving(behave)) as served,
    ):
        yield running, said, served.url


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), told=st.sampled_from(WIRE))
def test_spoiled_bytes_on_the_wire_end_typed(
    wire: tuple[anyio.from_thread.BlockingPortal, list[bytes], str], data: st.DataObject, told: bytes
) -> None:
    running, said, url = wire
    for _ in range(data.draw(st.integers(1, 3))):
        told = data.draw(torn(told))
    said.append(told)
    begun = time.process_time()

    ended = running.call(Chain([SystemOneEngine(url, decision_timeout=PATIENCE)]).score, asking())

    assert time.process_time() - begun < SECONDS
    (attempt,) = ended.trace.attempts
    assert attempt.outcome in ENDINGS
    assert attempt.detail.isprintable()
    assert isinstance(ended, Decided) is (attempt.outcome == "decided")


async def score(recorded: Recorded, reply: Reply) -> tuple[ScoreResult | None, tuple[Attempt, ...]]:
    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(reply.status, headers={"content-type": reply.content_type}, content=reply.body)

    log = AttemptLog()
    try:
        engine = engine_over(answer, dialect=recorded.dialect, model=recorded.model)
        result = await engine.score_traced(recorded.request, log)
    except DecideError as error:
        assert error.__cause__ is None  # noqa: PT017 - most replies are no error
        assert error.__context__ is None  # noqa: PT017
        return None, log.report().attempts
    return result, log.report().attempts


def holds_only_what_is_valid(recorded: Recorded, reply: Reply, result: ScoreResult) -> None:
    names = list(recorded.request.questions)
    entries = answers_in(reply.status, reply.content_type, reply.body, recorded.dialect, names)
    for key, question in recorded.request.questions.items():
        answer = result.answers[key]
        selection = LENIENT.evaluate(answer, model=result.model)
        if not selection.actionable:
            continue
        entry = entries[key]
        assert may_act(question, entry)
        match answer:
            case NoulAnswer():
                assert selection.picks == (("true",) if entry["noul"] > 0.5 else ("false",))
            case ChoiceAnswer():
                assert entry["probabilities"][selection.picks[0]] == max(entry["probabilities"].values())
            case ScoreAnswer():
                assert abs(int(selection.picks[0]) - entry["score"]) <= 0.5
            case _:
                raise AssertionError(answer)

"""What comes of every fault of `jevcompat mock`, a third-party server that breaks one requirement at a time."""

from collections.abc import Iterator

import pytest

from decide import (
    Chain,
    Decided,
    MisconfiguredError,
    ScoreRequest,
    ScoreResult,
    Stopped,
    validate,
    validate_score_result,
)
from decide.chain import Ended
from decide.engines.systemone import SystemOneEngine
from tests.faults.jevcompat_servers import CLEAN, FAULTS, KEY, Urls, every_fault
from tests.faults.mock_rows import ASKED, CHOICES, MOCK_ROWS, MODEL, PLAIN, QUESTIONS, TO_DECIDE, MockRow
from tests.faults.rows import LENIENT, STOPPING, seen, verdict, wavered

pytestmark = pytest.mark.real_time

BY_FAULT = {row.fault: row for row in MOCK_ROWS}
ONLY_IN_ASKED = {"reject-array-state", "strict-ids", "noul-two-sided", "cap-64", "cap-5-levels"}
"""What these refuse is not in a request to decide."""


@pytest.fixture(scope="module")
def servers() -> Iterator[Urls]:
    with every_fault() as urls:
        yield urls


def engine_for(row: MockRow, servers: Urls, key: str) -> SystemOneEngine:
    required = key if row.key is None else row.key
    sent = required if row.sent is None else row.sent
    return SystemOneEngine(
        servers[row.fault, required],
        model=row.model,
        api_key=sent or None,
        decision_timeout=10.0,
        policy=LENIENT,
        request_params=row.further,
    )


def clean(servers: Urls) -> SystemOneEngine:
    return SystemOneEngine(servers[CLEAN, ""], model=MODEL, decision_timeout=10.0, policy=LENIENT)


def actionable(request: ScoreRequest, result: ScoreResult) -> dict[str, tuple[str, ...]]:
    chosen = {key: LENIENT.evaluate(result.answers[key], model=result.model) for key in request.questions}
    return {key: selection.picks for key, selection in chosen.items() if selection.actionable}


def test_every_fault_has_a_row() -> None:
    assert [row.fault for row in MOCK_ROWS] == list(FAULTS)
    assert len(MOCK_ROWS) == 47


async def test_without_a_fault_every_answer_may_be_acted_on(servers: Urls) -> None:
    ended = await Chain([clean(servers)], policy=LENIENT).score(ASKED)

    assert isinstance(ended, Decided)
    assert isinstance(ended.result, ScoreResult)
    assert set(actionable(ASKED, ended.result)) == set(QUESTIONS)


@pytest.mark.parametrize("key", ["", KEY], ids=["open", "with-a-key"])
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_ends_as_the_table_says_and_nothing_broken_is_acted_on(
    fault: str, key: str, servers: Urls
) -> None:
    row = BY_FAULT[fault]
    breaker = await wavered(engine_for(row, servers, key))

    ended = await Chain([breaker], keep_non_selected=True).score(ASKED)

    (attempt,) = ended.trace.attempts
    assert attempt.outcome == row.outcome
    assert attempt.malformed == (len(row.unknown) + ("topics" in row.unknown) if row.why.startswith("the rest") else 0)
    assert seen(breaker) == verdict(row.outcome)
    assert isinstance(ended, Stopped) is (row.outcome in STOPPING)
    assert isinstance(ended, Decided) is (row.outcome == "decided")
    if isinstance(ended, Decided):
        assert isinstance(ended.result, ScoreResult)
        await stands(row, ended.result, servers)


async def stands(row: MockRow, result: ScoreResult, servers: Urls) -> None:
    """Check that what is answered may be acted on, and that the rest may not."""
    assert validate_score_result(ASKED, result) == ()
    assert {key for key, answer in result.answers.items() if answer.unknown} == row.unknown
    picked = actionable(ASKED, result)
    assert not picked.keys() & row.unknown
    if row.alike:
        truth = actionable(ASKED, await clean(servers).score(ASKED))
        assert picked == {key: truth[key] for key in set(QUESTIONS) - row.unknown}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_decision_is_made_only_of_answers_that_stand(fault: str, servers: Urls) -> None:
    row = BY_FAULT[fault]

    ended: Ended = await Chain([engine_for(row, servers, "")], policy=LENIENT).decide(TO_DECIDE)

    expected = row.outcome
    if fault in ONLY_IN_ASKED:
        expected = "decided"
    elif fault == "first-question-only":
        expected = "abstained"
    elif row.unknown & CHOICES:
        expected = "invalid"
    (attempt,) = ended.trace.attempts
    assert attempt.outcome in ({expected} if row.alike else {expected, "abstained"})
    assert isinstance(ended, Decided) is (attempt.outcome == "decided")
    if isinstance(ended, Decided):
        assert ended.decision is not None
        assert ended.decision.actionable
        assert validate(ended.decision, TO_DECIDE.taxonomy) == ()


async def test_usage_that_is_missing_is_unknown_and_usage_in_floats_is_read(servers: Urls) -> None:
    missing = await engine_for(BY_FAULT["no-usage"], servers, "").score(PLAIN)
    floats = await engine_for(BY_FAULT["float-usage"], servers, "").score(PLAIN)

    assert missing.usage is None
    assert floats.usage == (await clean(servers).score(PLAIN)).usage


async def test_confidence_by_another_formula_stands_beside_ours(servers: Urls) -> None:
    theirs = (await engine_for(BY_FAULT["confidence-margin"], servers, "").score(ASKED)).choice("team")
    ours = (await clean(servers).score(ASKED)).choice("team")

    assert theirs.confidence == ours.confidence
    assert theirs.reported_confidence != ours.reported_confidence


async def test_a_server_without_a_list_of_models_is_misconfigured_when_asked_for_it(servers: Urls) -> None:
    with pytest.raises(MisconfiguredError):
        await engine_for(BY_FAULT["models-404"], servers, "").models()

    assert await clean(servers).models() == ("jev-latest", "mock")


UNWELL = {"wrong-route", "xssi-200", "nan", "reject-jev-latest", "text-errors", "error-flat", "validation-400"} | {
    row.fault for row in MOCK_ROWS if row.outcome == "auth" or row.further
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_health_of_a_faulty_server_is_told_and_never_raised(fault: str, servers: Urls) -> None:
    health = await engine_for(BY_FAULT[fault], servers, "").health()

    assert health.healthy is (fault not in UNWELL)
    assert health.probed

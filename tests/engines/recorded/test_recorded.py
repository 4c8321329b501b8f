"""A corpus of recorded answers as an engine: what it finds, what it refuses to guess, and what it never claims."""

import socket
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest

from decide import (
    DURABLE,
    Chain,
    ChoiceAnswer,
    ChoiceQuestion,
    Decided,
    Decision,
    EngineError,
    Fallback,
    MisconfiguredError,
    NoulAnswer,
    NoulQuestion,
    Provenance,
    ReplayMissError,
    Request,
    ScoreAnswer,
    ScoreQuestion,
    ScoreRequest,
    Stopped,
    deterministic,
)
from decide.engines._setup import SetupError
from decide.engines.recorded import RecordedEngine
from decide.engines.tape import record
from tests.engines.recorded.tapes import Live, asking, corpus_of, noul_of
from tests.fakes import QUESTIONS, REQUEST, decision, result

RISK = {"risk": ScoreQuestion("How risky?", ["harmless", "doubtful", "harmful"])}


def risk(state: object, score: float) -> tuple[ScoreRequest, dict[str, ScoreAnswer]]:
    request = ScoreRequest(text=state, questions=RISK)  # type: ignore[arg-type]
    return request, {"risk": ScoreAnswer(score=score, levels=RISK["risk"].levels)}


async def test_the_answer_recorded_for_a_request_is_found_whatever_the_order_of_its_members() -> None:
    engine = RecordedEngine([risk({"a": 1, "b": 2}, 1.0)])

    found = await engine.score(ScoreRequest(text={"b": 2, "a": 1}, questions=RISK))

    assert found.score("risk").score == 1.0
    assert found.engine == "recorded"


async def test_the_last_of_equal_requests_counts() -> None:
    engine = RecordedEngine([risk("s", 0.0), risk("t", 0.5), risk("s", 2.0)])

    assert (await engine.score(risk("s", 0)[0])).score("risk").score == 2.0


@pytest.mark.parametrize(
    "request_",
    [
        ScoreRequest(text="unseen", questions=RISK),
        ScoreRequest(text="s ", questions=RISK),
        ScoreRequest(text="s", questions={"risk": ScoreQuestion("How dangerous?", RISK["risk"].levels)}),
        ScoreRequest(text="s", questions={"r": RISK["risk"]}),
        ScoreRequest(text="s", questions=RISK, context={"more": 1}),
    ],
)
async def test_a_request_that_was_not_recorded_is_an_error_and_no_neighbour(request_: ScoreRequest) -> None:
    with pytest.raises(ReplayMissError, match="no recorded decision") as caught:
        await RecordedEngine([risk("s", 1.0)]).score(request_)

    assert isinstance(caught.value, MisconfiguredError)
    assert "unseen" not in f"{caught.value}{caught.value.detail}"


async def test_a_miss_stops_a_chain_and_asks_nobody_else() -> None:
    live = Live()

    ended = await Chain([Fallback(RecordedEngine([]), live, name="f"), live]).score(asking("s"))

    assert isinstance(ended, Stopped)
    assert ended.trace.stopped_by == "misconfigured"
    assert [(one.provider, one.outcome, one.detail) for one in ended.trace.attempts] == [
        ("recorded", "misconfigured", "not recorded")
    ]
    assert live.calls == 0


async def test_a_corpus_decides_or_abstains() -> None:
    engine = RecordedEngine([(REQUEST, decision()), (attrs.evolve(REQUEST, text="hm"), None)])

    assert await engine.decide(REQUEST) == decision()
    assert await engine.decide(attrs.evolve(REQUEST, text="hm")) is None
    with pytest.raises(ReplayMissError):
        await engine.decide(attrs.evolve(REQUEST, text="else"))


async def test_a_recorded_verdict_is_not_believed_and_the_answer_is_judged_again() -> None:
    judged, _ = DURABLE.judge(decision())
    engine = RecordedEngine([(REQUEST, judged)])

    found = await engine.decide(REQUEST)

    assert found is not None
    assert (judged.actionable, found.actionable) == (True, False)
    ended = await Chain([engine], policy=DURABLE).decide(REQUEST)
    assert isinstance(ended, Decided)
    assert (ended.trace.outcome, ended.trace.provenance) == ("selected", "calibrated")


async def test_a_recorded_answer_of_a_rule_is_a_rules_no_more() -> None:
    ruled = deterministic(decision())
    found = await RecordedEngine([(REQUEST, ruled)]).decide(REQUEST)

    assert found is not None
    assert (ruled.provenance, found.provenance) == (Provenance.DETERMINISTIC, Provenance.SELF_REPORTED)


async def test_who_edits_an_answer_does_not_edit_the_corpus() -> None:
    engine = RecordedEngine([(REQUEST, decision()), (QUESTIONS, result())])
    found, scored = await engine.decide(REQUEST), await engine.score(QUESTIONS)
    assert found is not None

    found.scores.clear()
    scored.answers.clear()

    assert await engine.decide(REQUEST) == decision()
    assert (await engine.score(QUESTIONS)).answers


async def test_answers_stand_in_the_order_of_the_questions_and_others_after_them() -> None:
    asked = ScoreRequest(text="s", questions={"z": NoulQuestion("z?"), "a": NoulQuestion("a?")})
    answers = {name: NoulAnswer(noul=0.5) for name in ("extra", "a", "z")}

    found = await RecordedEngine([(asked, answers)]).score(asked)

    assert list(found.answers) == ["z", "a", "extra"]


async def test_the_option_for_none_of_these_is_that_of_the_question_and_not_of_the_recording() -> None:
    asked = ScoreRequest(text="s", questions={"c": ChoiceQuestion("?", ["a", "none"], none_id="none")})
    recorded = ScoreRequest(text="s", questions={"c": ChoiceQuestion("?", ["a", "none"])})
    engine = RecordedEngine([(recorded, {"c": ChoiceAnswer(probabilities={"none": 0.9, "a": 0.1})})])

    assert (await engine.score(asked)).choice("c").none_id == "none"


async def test_an_engine_of_recorded_answers_writes_one_attempt_with_their_cost() -> None:
    ended = await Chain([RecordedEngine([(QUESTIONS, result())], name="corpus")]).score(QUESTIONS)

    assert [(one.provider, one.outcome) for one in ended.trace.attempts] == [("corpus", "decided")]


async def test_no_socket_is_opened_and_no_key_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = RecordedEngine([risk("s", 1.0)])

    def refuse(*_: object) -> None:
        raise AssertionError("a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert (await engine.score(risk("s", 0)[0])).score("risk").score == 1.0


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ((REQUEST, result()), "corpus[1]: ScoreResult is no answer to a Request"),
        ((QUESTIONS, decision()), "corpus[1]: Decision is no answer to a ScoreRequest"),
        ((QUESTIONS, None), "corpus[1]: NoneType is no answer to a ScoreRequest"),
        ((asking({"sentinel": float("nan")}), {}), "corpus[1]: the request cannot be written as JSON"),
    ],
)
def test_a_bad_entry_is_named_by_its_index(entry: Any, said: str) -> None:
    with pytest.raises(SetupError) as caught:
        RecordedEngine([(REQUEST, decision()), entry])

    assert str(caught.value).startswith(said)
    assert "sentinel" not in str(caught.value)
    assert caught.value.__context__ is None


async def test_a_cassette_is_a_corpus_in_which_the_last_recording_counts(tmp_path: Path) -> None:
    live = Live({"s": [0.1, EngineError("x", http_status=503), 0.3], "e": [EngineError("x", http_status=503)]})
    async with record(live, tmp_path / "c.json", model="m-1") as tape:
        for state in ("s", "s", "s", "e"):
            await Chain([tape]).score(asking(state))

    engine = await corpus_of(tmp_path / "c.json")

    assert [await noul_of(engine, "s") for _ in range(3)] == [0.3] * 3
    for _ in range(2):
        with pytest.raises(EngineError) as caught:
            await engine.score(asking("e"))
        assert caught.value.http_status == 503
    with pytest.raises(ReplayMissError):
        await (await corpus_of(tmp_path / "c.json", model="m-2")).score(asking("s"))


async def test_a_call_that_was_cut_off_is_nothing_that_a_corpus_knows(tmp_path: Path) -> None:
    async with record(Live(takes=99), tmp_path / "c.json") as tape:
        with anyio.move_on_after(0.5):
            await tape.score(asking("s"))

    with pytest.raises(ReplayMissError):
        await (await corpus_of(tmp_path / "c.json")).score(asking("s"))


def test_what_an_engine_looks_like_tells_how_much_it_knows_and_not_what() -> None:
    assert repr(RecordedEngine([risk("sentinel", 1.0)])) == "RecordedEngine(1 requests, name='recorded')"


async def test_an_unjudged_copy_is_handed_out_for_a_request_to_decide() -> None:
    kept: Decision = decision()
    engine = RecordedEngine([(Request(text="a"), kept)])

    assert await engine.decide(Request(text="a")) is not kept

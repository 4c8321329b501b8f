"""What a server does not take is refused before the wire, by position, or asked in parts where that is allowed."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from decide.answers import ScoreResult, Usage
from decide.attempt_log import AttemptLog
from decide.engines._setup import SetupError
from decide.engines.limits import Limits
from decide.errors import EngineError, InvalidAnswerError, InvalidRequestError, MisconfiguredError
from decide.questions import ChoiceQuestion, NoulQuestion, Question, RelevanceQuestion, ScoreQuestion
from tests.engines.wire import asking, engine_over, replying

NOUL = NoulQuestion("sentinel")
CHOICE = ChoiceQuestion("sentinel", {f"sentinel{number}": "sentinel" for number in range(9)})
LEVELS = ScoreQuestion("sentinel", [f"sentinel{number}" for number in range(9)])


def answering(sent: list[dict[str, Any]], fail_at: int = 0) -> Callable[[httpx2.Request], httpx2.Response]:
    """A server that says yes to everything, and breaks at the request of that number."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        sent.append(body)
        usage = {"input_tokens": 10, "output_tokens": 1}
        if len(sent) == fail_at:
            return httpx2.Response(500, json={"detail": "no", "usage": usage})
        answers = {key: {"type": "noul", "noul": 0.9} for key in body["questions"]}
        return httpx2.Response(200, json={"model": "m-1", "answers": answers, "usage": usage})

    return answer


@pytest.mark.parametrize(
    ("questions", "text", "limits", "detail"),
    [
        ({"a": NOUL, "sentinel": CHOICE}, "s", {"options": 8}, "question 2: 9 options, at most 8"),
        ({"sentinel": ChoiceQuestion("?", ["a"])}, "s", {"least_options": 2}, "question 1: 1 options, at least 2"),
        ({"a": NOUL, "b": NOUL, "sentinel": LEVELS}, "s", {"levels": 8}, "question 3: 9 levels, at most 8"),
        ({str(n): NOUL for n in range(129)}, "s", {"questions": 128}, "129 questions, at most 128"),
        ({"r": RelevanceQuestion("?", ["a", "b", "c"])}, "s", {"questions": 2}, "3 questions, at most 2"),
        ({"a": CHOICE, "b": CHOICE}, "s", {"all_options": 17}, "18 options in all, at most 17"),
        ({"a": NOUL}, "x" * 101, {"state_characters": 100}, "a state of 101 characters, at most 100"),
        ({"a": NOUL}, {"a": "x" * 93}, {"state_characters": 100}, "a state of 101 characters, at most 100"),
        ({"a": NOUL}, "", {"filled_state": True}, "the state is empty"),
        ({"a": NoulQuestion("")}, "s", {"instructions": True}, "question 1: instructions are required"),
        (
            {"a": NoulQuestion("?", true="x")},
            "s",
            {"both_sides": True},
            "question 1: both sides have to be described, or none",
        ),
        ({"a": NOUL}, "s", {"state_tokens": 10}, "a state and a question of about 11 tokens, at most 10"),
        ({"a": NOUL}, "s" * 1000, {"body_bytes": 1000}, "a request of 1072 bytes, at most 1000"),
    ],
)
async def test_what_is_over_a_declared_limit_is_rejected_by_position_and_not_sent(
    questions: Mapping[str, Question], text: object, limits: dict[str, Any], detail: str
) -> None:
    sent: list[dict[str, Any]] = []
    log = AttemptLog()

    with pytest.raises(InvalidRequestError) as caught:
        await engine_over(answering(sent), limits=Limits(**limits)).score_traced(asking(questions, text), log)

    assert sent == []
    assert caught.value.detail == detail
    assert "sentinel" not in str(caught.value)
    assert [(attempt.outcome, attempt.detail) for attempt in log.report().attempts] == [("rejected", detail)]


@pytest.mark.parametrize(
    ("questions", "text", "limits"),
    [
        ({"a": NOUL}, "x" * 100, {"state_characters": 100}),
        ({"a": CHOICE}, "s", {"options": 9, "least_options": 9, "all_options": 9}),
        ({"a": LEVELS}, "s", {"levels": 9}),
        ({"a": NOUL}, "s", {"state_tokens": 11, "questions": 1}),
        ({"a": NoulQuestion("?", true="x", false="")}, "s", {"both_sides": True, "instructions": True}),
        ({"a": NOUL}, {"a": 1}, {"filled_state": True}),
    ],
)
async def test_what_is_just_within_a_limit_is_sent(
    questions: Mapping[str, Question], text: object, limits: dict[str, Any]
) -> None:
    sent: list[dict[str, Any]] = []

    with suppress(InvalidAnswerError):
        await engine_over(answering(sent), limits=Limits(**limits)).score(asking(questions, text))

    assert len(sent) == 1


async def test_a_limit_that_is_not_declared_is_the_servers_to_tell() -> None:
    refuse = replying(422, {"detail": "too many"})
    log = AttemptLog()

    with pytest.raises(InvalidRequestError):
        await engine_over(refuse).score_traced(asking({"a": ChoiceQuestion("?", [str(n) for n in range(255)])}), log)

    assert [attempt.detail for attempt in log.report().attempts] == ["http 422"]


@pytest.mark.parametrize(("questions", "requests"), [(8, [3, 3, 2]), (3, [3]), (4, [3, 1])])
async def test_more_questions_than_a_server_takes_are_asked_in_parts_where_that_is_allowed(
    questions: int, requests: list[int]
) -> None:
    sent: list[dict[str, Any]] = []
    asked = {f"q{number}": NOUL for number in range(questions)}

    result = await engine_over(answering(sent), limits=Limits(questions=3), split=True).score(asking(asked))

    assert [len(body["questions"]) for body in sent] == requests
    assert [key for body in sent for key in body["questions"]] == list(asked)
    assert [result.noul(key).noul for key in asked] == [0.9] * questions
    assert result.usage == Usage(input_tokens=10 * len(requests), output_tokens=len(requests))


async def test_candidates_of_one_question_may_come_from_several_requests() -> None:
    sent: list[dict[str, Any]] = []
    asked = {"r": RelevanceQuestion("?", ["a", "b", "c", "d"])}

    result = await engine_over(answering(sent), limits=Limits(questions=3), split=True).score(asking(asked))

    assert dict(result.relevance("r").probabilities) == {"a": 0.9, "b": 0.9, "c": 0.9, "d": 0.9}


async def test_one_part_that_fails_fails_the_call_and_what_was_spent_is_told() -> None:
    sent: list[dict[str, Any]] = []
    asked = {f"q{number}": NOUL for number in range(8)}
    log = AttemptLog()

    with pytest.raises(EngineError):
        await engine_over(answering(sent, fail_at=2), limits=Limits(questions=3), split=True).score_traced(
            asking(asked), log
        )

    assert len(sent) == 2
    assert log.report().attempts[0].usage == Usage(input_tokens=20, output_tokens=2)


async def test_a_split_request_is_of_unknown_cost_when_one_part_is() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        answers = {key: {"type": "noul", "noul": 0.9} for key in json.loads(request.content)["questions"]}
        usage = {"input_tokens": 1, "output_tokens": 1} if "q0" in answers else None
        return httpx2.Response(
            200, json={"model": "m", "answers": answers, "usage": usage, "calibrated": "q0" in answers}
        )

    asked = {f"q{number}": NOUL for number in range(2)}
    result: ScoreResult = await engine_over(answer, limits=Limits(questions=1), split=True).score(asking(asked))

    assert result.usage is None
    assert not result.noul("q0").calibrated


def test_the_limits_of_a_dialect_and_of_an_engine_hold_together() -> None:
    both = Limits(questions=5, least_options=1, instructions=True).within(
        Limits(questions=9, least_options=2, levels=3)
    )

    assert both == Limits(questions=5, least_options=2, levels=3, instructions=True)


async def test_a_dialect_brings_its_own_limits() -> None:
    with pytest.raises(InvalidRequestError, match="at least 2"):
        await engine_over(answering([]), dialect="chalk").score(asking({"a": ChoiceQuestion("?", ["only"])}))


@pytest.mark.parametrize("limit", [0, -1, 1.5, True])
def test_a_limit_that_is_no_whole_number_is_refused(limit: Any) -> None:
    with pytest.raises(SetupError, match="questions"):
        Limits(questions=limit)


async def test_members_of_the_callers_replace_ours_and_the_body_can_be_changed_last() -> None:
    sent: list[dict[str, Any]] = []
    engine = engine_over(
        answering(sent),
        model="m",
        request_params={"model": "theirs", "keep_alive": "5m"},
        body_transform=lambda body: {**body, "seen": sorted(body)},
    )

    await engine.score(asking())

    assert sent[0]["model"] == "theirs"
    assert sent[0]["keep_alive"] == "5m"
    assert sent[0]["seen"] == ["keep_alive", "model", "questions", "state"]


async def test_a_transform_that_returns_nothing_keeps_the_body() -> None:
    sent: list[dict[str, Any]] = []

    await engine_over(answering(sent), body_transform=lambda body: None).score(asking())

    assert set(sent[0]) == {"state", "questions"}


async def test_a_transform_that_fails_is_misconfigured_and_not_quoted() -> None:
    def fail(body: dict[str, Any]) -> None:
        raise RuntimeError(f"sentinel {body}")

    with pytest.raises(MisconfiguredError, match=r"body_transform failed \(RuntimeError\)") as caught:
        await engine_over(answering([]), body_transform=fail).score(asking())

    assert caught.value.__context__ is None


@pytest.mark.parametrize("params", [{"x": float("nan")}, {"x": object()}, {"x": "\ud800"}])
async def test_a_body_that_is_no_json_is_not_sent(params: dict[str, Any]) -> None:
    sent: list[dict[str, Any]] = []

    with pytest.raises(InvalidRequestError, match="cannot be sent as JSON") as caught:
        await engine_over(answering(sent), request_params=params).score(asking())

    assert sent == []
    assert caught.value.__context__ is None

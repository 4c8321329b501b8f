"""Typed questions answered by a chat model: the shapes that count as an answer of each kind, and what it is told."""

import json
from typing import Any

import pytest

from decide.answers import Usage
from decide.attempt_log import AttemptLog
from decide.engines.chat import ChatReply, Inference
from decide.engines.llm import LLMEngine
from decide.errors import InvalidAnswerError, InvalidRequestError
from decide.policies import NARROWING
from decide.questions import ChoiceQuestion, NoulQuestion, Question, RelevanceQuestion, ScoreQuestion, ScoreRequest
from decide.results import validate_score_result
from tests.engines.llm.models import NOUL, TEAM, Saying, answers, asking

SCORE: dict[str, Question] = {"s": ScoreQuestion("Urgent?", ["low", "mid", "high"])}
TOPICS: dict[str, Question] = {"t": RelevanceQuestion("About?", {"money": "bills", "food": None})}
ALL: dict[str, Question] = {
    "sentinel-sad": NoulQuestion("Sad?", true="cries", false=""),
    "sentinel-team": ChoiceQuestion("Team?", {"b": "bills", "a": None}, none_id="a"),
    "sentinel-urgent": ScoreQuestion("Urgent?", ["low", "high"]),
    "sentinel-topics": RelevanceQuestion("About?", {"x": "ex", "y": None}),
}
ANSWERED = {
    "answers": {
        "q0": {"noul": 0.9},
        "q1": {"probabilities": {"a": 0.25, "b": 0.75}},
        "q2": {"probabilities": {"0": 0.25, "1": 0.75}},
        "q3": {"probabilities": {"x": 1, "y": 0.5}},
    }
}


async def asked(**options: Any) -> Inference:
    model = Saying(json.dumps(ANSWERED))
    await LLMEngine(model, **options).score(asking(ALL))
    return model.asked[0]


async def test_all_four_kinds_are_answered_in_one_inference() -> None:
    usage = Usage(input_tokens=7, output_tokens=3)
    model = Saying(ChatReply(text=json.dumps(ANSWERED), usage=usage, model="m-1-2026"))
    request = asking(ALL)
    result = await LLMEngine(model).score(request)

    assert (len(model.asked), result.engine, result.model, result.usage) == (1, "llm-decider", "m-1-2026", usage)
    assert list(result.answers) == list(ALL)
    assert result.noul("sentinel-sad").noul == 0.9
    assert result.choice("sentinel-team").choice == "b"
    assert result.score("sentinel-urgent").score == 0.75
    assert dict(result.relevance("sentinel-topics").probabilities) == {"x": 1.0, "y": 0.5}
    assert not any(answer.calibrated for answer in result.answers.values())
    assert validate_score_result(request, result) == ()


async def test_the_keys_of_questions_never_reach_the_model() -> None:
    inference = await asked()

    assert "sentinel" not in f"{inference.system}{inference.message}{inference.schema}"
    assert list(json.loads(inference.system.split("QUESTIONS:\n")[1].split("\n\n")[0])) == ["q0", "q1", "q2", "q3"]


async def test_the_keys_of_questions_are_shown_to_those_who_want_it() -> None:
    model = Saying('{"answers": {"n": true}}')
    result = await LLMEngine(model, opaque_keys=False).score(asking(NOUL))

    assert result.noul("n").noul == 1.0
    assert '"n": {"type": "noul"' in model.asked[0].system


async def test_questions_are_told_with_all_they_mean() -> None:
    told = json.loads((await asked()).system.split("QUESTIONS:\n")[1].split("\n\n")[0])

    assert told == {
        "q0": {"type": "noul", "instructions": "Sad?", "yes": "cries", "no": ""},
        "q1": {"type": "choice", "instructions": "Team?", "options": {"b": "bills", "a": ""}},
        "q2": {"type": "score", "instructions": "Urgent?", "levels": {"0": "low", "1": "high"}},
        "q3": {"type": "relevance", "instructions": "About?", "options": {"x": "ex", "y": ""}},
    }


async def test_the_schema_allows_the_answers_and_nothing_else() -> None:
    schema: Any = (await asked()).schema
    entries = schema["properties"]["answers"]

    assert (schema["required"], schema["additionalProperties"]) == (["answers"], False)
    assert (entries["required"], entries["additionalProperties"]) == (["q0", "q1", "q2", "q3"], False)
    assert entries["properties"]["q0"]["properties"] == {"noul": {"type": "number", "minimum": 0, "maximum": 1}}
    assert entries["properties"]["q1"]["properties"]["probabilities"]["required"] == ["b", "a"]
    assert entries["properties"]["q2"]["properties"]["probabilities"]["required"] == ["0", "1"]
    assert entries["properties"]["q3"]["properties"]["probabilities"]["required"] == ["x", "y"]


@pytest.mark.parametrize(
    ("state", "context", "told"),
    [
        ("text", {}, "text"),
        ({"b": 1, "a": [True, None]}, {}, {"b": 1, "a": [True, None]}),
        ("text", {"plan": "pro"}, {"text": "text", "context": {"plan": "pro"}}),
    ],
)
async def test_the_state_is_told_as_json_in_the_order_of_the_caller(state: Any, context: Any, told: Any) -> None:
    model = Saying('{"answers": {"q0": 0.5}}')
    await LLMEngine(model).score(ScoreRequest(text=state, questions=NOUL, context=context))

    assert model.asked[0].message == f"STATE:\n{json.dumps(told)}"


async def test_a_request_that_nobody_can_answer_reaches_no_model() -> None:
    model = Saying("")

    for request in (asking({}), asking(NOUL, text="\ud800"), asking(NOUL, text={"x": object()})):
        with pytest.raises(InvalidRequestError):
            await LLMEngine(model).score(request)
    assert not model.asked


@pytest.mark.parametrize(
    ("entry", "noul"),
    [
        (0.25, 0.25),
        (1, 1.0),
        (True, 1.0),
        (False, 0.0),
        ({"noul": 0.25}, 0.25),
        ({"type": "noul", "noul": 0.25, "verdict": "ignored"}, 0.25),
        ({"verdict": False}, 0.0),
        ({"probabilities": {"Yes": 0.6, "NO": 0.2}}, 0.6 / 0.8),
        ({"probabilities": {" entailed ": 0.3, "neutral": 0.3}}, 0.5),
        ({"probabilities": {"true": 0.7}}, 0.7),
        ({"type": "choice", "choice": " Supported"}, 1.0),
        ({"choice": "contradiction", "probabilities": {"no": 0.9}}, 0.0),
        ({"choice": "0"}, 0.0),
    ],
    ids=str,
)
async def test_what_counts_as_an_answer_to_yes_or_no(entry: Any, noul: float) -> None:
    assert (await answers({"n": entry}, NOUL))["n"].noul == noul


@pytest.mark.parametrize(
    "entry",
    [
        -0.1,
        1.1,
        10**400,
        "yes",
        "0.7",
        None,
        [],
        {},
        {"noul": True},
        {"noul": "0.7"},
        {"noul": None},
        {"verdict": 1},
        {"verdict": "true"},
        {"choice": "maybe"},
        {"choice": True},
        {"probabilities": {"maybe": 0.5, "yes": 0.5}},
        {"probabilities": {"maybe": 0.5, "yes": 0.5}, "choice": "yes"},
        {"probabilities": {"yes": 1.5, "no": 0.1}},
        {"probabilities": {"yes": "0.5", "no": 0.5}},
        {"probabilities": {"no": 0.3}},
        {"probabilities": {"yes": 0, "no": 0}},
        {"probabilities": [0.5]},
    ],
    ids=str,
)
async def test_what_does_not_count_as_an_answer_to_yes_or_no(entry: Any) -> None:
    with pytest.raises(InvalidAnswerError):
        await answers({"n": entry}, NOUL)


async def test_probabilities_of_a_choice_are_brought_to_a_sum_of_one() -> None:
    answer = (await answers({"team": {"probabilities": {"refund": 0.2, "other": 0.9, "billing": 0.6}}}, TEAM))["team"]

    assert answer.probabilities.pairs == (("billing", 0.6 / 0.8), ("refund", 0.2 / 0.8))
    assert (answer.choice, answer.confidence) == ("billing", 0.5)


async def test_an_option_without_a_number_has_none() -> None:
    answer = (await answers({"team": {"probabilities": {"billing": 1}}}, TEAM))["team"]

    assert dict(answer.probabilities) == {"billing": 1.0, "refund": 0.0}


async def test_a_pick_alone_stands_on_the_confidence_it_reports() -> None:
    answer = (await answers({"team": {"choice": "refund", "confidence": 0.8, "probabilities": {}}}, TEAM))["team"]

    assert (answer.choice, answer.confidence, answer.reported_confidence) == ("refund", 0.8, 0.8)
    assert not answer.has_distribution


async def test_a_pick_among_equals_is_the_one_that_was_named() -> None:
    entry = {"choice": "refund", "probabilities": {"billing": 0.5, "refund": 0.5}, "confidence": 0.9}
    answer = (await answers({"team": entry}, TEAM))["team"]

    assert (answer.choice, answer.confidence, answer.reported_confidence, answer.near_uniform) == (
        "refund",
        0,
        0.9,
        True,
    )


@pytest.mark.parametrize(
    "entry",
    [
        {},
        "billing",
        {"choice": "billing", "probabilities": {"billing": 0.2, "refund": 0.8}},
        {"choice": "other", "probabilities": {"billing": 0.9, "refund": 0.1}},
        {"probabilities": {"other": 1.0}},
        {"probabilities": {"billing": 0, "refund": 0}},
        {"probabilities": {"billing": "0.9"}},
        {"probabilities": [["billing", 0.9]]},
        {"type": "noul", "choice": "billing"},
        {"type": 1, "choice": "billing"},
        {"choice": "billing", "confidence": 1.5},
        {"choice": "billing", "confidence": "high"},
    ],
    ids=str,
)
async def test_what_does_not_count_as_a_choice(entry: Any) -> None:
    with pytest.raises(InvalidAnswerError):
        await answers({"team": entry}, TEAM)


@pytest.mark.parametrize(
    ("entry", "score", "confidence"),
    [
        ({"probabilities": {"0": 0, "1": 0.2, "2": 0.6}}, 1.75, 0.625),
        ({"score": 1.5}, 1.5, None),
        ({"score": 1.5, "confidence": 0.9, "legend": {}, "probabilities": {}}, 1.5, 0.9),
        ({"type": "score", "score": 2, "probabilities": {"2": 1.0}, "confidence": 0.1}, 2.0, 1.0),
    ],
    ids=str,
)
async def test_what_counts_as_a_score(entry: Any, score: float, confidence: float | None) -> None:
    answer = (await answers({"s": entry}, SCORE))["s"]

    assert answer.score == pytest.approx(score)
    assert answer.confidence == (None if confidence is None else pytest.approx(confidence))
    assert answer.levels == ("low", "mid", "high")


@pytest.mark.parametrize(
    "entry",
    [
        {},
        1.5,
        {"score": -0.1},
        {"score": 2.1},
        {"score": "1"},
        {"score": True},
        {"score": 2, "probabilities": {"0": 1.0}},
        {"score": 1, "probabilities": {"0": 0.1, "1": 0.1}},
        {"probabilities": {"0": 0, "1": 0, "2": 0}},
        {"probabilities": {"low": 1.0}},
    ],
    ids=str,
)
async def test_what_does_not_count_as_a_score(entry: Any) -> None:
    with pytest.raises(InvalidAnswerError):
        await answers({"s": entry}, SCORE)


async def test_candidates_that_a_model_leaves_out_do_not_hold() -> None:
    answer = (await answers({"t": {"probabilities": {"money": 0.9, "weather": 1}}}, TOPICS))["t"]

    assert dict(answer.probabilities) == {"money": 0.9, "food": 0.0}


@pytest.mark.parametrize("entry", [{}, {"probabilities": None}, {"money": 0.9}, ["money"]], ids=str)
async def test_what_does_not_count_as_relevance(entry: Any) -> None:
    with pytest.raises(InvalidAnswerError):
        await answers({"t": entry}, TOPICS)


async def test_one_answer_that_cannot_be_used_fails_them_all() -> None:
    for entries in ({"n": 0.5}, {"n": 0.5, "team": {"choice": "other"}}, {"n": 7, "team": {"choice": "billing"}}):
        with pytest.raises(InvalidAnswerError):
            await answers(entries, {**NOUL, **TEAM})


@pytest.mark.parametrize("text", ['{"answers": null}', '{"answers": {}}', '{"answers": 5}', '{"answers": [1]}', "{}"])
async def test_an_envelope_without_answers_is_invalid(text: str) -> None:
    with pytest.raises(InvalidAnswerError):
        await answers(text, NOUL)


async def test_answers_nobody_asked_for_are_ignored() -> None:
    assert list(await answers({"n": 0.5, "other": {"noul": 7}}, NOUL)) == ["n"]


async def test_the_list_of_the_reference_is_read_as_the_reference_reads_it() -> None:
    listed = [
        {"questionId": "team", "scores": [{"id": "billing", "probability": 0.6}, {"id": "refund", "probability": 0.2}]},
        {"questionId": "other", "scores": []},
        {"questionId": "team", "scores": [{"id": "refund", "probability": 1}]},
        {
            "questionId": "t",
            "scores": [
                {"id": "money", "probability": 1.5},
                {"id": "money", "probability": 0},
                {"id": "weather", "probability": 1},
            ],
        },
    ]
    found = await answers(json.dumps({"answers": listed}), {**TEAM, **TOPICS})

    assert found["team"].probabilities.pairs == (("billing", 0.6 / 0.8), ("refund", 0.2 / 0.8))
    assert found["team"].confidence is None
    assert dict(found["t"].probabilities) == {"money": 1.0, "food": 0.0}


@pytest.mark.parametrize(
    "listed",
    [
        [{"questionId": "team", "scores": [{"id": "billing", "probability": 0}]}],
        [{"questionId": "team"}],
        [{"questionId": "team", "scores": [{"id": "billing", "probability": "1"}]}],
        [{"questionId": "team", "scores": [{"id": "billing"}]}],
        [{"questionId": "other", "scores": []}],
        ["team"],
    ],
    ids=str,
)
async def test_a_list_that_does_not_answer_is_invalid(listed: Any) -> None:
    with pytest.raises(InvalidAnswerError):
        await answers(json.dumps({"answers": listed}), TEAM)


async def test_a_list_has_no_answers_to_yes_or_no() -> None:
    with pytest.raises(InvalidAnswerError):
        await answers('{"answers": [{"questionId": "n", "scores": []}]}', NOUL)


async def test_numbers_of_its_own_are_only_proposals() -> None:
    answer = (await answers({"team": {"probabilities": {"billing": 1.0}}}, TEAM))["team"]
    selection = NARROWING.evaluate(answer)

    assert (selection.actionable, selection.outcome, selection.proposals) == (False, "unscored", ("billing",))


async def test_a_result_is_recorded_as_one_attempt() -> None:
    log = AttemptLog()
    await LLMEngine(Saying('{"answers": {"q0": true}}'), name="mini").score_traced(asking(NOUL), log)

    (attempt,) = log.attempts()
    assert (attempt.provider, attempt.outcome, log.engine, log.model) == ("mini", "decided", "mini", "m-1")

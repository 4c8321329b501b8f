"""How single answers are read: what contradicts itself is none, what is declined is unknown, what is sent is kept."""

from decimal import Decimal
from typing import Any

import pytest

from decide.answers import ScoreResult, Usage
from decide.attempt_log import AttemptLog
from decide.attempts import Attempt
from decide.errors import InvalidAnswerError
from decide.policies import NARROWING
from decide.questions import ChoiceQuestion, NoulQuestion, Question, RelevanceQuestion, ScoreQuestion
from decide.results import validate_score_result
from tests.engines.wire import asking, engine_over, replying

CHOICE = ChoiceQuestion("?", {"a": None, "b": None, "c": None})
SCORE = ScoreQuestion("?", ["none", "low", "mid", "high", "top"])
YES = {"type": "noul", "noul": 0.9}
AWKWARD_IDS = [
    "__class__",
    "items",
    "get",
    "keys",
    "{0.__class__}",
    "%s",
    " ",
    "a.b",
    "a/b",
    "🦀",
    "\u00e9",
    "e\u0301",
    "אבג",
    "x" * 1000,
    "0",
    "true",
]


async def read(questions: dict[str, Question], answers: dict[str, Any], **more: Any) -> tuple[ScoreResult, Attempt]:
    log = AttemptLog()
    request = asking(questions)
    result = await engine_over(replying(200, {"model": "m-1", "answers": answers, **more})).score_traced(request, log)
    assert validate_score_result(request, result) == ()
    return result, log.report().attempts[0]


async def refuses(question: Question, answer: object) -> None:
    with pytest.raises(InvalidAnswerError, match="1 malformed") as caught:
        await read({"k": question}, {"k": answer})
    assert caught.value.detail == "1 malformed"


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "noul", "noul": -0.2},
        {"type": "noul", "noul": 1.5},
        {"type": "noul"},
        {"noul": 0.5},
        {"type": "choice", "choice": "a", "probabilities": {"a": 1}},
        {"type": "noul", "noul": 10**400},
        None,
        [],
        0.5,
    ],
)
async def test_a_number_or_shape_outside_the_contract_is_no_answer(answer: object) -> None:
    await refuses(NoulQuestion("?"), answer)


@pytest.mark.parametrize(
    "answer",
    [
        {"choice": "a", "probabilities": [["a", 0.5], ["b", 0.5]]},
        {"choice": "a", "probabilities": {"a": -0.2, "b": 1.2}},
        {"choice": "a", "probabilities": {"a": 0.3, "b": 0.5, "c": 0.2}},
        {"choice": "a", "probabilities": {"a": 0.4998, "b": 0.5002}},
        {"choice": "a", "probabilities": {"b": 1.0}},
        {"choice": "a", "probabilities": {"a": 0.9}},
        {"choice": "a", "probabilities": {"a": 1.0}, "confidence": "0.9"},
        {"choice": "a", "confidence": 1.0000001},
        {"choice": None, "probabilities": {"a": 1.0}},
        {"choice": ["a"], "probabilities": {"a": 1.0}},
        {"choice": "A", "probabilities": {"A": 1.0}},
    ],
)
async def test_a_choice_that_contradicts_itself_is_no_answer(answer: dict[str, Any]) -> None:
    await refuses(CHOICE, {"type": "choice", **answer})


@pytest.mark.parametrize(
    "answer",
    [
        {"score": 0.2, "probabilities": {"4": 0.98}},
        {"score": 5.3},
        {"score": -0.1},
        {"score": True},
        {"score": "2"},
        {"score": 2.0, "probabilities": {"02": 1.0}},
        {"score": 2.0, "probabilities": {"5": 1.0}},
        {"score": 2.0, "probabilities": {"2": 0.5}},
        {"score": 2.0, "legend": {"1": "none", "2": "low", "3": "mid", "4": "high", "5": "top"}},
        {"score": 2.0, "legend": {"0": "top", "1": "high", "2": "mid", "3": "low", "4": "none"}},
        {"score": 2.0, "legend": ["low", "none", "mid", "high", "top"]},
        {"score": 2.0, "legend": "none to top"},
    ],
)
async def test_a_score_that_contradicts_itself_is_no_answer(answer: dict[str, Any]) -> None:
    await refuses(SCORE, {"type": "score", **answer})


async def test_a_score_may_differ_from_its_rounded_distribution_by_what_rounding_loses() -> None:
    result, _ = await read(
        {"k": SCORE},
        {"k": {"type": "score", "score": 3.96, "probabilities": {"3": 0.04, "4": 0.96}, "legend": {"3": " high "}}},
    )

    assert result.score("k").score == 3.96
    assert result.score("k").probabilities == {3: 0.04, 4: 0.96}
    assert result.score("k").levels == SCORE.levels


@pytest.mark.parametrize("total", [(0.86, 0.04, 0.09), (0.5, 0.3, 0.21), (1.0, 0.0, 0.0)])
async def test_rounded_distributions_are_kept_as_they_were_sent(total: tuple[float, float, float]) -> None:
    sent = dict(zip("abc", total, strict=True))

    result, _ = await read({"k": CHOICE}, {"k": {"type": "choice", "choice": "a", "probabilities": sent}})

    assert dict(result.choice("k").probabilities) == sent


async def test_either_of_two_equal_options_may_be_the_choice() -> None:
    even = {"a": 0.5, "b": 0.5}

    result, _ = await read({"k": CHOICE}, {"k": {"type": "choice", "choice": "b", "probabilities": even}})

    assert result.choice("k").choice == "b"


async def test_without_probabilities_the_pick_stands_and_no_policy_acts_on_it() -> None:
    result, _ = await read({"k": CHOICE}, {"k": {"type": "choice", "choice": "b", "confidence": 0.8}})

    answer = result.choice("k")
    assert (answer.choice, answer.confidence, answer.has_distribution) == ("b", 0.8, False)
    assert NARROWING.evaluate(answer).detail == "uncertain: no_scores"


async def test_an_option_without_a_number_counts_as_zero_among_all_that_were_asked() -> None:
    result, _ = await read(
        {"k": CHOICE}, {"k": {"type": "choice", "choice": "a", "probabilities": {"a": 0.7, "b": 0.3}}}
    )

    assert result.choice("k").confidence == pytest.approx((3 * 0.7 - 1) / 2)


@pytest.mark.parametrize(
    "entry", [{"type": "refusal"}, {"type": "unsupported"}, {"type": "noul", "noul": 0.9, "abstain": True}]
)
async def test_a_declined_question_is_unknown_and_never_a_no(entry: dict[str, Any]) -> None:
    result, attempt = await read({"k": NoulQuestion("?"), "other": NoulQuestion("?")}, {"k": entry, "other": YES})

    assert result.noul("k").unknown
    assert result.noul("k").noul is None
    assert NARROWING.evaluate(result.noul("k")).detail == "unscored: no_answer"
    assert (attempt.outcome, attempt.malformed) == ("decided", 0)


async def test_a_reply_that_declines_everything_is_an_abstention() -> None:
    result, attempt = await read({"k": NoulQuestion("?"), "t": CHOICE}, {"k": {"type": "refusal"}})

    assert result.noul("k").unknown
    assert result.choice("t").unknown
    assert (attempt.outcome, attempt.detail) == ("abstained", "no_answer")


async def test_one_malformed_answer_spoils_itself_and_is_counted() -> None:
    result, attempt = await read({"k": NoulQuestion("?"), "t": CHOICE}, {"k": YES, "t": {"type": "choice"}})

    assert result.noul("k").noul == 0.9
    assert result.choice("t").unknown
    assert (attempt.outcome, attempt.malformed) == ("decided", 1)


async def test_a_malformed_answer_among_declined_ones_makes_a_bad_reply() -> None:
    with pytest.raises(InvalidAnswerError):
        await read({"k": NoulQuestion("?"), "t": CHOICE}, {"k": {"type": "refusal"}, "t": {"type": "choice"}})


async def test_relevance_leaves_out_the_candidates_that_were_declined() -> None:
    relevant = RelevanceQuestion("?", {"a": None, "b": "bees", "c": None})

    result, _ = await read(
        {"k": relevant}, {"k_1": YES, "k_2": {"type": "refusal"}, "k_3": {"type": "noul", "noul": 0.02}}
    )

    assert dict(result.relevance("k").probabilities) == {"a": 0.9, "c": 0.02}
    assert NARROWING.evaluate(result.relevance("k")).picks == ("a",)


async def test_relevance_of_which_nothing_is_known_is_unknown() -> None:
    result, _ = await read({"k": RelevanceQuestion("?", ["a"]), "n": NoulQuestion("?")}, {"n": YES})

    assert result.relevance("k").unknown


@pytest.mark.parametrize("none_id", ["", "c"])
async def test_the_option_for_none_of_these_is_carried_over(none_id: str) -> None:
    question = ChoiceQuestion("?", {"a": None, "c": None}, none_id=none_id)

    result, _ = await read({"k": question}, {"k": {"type": "choice", "choice": "c", "probabilities": {"c": 1.0}}})

    assert result.choice("k").none_id == none_id


@pytest.mark.parametrize("awkward", AWKWARD_IDS)
async def test_ids_are_data(awkward: str) -> None:
    choice = ChoiceQuestion("?", {awkward: None, "another": None})
    relevance = RelevanceQuestion("?", [awkward])

    result, _ = await read(
        {awkward: choice, "r": relevance},
        {awkward: {"type": "choice", "choice": awkward, "probabilities": {awkward: 0.9, "another": 0.1}}, "r_1": YES},
    )

    assert result.choice(awkward).choice == awkward
    assert list(result.relevance("r").probabilities) == [awkward]


@pytest.mark.parametrize(
    ("sent", "model", "odd"),
    [
        ("vendor/jev-1.13@2026", "vendor/jev-1.13@2026", 0),
        (None, "", 0),
        ("a b", "?", 1),
        ("x" * 201, "?", 1),
        (7, "?", 1),
        ("<script>", "?", 1),
    ],
)
async def test_a_model_id_that_may_not_stand_in_a_trace_is_a_question_mark(sent: object, model: str, odd: int) -> None:
    result, attempt = await read({"k": NoulQuestion("?")}, {"k": YES}, model=sent)

    assert result.model == model
    assert attempt.malformed == odd


@pytest.mark.parametrize(
    ("usage", "known"),
    [
        ({"input_tokens": 12.0, "output_tokens": 1}, Usage(input_tokens=12, output_tokens=1)),
        ({"input_tokens": 0, "output_tokens": 0, "cost": 0.5}, Usage(cost=Decimal("0.5"))),
        ({"input_tokens": 12.5, "output_tokens": 1}, None),
        ({"input_tokens": True, "output_tokens": 1}, None),
        ({"input_tokens": -1, "output_tokens": 1}, None),
        ({"input_tokens": 10**4000, "output_tokens": 1}, None),
        ({"input_tokens": 1e300, "output_tokens": 1}, None),
        ({"input_tokens": 1, "output_tokens": 1, "cost": 1e300}, Usage(input_tokens=1, output_tokens=1)),
        ({"input_tokens": 12, "output_tokens": None}, None),
        (7, None),
    ],
)
async def test_usage_counts_are_whole_numbers(usage: object, known: Usage | None) -> None:
    result, attempt = await read({"k": NoulQuestion("?")}, {"k": YES}, usage=usage)

    assert result.usage == known
    assert attempt.usage == known


@pytest.mark.parametrize(
    ("said", "calibrated"),
    [({}, True), ({"calibrated": None}, True), ({"calibrated": 0}, True), ({"calibrated": False}, False)],
)
async def test_only_a_literal_false_takes_the_claim_of_calibration_back(said: dict[str, Any], calibrated: bool) -> None:
    result, _ = await read({"k": NoulQuestion("?")}, {"k": YES}, **said)

    assert result.noul("k").calibrated is calibrated


async def test_a_model_known_to_report_only_on_itself_is_not_calibrated_whatever_serves_it() -> None:
    result, _ = await read({"k": NoulQuestion("?")}, {"k": YES}, model="sparrow-nano-general-v1.1")

    assert not result.noul("k").calibrated


async def test_an_engine_can_be_told_that_its_server_is_not_calibrated() -> None:
    engine = engine_over(replying(200, {"answers": {"n": YES}}), calibrated=False)

    assert not (await engine.score(asking())).noul("n").calibrated

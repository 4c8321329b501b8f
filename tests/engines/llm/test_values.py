"""Numbers, keys and labels that a model gets wrong: cases B052 to B057. Nothing is clamped, repaired or mapped."""

import json
from typing import Any

import attrs
import pytest

from decide.attempt_log import AttemptLog
from decide.chain import Chain
from decide.engines.chat import ChatReply
from decide.engines.llm import LLMEngine
from decide.errors import InvalidAnswerError
from decide.outcomes import Outcome
from decide.policies import NARROWING
from decide.questions import ChoiceQuestion, RelevanceQuestion, ScoreQuestion
from decide.wire import to_json
from tests.engines.llm.models import DECIDED, NOUL, SAID, TEAM, Saying, answers, attempt_of, decided, request

EAGER = attrs.evolve(NARROWING, name="eager", accept_uncalibrated_at=0.7)


def saying_confidence(number: str) -> str:
    return DECIDED.replace("0.9", number)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
async def test_b052_what_is_no_finite_number_makes_a_reply_invalid(number: str) -> None:
    attempt, failed = await attempt_of(LLMEngine(Saying(saying_confidence(number))))

    assert isinstance(failed, InvalidAnswerError)
    assert (attempt.outcome, attempt.detail) == ("invalid", "$[0][1]: a number that is not finite")
    json.dumps(to_json(attempt), allow_nan=False)
    with pytest.raises(InvalidAnswerError):
        await answers(f'{{"answers": {{"n": {{"noul": {number}}}}}}}', NOUL)
    with pytest.raises(InvalidAnswerError):
        await decided(ChatReply(structured=saying_confidence(number)))


@pytest.mark.parametrize(("number", "value"), [("-0.0", 0.0), ("5e-324", 5e-324)])
async def test_b052_the_smallest_numbers_are_numbers(number: str, value: float) -> None:
    assert (await decided(saying_confidence(number))).module.confidence == value
    assert (await answers(f'{{"answers": {{"n": {number}}}}}', NOUL))["n"].noul == value


@pytest.mark.parametrize(
    "text",
    [
        DECIDED.replace('"interaction":', '"module": {"value": "billing", "confidence": 0.99}, "interaction":'),
        DECIDED.replace('"value": "cancel",', '"value": "cancel", "value": "keep",'),
        DECIDED.replace("0.9", '0.2, "confidence": 0.9'),
    ],
)
async def test_b053_a_key_that_stands_twice_makes_a_reply_invalid(text: str) -> None:
    attempt, failed = await attempt_of(LLMEngine(Saying(text)))

    assert isinstance(failed, InvalidAnswerError)
    assert attempt.outcome == "invalid"
    assert "a key stands twice in this object" in attempt.detail
    assert "cancel" not in attempt.detail


@pytest.mark.parametrize(
    "text",
    [
        '{"answers": {"team": {"choice": "billing"}, "team": {"choice": "refund"}}}',
        '{"answers": {"team": {"choice": "billing"}, " team ": {"choice": "refund"}}}',
        '{"answers": {"team": {"probabilities": {"billing": 0.9, "refund": 0.1, "billing": 0.0}}}}',
        '{"answers": {"team": {"probabilities": {"billing": 0.9, "refund": 0.1, " billing": 0.0}}}}',
    ],
)
async def test_b053_an_option_or_a_question_that_stands_twice_makes_a_reply_invalid(text: str) -> None:
    with pytest.raises(InvalidAnswerError, match="twice"):
        await answers(text, TEAM)


@pytest.mark.parametrize("number", ["95", "1.10", "1.0000001", "-0.3"])
async def test_b054_a_confidence_out_of_range_is_never_acted_on(number: str) -> None:
    engine = LLMEngine(Saying(saying_confidence(number)))
    verdict = await Chain([engine], policy=EAGER).decide(request())

    assert (await decided(saying_confidence(number))).module.confidence == float(number)
    assert verdict.trace.attempts[0].outcome == "invalid"
    judged, _ = EAGER.judge(await decided(saying_confidence(number)))
    assert judged.outcome == Outcome.INVALID


@pytest.mark.parametrize("number", ['"95%"', '"high"', '"0.9"', "true", "[0.9]"])
async def test_b054_a_confidence_that_is_no_number_makes_a_reply_invalid(number: str) -> None:
    with pytest.raises(InvalidAnswerError, match="expected a number"):
        await decided(saying_confidence(number))


@pytest.mark.parametrize("number", [95, 1.10, 1.0000001, -0.3, "95%", "0.7", True, None, [0.7]])
async def test_b054_no_probability_of_an_answer_is_clamped_or_divided(number: Any) -> None:
    for question, entry in (
        (NOUL["n"], {"noul": number}),
        (TEAM["team"], {"probabilities": {"billing": number, "refund": 0.1}}),
        (TEAM["team"], {"choice": "billing", "confidence": number} if number is not None else {}),
        (RelevanceQuestion("?", ["a", "b"]), {"probabilities": {"a": number, "b": 0.1}}),
        (ScoreQuestion("?", ["low", "high"]), {"probabilities": {"0": number, "1": 0.1}}),
    ):
        with pytest.raises(InvalidAnswerError):
            await answers({"k": entry}, {"k": question})


@pytest.mark.parametrize(
    "label",
    ["Billing", "billings", "BILLING/refund", "payments", "", None, "b\u0456lling", "bill\u00ading", 0, ["billing"]],
)
async def test_b056_a_near_miss_is_a_miss(label: Any) -> None:
    with pytest.raises(InvalidAnswerError):
        await answers({"team": {"choice": label}}, TEAM)
    with pytest.raises(InvalidAnswerError):
        await answers({"team": {"probabilities": {str(label): 0.9}}}, TEAM)


@pytest.mark.parametrize("label", ["billing", " billing ", "\tbilling\n"])
async def test_b056_blanks_around_a_label_are_no_part_of_it(label: str) -> None:
    assert (await answers({"team": {"choice": label}}, TEAM))["team"].choice == "billing"
    assert (await decided(DECIDED.replace('"orders"', json.dumps(label)))).module.value == "billing"


@pytest.mark.parametrize("label", ["Orders", "order", "orders/cancel", "", "\u043erders"])
async def test_b056_an_unknown_module_is_invalid_in_a_chain(label: str) -> None:
    engine = LLMEngine(Saying(DECIDED.replace('"orders"', json.dumps(label))))
    verdict = await Chain([engine]).decide(request())

    (attempt,) = verdict.trace.attempts
    assert attempt.outcome == "invalid"
    assert label not in attempt.detail or not label


async def test_b056_no_label_at_all_is_invalid() -> None:
    with pytest.raises(InvalidAnswerError, match="expected a string, got null"):
        await decided(json.dumps({**SAID, "module": {"value": None, "confidence": 1}}))


@pytest.mark.parametrize("label", ["unknown", "none", "n/a", "null", "cancel", "error"])
async def test_b057_words_of_refusal_may_be_options(label: str) -> None:
    options = ["unknown", "none", "n/a", "null", "cancel", "error"]
    question = ChoiceQuestion("Which?", options, none_id="none")
    spread = dict.fromkeys(options, 0.0)

    for entry in ({"choice": label}, {"probabilities": {**spread, label: 1.0}}):
        answer = (await answers({"k": entry}, {"k": question}))["k"]
        assert (answer.choice, answer.none_id) == (label, "none")


async def test_b057_null_is_not_the_option_of_that_name() -> None:
    with pytest.raises(InvalidAnswerError):
        await answers({"k": {"choice": None}}, {"k": ChoiceQuestion("?", ["null", "none"])})


async def test_a_message_about_a_bad_reply_names_places_and_quotes_nothing() -> None:
    secret = "sentinel-7731"
    engine = LLMEngine(Saying(json.dumps({**SAID, "slots": [{"name": secret, "value": {secret: secret}}]})))
    log = AttemptLog()

    with pytest.raises(InvalidAnswerError) as failed:
        await engine.decide_traced(request(), log)

    assert failed.value.detail == "$.slots[0].value: expected a string, got an object"
    assert secret not in f"{failed.value}{failed.value.__cause__}{failed.value.__context__}{log.report()}"

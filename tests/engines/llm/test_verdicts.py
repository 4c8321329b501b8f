"""Probabilities of yes out of the tokens that say true or false."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from decide.engines._llm_verdicts import yes_probability
from decide.engines.chat import ChatReply, Probability, Profile, Token
from decide.engines.llm import LLMEngine
from decide.policies import NARROWING
from decide.questions import ChoiceQuestion, NoulQuestion, Question
from tests.engines.llm.models import NOUL, Saying, asking

BY_TOKEN = Profile(probability=Probability.LOGPROBS)
SPLIT = [("false", math.log(0.7)), ("true", math.log(0.3))]
TEXT = '{"answers": {"q0": {"verdict": false}}}'


async def answered(text: str, tokens: Sequence[Token], questions: dict[str, Question] = NOUL) -> dict[str, Any]:
    model = Saying(ChatReply(text=text, tokens=tokens))
    return dict((await LLMEngine(model, profile=BY_TOKEN).score(asking(questions))).answers)


def spelled(text: str, verdict: Token) -> list[Token]:
    """
    Spell *text*, its one verdict as that token and all others letter by letter.
    """
    before, after = text.split(verdict.text.decode())
    return [*(Token(letter, -0.1) for letter in before), verdict, *(Token(letter, -0.1) for letter in after)]


async def test_the_token_of_the_verdict_tells_its_probability() -> None:
    answer = (await answered(TEXT, spelled(TEXT, Token("false", math.log(0.7), SPLIT))))["n"]

    assert answer.noul == pytest.approx(0.3)
    assert answer.calibrated


async def test_a_measured_verdict_can_be_acted_on() -> None:
    token = Token("false", math.log(0.99), [("false", math.log(0.99)), ("true", math.log(0.01))])
    selection = NARROWING.evaluate((await answered(TEXT, spelled(TEXT, token)))["n"])

    assert (selection.actionable, selection.picks) == (True, ("false",))


@pytest.mark.parametrize(
    "text",
    [
        '<think>{"answers": {"q0": {"verdict": true}}}</think>' + TEXT,
        'Sure, {"q0": true}: ```json\n' + TEXT + "\n```",
        "Überraschung 🎉 " + TEXT,
        '{"answers":{"q0":{"note":{"verdict":"x"},"verdict"\n:\tfalse}}}',
        '{"q0":{"type":"noul","verdict":false}}',
        '{"answers":{"q1":{"verdict":{"q0":"verdict"}},"q0":{"verdict":false}}}',
    ],
)
async def test_a_verdict_is_found_wherever_it_stands(text: str) -> None:
    if text.startswith("Sure"):
        text = text.replace('{"q0": true}', '{"q9": true}')
    tokens = spelled(text, Token("false", math.log(0.7), SPLIT))

    assert (await answered(text, tokens))["n"].noul == pytest.approx(0.3)


@pytest.mark.parametrize("token", ['": false', ": false}", "false}}}", " false}}", "fal", "f"])
async def test_a_token_may_hold_more_or_less_than_the_verdict(token: str) -> None:
    sides = [(token, math.log(0.7)), (token.replace("fal", "tru").replace("se", "e"), math.log(0.3))]
    if token == "f":
        sides = [("f", math.log(0.7)), ("t", math.log(0.3))]
    tokens = spelled(TEXT, Token(token, math.log(0.7), sides))

    assert (await answered(TEXT, tokens))["n"].noul == pytest.approx(0.3)


async def test_tokens_around_the_text_are_passed_over() -> None:
    tokens = [Token("```json\n", -1), *spelled(TEXT, Token("false", -0.4, SPLIT)), Token("\n```", -1), Token("", -1)]

    assert (await answered(TEXT, tokens))["n"].noul == pytest.approx(0.3)


async def test_tokens_may_cut_a_character_in_two() -> None:
    text = '{"note": "é", "answers": {"q0": {"verdict": false}}}'
    before, after = text.encode().split(b"false")
    tokens = [*(Token(bytes([byte]), -0.1) for byte in before), Token("false", -0.4, SPLIT), Token(after, -0.1)]

    assert (await answered(text, tokens))["n"].noul == pytest.approx(0.3)


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        [Token("something else", -0.1)],
        spelled(TEXT, Token("false", -0.4, SPLIT))[:-1],
        spelled(TEXT, Token("false", -0.4, SPLIT)) * 2,
        spelled(TEXT, Token("false", -0.1, [("maybe", -0.1), ("", -0.2), (" ", -0.3)])),
        spelled(TEXT, Token("false", math.nan)),
        spelled(TEXT, Token("false", 800.0)),
        spelled(TEXT, Token("false", -math.inf)),
    ],
    ids=["none", "of another text", "cut", "twice", "about neither", "not a number", "impossible", "no mass"],
)
async def test_a_verdict_whose_token_does_not_tell_stands_on_the_models_word(tokens: list[Token]) -> None:
    answer = (await answered(TEXT, tokens))["n"]

    assert (answer.noul, answer.calibrated) == (0.0, False)


async def test_an_answer_that_is_no_verdict_stands_on_the_models_word() -> None:
    text = '{"answers": {"q0": {"noul": 0.4, "other": false}}}'
    answer = (await answered(text, spelled(text, Token("false", -0.4, SPLIT))))["n"]

    assert (answer.noul, answer.calibrated) == (0.4, False)


async def test_each_answer_is_calibrated_for_itself() -> None:
    text = '{"answers":{"q0":{"verdict":true},"q1":{"verdict":false},"q2":{"choice":"a"}}}'
    questions: dict[str, Question] = {
        "a": NoulQuestion("?"),
        "b": NoulQuestion("?"),
        "c": ChoiceQuestion("?", ["a", "b"]),
    }
    before, after = text.split("false")
    tokens = [Token(before, -0.1), Token("false", math.log(0.7), SPLIT), Token(after, -0.1)]
    found = await answered(text, tokens, questions)

    assert (found["a"].noul, found["a"].calibrated) == (1.0, False)
    assert (found["b"].noul, found["b"].calibrated) == (pytest.approx(0.3), True)
    assert not found["c"].calibrated


async def test_tokens_that_nobody_asked_for_are_not_looked_at() -> None:
    model = Saying(ChatReply(text=TEXT, tokens=spelled(TEXT, Token("false", -0.4, SPLIT))))

    assert (await LLMEngine(model).score(asking(NOUL))).noul("n").noul == 0.0


async def test_questions_are_put_for_a_bare_verdict() -> None:
    model = Saying(TEXT)
    await LLMEngine(model, profile=BY_TOKEN).score(asking(NOUL))
    schema: Any = model.asked[0].schema

    assert schema["properties"]["answers"]["properties"]["q0"]["properties"] == {"verdict": {"type": "boolean"}}
    assert '{"verdict":true}' in model.asked[0].system


@pytest.mark.parametrize(
    ("token", "probability"),
    [
        (Token("true", -0.3), 1.0),
        (Token(" FALSE", -0.3), 0.0),
        (Token("x", -0.1, [("true", math.log(0.5)), ("tru", math.log(0.1)), ("false", math.log(0.2))]), 0.75),
        (Token("x", -0.1, [("true", 1e-9), ("false", -1000.0)]), 1.0),
        (Token("x", -0.1, [("trust", -0.1), ("fa", math.log(0.25)), ("t", math.log(0.75))]), 0.75),
        (Token("x", -0.1), None),
    ],
    ids=["the token alone", "in capitals", "three sides", "beyond rounding", "letters", "about neither"],
)
def test_beginnings_and_endings_of_both_words_count(token: Token, probability: float | None) -> None:
    found = yes_probability(token)

    assert found == (None if probability is None else pytest.approx(probability))

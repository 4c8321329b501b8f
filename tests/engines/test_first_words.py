"""The beginning of a long state: shorter, and read the same."""

import importlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.engines._first_words import first_words
from decide.engines.local import LocalEngine
from decide.questions import NoulQuestion, ScoreRequest

MODEL = importlib.import_module("sparrow_decider").Decider.load()
LOCAL = LocalEngine(decision_timeout=None)
ROBOT = LocalEngine("nano-robot")
QUESTIONS = {"refund": {"type": "noul", "instructions": "Is the writer asking for money?"}}
LONG = "My card was charged twice, and nobody answers. " * 2_000


@given(st.text(st.sampled_from("aZ0 \t\n\r\x0b\x85\u2028\xa0.,'-_$+éΣσß\u0301字漢かไ٣½\ufffd\x00\u200d"), max_size=300))
def test_no_token_that_a_model_reads_is_left_out(text: str) -> None:
    tokens = MODEL.static.tok.encode

    assert tokens(first_words(text, 8).strip(), 8) == tokens(text.strip(), 8)


@pytest.mark.parametrize("state", [LONG, {"text": LONG, "context": {"plan": "annual"}}, "漢字" * 20_000])
def test_a_long_state_is_cut_and_answered_as_if_it_were_whole(state: object) -> None:
    beginning = first_words(state, 512)

    assert len(beginning) < 4_000
    assert MODEL.ask(beginning, QUESTIONS) == MODEL.ask(state, QUESTIONS)


@pytest.mark.parametrize("state", ["", "My card was charged twice"])
def test_a_short_state_is_left_as_it_is(state: str) -> None:
    assert first_words(state, 512) == state


async def test_a_state_of_megabytes_is_answered_in_time() -> None:
    request = ScoreRequest(text=LONG, questions={"refund": NoulQuestion("Is the writer asking for money?")})
    longer = ScoreRequest(text=LONG * 50, questions=request.questions)

    assert await LOCAL.score(longer) == await LOCAL.score(request)


async def test_a_model_that_looks_for_numbers_everywhere_gets_the_whole_state() -> None:
    question = {"low": NoulQuestion("Is the battery low?", true="battery low", false="battery full")}
    padding = "all is well, " * 600

    low = await ROBOT.score(ScoreRequest(text=f"{padding}\nbattery: 3%", questions=question))
    full = await ROBOT.score(ScoreRequest(text=f"{padding}\nbattery: 97%", questions=question))

    assert low.noul("low").noul != full.noul("low").noul

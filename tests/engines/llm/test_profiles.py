"""Profiles as data: what is refused at once, and what is asked of a model."""

from typing import Any

import pytest

from decide.engines._setup import SetupError
from decide.engines.chat import Probability, Profile, ResponseFormat
from decide.engines.llm import LLMEngine
from tests.engines.llm.models import NOUL, Saying, asking


@pytest.mark.parametrize(
    "wrong",
    [
        {"probability": "vibes"},
        {"response_format": "yaml"},
        {"response_format": None},
        {"max_tokens": 0},
        {"max_tokens": 1.5},
        {"top_logprobs": 0},
        {"temperature": -1},
        {"temperature": float("nan")},
        {"temperature": 3},
        {"request_params": {"seed": float("inf")}},
        {"request_params": {1: 2}},
        {"request_params": ["seed"]},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_at_construction(wrong: dict[str, Any]) -> None:
    with pytest.raises(SetupError):
        Profile(**wrong)


def test_words_are_as_good_as_members() -> None:
    assert Profile(response_format="none", probability="logprobs") == Profile(
        response_format=ResponseFormat.NONE, probability=Probability.LOGPROBS
    )


def test_what_is_merged_in_last_is_a_copy() -> None:
    given: dict[str, Any] = {"reasoning": {"effort": "none"}}
    profile = Profile(request_params=given)
    given["reasoning"]["effort"] = "high"

    assert profile.request_params == {"reasoning": {"effort": "none"}}


@pytest.mark.parametrize("profile", [Profile(), Profile(response_format=ResponseFormat.NONE), None])
async def test_the_model_is_told_how_it_is_asked(profile: Profile | None) -> None:
    model = Saying('{"answers": {"q0": true}}')
    await LLMEngine(model, profile=profile).score(asking(NOUL))

    assert model.asked[0].profile == profile

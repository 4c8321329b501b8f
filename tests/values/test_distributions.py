"""Formulas on probabilities: confidence, expected score, rounding tolerance, near uniformity."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from decide import near_uniform
from decide.distributions import (
    Distribution,
    choice_confidence,
    expected_score,
    is_probability,
    rounding,
    score_confidence,
    score_tolerance,
    sums_to_one,
)
from tests import strategies

CASES = json.loads((Path(__file__).parent / "confidence_vectors.json").read_text(encoding="utf-8"))["cases"]
EVEN = {f"o{number}": 1 / 255 for number in range(255)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_confidence_and_score_follow_the_published_formulas(case: dict[str, Any]) -> None:
    values = case["p"]
    levels = dict(enumerate(values))
    assert choice_confidence(values, len(values)) == pytest.approx(max(0.0, case["typesafe_choice"]), abs=1e-6)
    assert score_confidence(levels, len(values)) == pytest.approx(case["typesafe_score"], abs=1e-6)
    assert expected_score(levels) == pytest.approx(case["expected_score"], abs=1e-6)
    assert near_uniform({str(level): value for level, value in levels.items()}) is case["near_uniform"]


def test_an_option_without_a_number_counts_as_0() -> None:
    assert choice_confidence([0.5], 4) == choice_confidence([0.5, 0.0, 0.0, 0.0], 4)
    assert score_confidence({2: 1.0}, 5) == 1.0
    assert choice_confidence([], 3) == 0.0


def test_a_confidence_is_clamped_at_0_and_rounded_to_12_decimals() -> None:
    assert choice_confidence([0.33, 0.33, 0.33], 3) == 0.0
    assert score_confidence({0: 0.5, 4: 0.5}, 5) == 0.0
    assert choice_confidence([2 / 3, 1 / 3], 2) == 0.333333333333


@pytest.mark.parametrize(
    ("values", "fine"),
    [
        ([1.0], True),
        ([0.7, 0.35], True),  # 1.05 in floats is 0.04999999999999982 over
        ([0.7, 0.25], False),  # 0.95 in floats is 0.05000000000000004 under
        ([0.5, 0.44], False),
        ([0.5, 0.57], False),
        ([0.33, 0.33, 0.33], True),
        ([0.2], False),
        ([0.0, 0.0], False),
        ([0.01] * 91 + [0.0] * 9, True),  # a hundred numbers of two decimals lose up to 0.099
        ([0.01] * 90 + [0.0] * 10, False),  # a tenth lost is not acted on
        ([0.05] * 18 + [0.0] * 2, False),  # twenty: 0.1, and 0.1 is a tenth
        ([0.05] * 18 + [0.01] + [0.0], True),
        ([0.0039] * 255, True),
        ([0.0001] * 9400, True),
        ([math.nan, 0.5], True),
        ([math.inf, 0.5], False),
        ([math.inf, -math.inf], True),
        ([10**400], False),
    ],
)
def test_a_distribution_sums_to_one_give_or_take_what_rounding_loses(values: list[float], fine: bool) -> None:
    assert sums_to_one(values) is fine


@given(st.lists(st.integers(min_value=0, max_value=1000), min_size=1, max_size=255), st.integers(2, 4))
def test_a_rounded_distribution_is_always_accepted(weights: list[int], decimals: int) -> None:
    assume(sum(weights))
    values = [round(weight / sum(weights), decimals) for weight in weights]
    assume(abs(sum(values) - 1) <= 0.0989)
    assert sums_to_one(values) is (abs(_plain_sum(values) - 1) <= max(0.05, min(len(values) * rounding(values), 0.099)))


def _plain_sum(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


@pytest.mark.parametrize(
    ("values", "half"),
    [([0.5], 0.05), ([0.5, 0.25], 0.005), ([1.0, 0.0], 0.05), ([1e-7], 0.5e-7), ([], 0.05), ([math.nan, 0.1], 0.05)],
)
def test_rounding_is_half_of_the_last_decimal_that_any_number_shows(values: list[float], half: float) -> None:
    assert rounding(values) == pytest.approx(half, rel=1e-12)


def test_a_score_may_be_off_its_rounded_distribution_by_what_rounding_adds_up_to() -> None:
    assert score_tolerance({0: 0.25, 1: 0.75}, 2) == pytest.approx(0.02 + 0.005 * 2)
    assert score_tolerance({0: 0.5, 9: 0.5}, 10) == pytest.approx(0.02 + 0.05 * 46)


@pytest.mark.parametrize(
    ("probabilities", "flat"),
    [
        ({}, False),
        ({"a": 0.02}, True),
        ({"a": 0.5, "b": 0.5}, True),
        ({"a": 0.55, "b": 0.45}, False),  # 0.05000000000000004 from the middle
        ({"a": 0.3, "b": 0.25, "c": 0.25, "d": 0.2}, True),
        (EVEN, True),
        ({**EVEN, "o0": 0.05}, True),
        ({**EVEN, "o0": 0.06}, False),
        ({"a": math.nan, "b": 0.5}, False),
        ({"a": 0.5, "b": math.nan}, False),
    ],
)
def test_near_uniform_looks_at_the_values_as_they_came(probabilities: dict[str, float], flat: bool) -> None:
    assert near_uniform(probabilities) is flat


@pytest.mark.parametrize("value", [True, False, None, "0.5", -0.001, 1.001, math.nan, math.inf, 10**400])
def test_what_is_not_a_number_from_0_to_1_is_no_probability(value: object) -> None:
    assert not is_probability(value)


@given(strategies.distributions)
def test_a_distribution_keeps_order_and_twins_and_ranks_by_value_then_id(distribution: Distribution) -> None:
    assert Distribution(distribution).pairs == distribution.pairs
    ranked = distribution.ranked()
    assert ranked == sorted(distribution.pairs, key=lambda pair: (-pair[1], pair[0]))


@given(st.lists(strategies.probabilities, min_size=2, max_size=10))
def test_a_confidence_of_a_proper_distribution_is_a_probability(values: list[float]) -> None:
    assume(sum(values) > 0)
    shares = [value / sum(values) for value in values]
    assert is_probability(choice_confidence(shares, len(shares)))
    assert is_probability(score_confidence(dict(enumerate(shares)), len(shares)))

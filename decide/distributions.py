"""
Every formula on probabilities, once.

Sources: the System One confidence formulas as TypeSafe publishes them, the rounding tolerance that conformance tests of
that wire use, and the toolnexus
test for a distribution that says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, cast

GAP_EPSILON: Final = 1e-9
"""Slack of a gap test, so that 0.70 does lead 0.50 by 0.20."""

NEAR_UNIFORM_TOLERANCE: Final = 0.05
"""How far a probability may be from 1/n, inclusive, and still say nothing."""

LOST_MASS: Final = 0.099
"""The most a sum may be off, however many numbers were rounded: a tenth lost is not acted on."""

_LEAST_TOLERANCE = 0.05
_LEAST_DECIMALS = 1
_DECIMALS_OF_CONFIDENCE = 12


class Distribution(Mapping[str, float]):
    """
    Probabilities by id, in the order in which they were given.

    Built from a mapping or from pairs. Pairs keep what a mapping would lose: an id that was answered twice, which makes
    an answer invalid.
    """

    __slots__ = ("_by_id", "pairs")

    def __init__(self, probabilities: Mapping[str, float] | Iterable[tuple[str, float]] = ()) -> None:
        known = probabilities.items() if type(probabilities) is dict else _pairs(probabilities)
        self.pairs: tuple[tuple[str, float], ...] = tuple(known)
        self._by_id = dict(self.pairs)

    def __getitem__(self, option: str) -> float:
        return self._by_id[option]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def __repr__(self) -> str:
        return f"Distribution({list(self.pairs)!r})"

    def __reduce__(self) -> tuple[type[Distribution], tuple[tuple[tuple[str, float], ...]]]:
        return Distribution, (self.pairs,)

    def ranked(self) -> list[tuple[str, float]]:
        """
        Return the pairs, the most probable first, ties by id.
        """
        return sorted(self.pairs, key=lambda pair: (-pair[1], pair[0]))


def _pairs(probabilities: Mapping[str, float] | Iterable[tuple[str, float]]) -> Iterable[tuple[str, float]]:
    if isinstance(probabilities, Distribution):
        return probabilities.pairs
    if isinstance(probabilities, Mapping):
        return cast("Mapping[str, float]", probabilities).items()
    return ((option, value) for option, value in probabilities)


def is_number(value: object) -> bool:
    """
    Say whether *value* is a real number. Booleans and numeric strings are not.
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_probability(value: object) -> bool:
    """
    Say whether *value* is a number from 0 to 1, ends included.
    """
    if type(value) is float:
        return 0.0 <= value <= 1.0
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0


def sums_to_one(values: Sequence[float]) -> bool:
    """
    Say whether *values* are a distribution, give or take what rounding each of them can lose.

    The tolerance is `max(0.05, min(n * r, 0.099))`: n numbers, r half of the last decimal of the number that shows most
    of them. The sum is a plain one, from left to right, as every other implementation takes it. One that is NaN passes
    here, because each NaN is a problem of its own.
    """
    tolerance = max(_LEAST_TOLERANCE, min(len(values) * rounding(values), LOST_MASS))
    total = 0.0
    try:
        for value in values:
            total += value
    except OverflowError:
        return False
    return not abs(total - 1.0) > tolerance


def rounding(values: Iterable[float]) -> float:
    """
    Return half of the last decimal of the value that shows most decimals: 0.005 for two, and 0.05 for none or one.

    Nobody rounds a probability to whole numbers, so that a plain 1 or 0 does not excuse everything.
    """
    return 0.5 * 10.0 ** -max(map(_decimals, values), default=_LEAST_DECIMALS)


def choice_confidence(probabilities: Iterable[float], options: int) -> float:
    """
    Return `(m - 1/n) / (1 - 1/n)`, m the highest probability and n the options that were asked.

    Rounded to 12 decimals, never below 0; 1.0 for a single option.
    """
    if options <= 1:
        return 1.0
    top = max(probabilities, default=0.0)
    return _tidy((options * top - 1.0) / (options - 1.0))


def score_confidence(probabilities: Mapping[int, float], levels: int) -> float:
    """
    Return `1 - sum(p_i * |i - k|) / D`.

    k is the most probable level and D the mean distance of all levels from the middle one. Rounded to 12 decimals,
    never below 0; 1.0 for a single level.
    """
    if levels <= 1:
        return 1.0
    mode = max(range(levels), key=lambda level: probabilities.get(level, 0.0))
    spread = math.fsum(value * abs(level - mode) for level, value in probabilities.items())
    return _tidy(1.0 - spread / _distance_from_middle(levels))


def expected_score(probabilities: Mapping[int, float]) -> float:
    """
    Return the mean level, `sum(i * p_i)`, levels counted from 0.
    """
    return math.fsum(level * value for level, value in probabilities.items())


def score_tolerance(probabilities: Mapping[int, float], levels: int) -> float:
    """
    Return how far a score may be from the mean of its own rounded distribution: `0.02 + r * (1 + n(n-1)/2)`.
    """
    return 0.02 + rounding(probabilities.values()) * (1 + levels * (levels - 1) / 2)


def near_uniform(probabilities: Mapping[str, float]) -> bool:
    """
    Say whether every probability is within 0.05 of 1/n, on the values as they came.

    A health flag, not a verdict: nothing to rank on, most often because the options are not described. One option is
    near uniform, none is not.
    """
    if len(probabilities) <= 1:
        return bool(probabilities)
    even = 1.0 / len(probabilities)
    return all(abs(value - even) <= NEAR_UNIFORM_TOLERANCE for value in probabilities.values())


@lru_cache(maxsize=16)
def _distance_from_middle(levels: int) -> float:
    middle = (levels - 1) / 2
    return math.fsum(abs(level - middle) for level in range(levels)) / levels


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


@lru_cache(maxsize=4096)
def _decimals(value: float) -> int:
    if not math.isfinite(_float(value)):
        return _LEAST_DECIMALS
    mantissa, _, exponent = repr(float(value)).partition("e")
    shown = len(mantissa.partition(".")[2].rstrip("0"))
    return max(_LEAST_DECIMALS, shown - int(exponent or 0))


def _tidy(confidence: float) -> float:
    return max(0.0, round(confidence, _DECIMALS_OF_CONFIDENCE))

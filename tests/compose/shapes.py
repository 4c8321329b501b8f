"""Every way of ours to stand around one engine, so that what holds for an engine is tested in all of them."""

from collections.abc import Callable

import pytest

from decide import Breaker, Budget, Fallback, Hedged, Provider, Race, Single
from tests.fakes import Engine

Shape = Callable[[Provider], Provider]


def never_hedged(engine: Provider) -> Hedged:
    """A hedge whose backup never starts."""
    return Hedged(engine, Engine("spare"), delay=10**6, fail_over=())


SHAPES: dict[str, Shape] = {
    "alone": lambda engine: engine,
    "single": Single,
    "fallback": Fallback,
    "race": Race,
    "hedged": never_hedged,
    "breaker": Breaker,
    "budget": lambda engine: Budget(engine, max_calls=9),
    "race in breaker in single": lambda engine: Single(Breaker(Race(engine))),
    "breaker in hedged in fallback": lambda engine: Fallback(never_hedged(Breaker(engine))),
    "budget in fallback in race": lambda engine: Race(Fallback(Budget(engine, max_calls=9))),
}

in_every_shape = pytest.mark.parametrize("shape", list(SHAPES.values()), ids=list(SHAPES))

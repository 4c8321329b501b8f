"""What every gate does before it opens, and what a leg does after it has a winner."""

import pytest

from decide import AttemptLog, Provider, UnsupportedError
from decide._askings import Deciding
from decide.compose import Breaker, Budget, Turns
from decide.compose._settle import Legs
from decide.providers import adapt
from tests.compose.asking import directly, scored_directly
from tests.fakes import REQUEST, Clock, DecidingOnly, Engine


class Broken(DecidingOnly):
    """An engine that decides nothing, and cannot answer questions at all."""

    async def decide(self, request: object) -> None:
        raise ValueError("x")


async def test_an_open_breaker_says_unsupported_of_what_the_engine_cannot_do() -> None:
    breaker = Breaker(DecidingOnly("a"))
    breaker.force_open()

    with pytest.raises(UnsupportedError):
        await scored_directly(breaker)


async def test_what_the_engine_cannot_do_is_no_probe() -> None:
    clock = Clock()
    breaker = Breaker(Broken("a"), threshold=1, cooldown=1.0, clock=clock)
    with pytest.raises(ValueError, match="x"):
        await directly(breaker)
    clock.now = 1.0

    with pytest.raises(UnsupportedError):
        await scored_directly(breaker)

    assert breaker.state == "open"


@pytest.mark.parametrize("gate", [lambda engine: Budget(engine, max_calls=0), Turns], ids=["budget", "turns"])
async def test_a_closed_gate_says_unsupported_too(gate: type[Turns]) -> None:
    with pytest.raises(UnsupportedError):
        await scored_directly(gate(DecidingOnly("a")))


async def test_a_second_answer_takes_nothing_from_the_winner() -> None:
    engines: list[Provider] = [Engine("a"), Engine("b")]
    adapted = [adapt(engine) for engine in engines]
    legs = Legs(Deciding(REQUEST), adapted, (1.0, 1.0), frozenset(), AttemptLog())

    for index in range(2):
        legs.open(index, "racer")
        await legs.run(index)

    assert legs.winner == 0
    assert legs.log.engine == "a"

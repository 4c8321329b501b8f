"""Breakers to try things on, and the endings that count for one or do not."""

from decide import (
    AuthError,
    Breaker,
    BudgetError,
    BusyError,
    DecideError,
    EngineError,
    EngineTimeoutError,
    InvalidAnswerError,
    InvalidRequestError,
    MisconfiguredError,
    PolicyRefusalError,
    Provider,
    QuotaError,
    RateLimitedError,
    TimeBudgetError,
    UnavailableError,
    UnsupportedError,
)
from tests.compose.asking import directly
from tests.fakes import (
    Behaviour,
    Clock,
    Engine,
    fails,
)

BROKEN = EngineError("broken")


class NoiseError(Exception):
    """An error that says nothing about the engine."""


async def ask(breaker: Provider, times: int = 1) -> None:
    """Ask so often, whatever becomes of it."""
    for _ in range(times):
        try:
            await directly(breaker)
        except (DecideError, NoiseError, ValueError):
            continue


async def tripped(
    *script: Behaviour, clock: Clock, cooldown: float = 10.0, **settings: object
) -> tuple[Breaker, Engine]:
    """A breaker that has opened at 0 on the first failure; *script* is what comes after."""
    engine = Engine("a", fails(BROKEN), *script, timeout=5.0)
    breaker = Breaker(engine, threshold=1, cooldown=cooldown, clock=clock, **settings)  # type: ignore[arg-type]
    await ask(breaker)
    assert breaker.stats().state == "open"
    return breaker, engine


COUNTED: dict[str, tuple[Behaviour]] = {
    "an error of ours": (fails(BROKEN),),
    "a foreign error": (fails(ValueError("x")),),
    "a rate limit": (fails(RateLimitedError("x")),),
    "an unusable reply": (fails(InvalidAnswerError("x")),),
    "its own timeout": (fails(EngineTimeoutError("x")),),
    "a breaker below that is open": (fails(UnavailableError("x")),),
}
NEUTRAL: dict[str, tuple[Behaviour]] = {
    "a bad request": (fails(InvalidRequestError("x")),),
    "a refused key": (fails(AuthError("x")),),
    "a spent allowance": (fails(QuotaError("x")),),
    "a spent budget": (fails(BudgetError("x")),),
    "spent time": (fails(TimeBudgetError("x")),),
    "a broken setting": (fails(MisconfiguredError("x")),),
    "a refusal": (fails(PolicyRefusalError("x")),),
    "no turn": (fails(BusyError("x")),),
    "no such operation": (fails(UnsupportedError("x")),),
    "an excluded error": (fails(NoiseError()),),
    "a neutral kind among others": (fails(ExceptionGroup("x", [ValueError("x"), AuthError("x")])),),
}

"""Calls through a breaker, told in a word each."""

from decide import EngineError, RateLimitedError, UnavailableError
from decide.compose import Breaker
from tests.compose.asking import directly
from tests.fakes import Behaviour, answers, fails

GOOD, BAD = answers(), fails(EngineError("x"))


async def ask(breaker: Breaker) -> str:
    """How one call ended: `ok`, `failed`, or `refused`."""
    try:
        await directly(breaker)
    except UnavailableError:
        return "refused"
    except Exception:  # noqa: BLE001 - only whether it was let through is looked at
        return "failed"
    return "ok"


async def ask_often(breaker: Breaker, times: int) -> list[str]:
    return [await ask(breaker) for _ in range(times)]


def limited(wait: float | None) -> Behaviour:
    return fails(RateLimitedError("x", retry_after=wait))

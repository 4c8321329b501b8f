"""The same engine again, when what went wrong may pass."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeVar

import anyio
import anyio.lowlevel
import attrs

from decide._checks import seconds, whole
from decide._legs import Asking
from decide.answers import Usage
from decide.attempt_log import AttemptLog
from decide.compose._wrapper import Wrapper
from decide.deadlines import charged, enough_time
from decide.errors import EngineError, InvalidAnswerError, NoAnswerError, RateLimitedError
from decide.providers import AnyProvider
from decide.retry_after import retry_delay

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")

RATE_LIMITED: Final = 429
RETRYABLE: Final = frozenset({408, 425, RATE_LIMITED, 500, 502, 503, 504, 529})
"""Statuses that may pass. A 429 that means a spent allowance is no EngineError and is never tried again."""


@attrs.frozen(kw_only=True)
class Failure:
    """
    One failed try.

    Attributes:
        error: What it failed with.
        status: The status a server answered with; None without one.
        attempt: The try, counted from 0.
        retryable: Whether it would be tried again by default.
    """

    error: Exception
    status: int | None
    attempt: int
    retryable: bool


class Retry(Wrapper):
    """
    Ask an engine again when its server was overloaded, or the connection broke before an answer.

    All tries are one attempt, inside the leg's own deadline: a wait that would outlast it is not begun. While a backup
    waits for this engine to fail, nothing is
    tried again. A retried call may be billed more than once, so a `Budget` goes inside.

    Args:
        engine: The engine. The retry has its name, timeout and traces. A combinator is asked again when all that went
            wrong in it may pass.
        retries: Further tries after the first; 0 tries once.
        backoff: Seconds before the second try, doubled for each one after; a `Retry-After` of the server wins.
        retry_on: Further HTTP statuses to try again on.
        on_error: Asked after each failure but the last; it may try again what is not retryable, or give up early.

    Raises:
        ValueError: If a setting is out of range.
    """

    def __init__(
        self,
        engine: AnyProvider,
        *,
        retries: int,
        backoff: float = 0.5,
        retry_on: Collection[int] = (),
        on_error: Callable[[Failure], Literal["retry", "fail"]] | None = None,
    ) -> None:
        # Here, so that who never retries never loads it, and no call waits for an import.
        from tenacity import AsyncRetrying, stop_after_attempt  # noqa: PLC0415

        super().__init__(engine)
        self._retries = True
        self._tries = whole("retries", retries, least=0) + 1
        self._backoff = seconds("backoff", backoff)
        self._statuses = RETRYABLE | {whole("retry_on", status, least=100) for status in retry_on}
        self._on_error = on_error
        self._retrying = partial(AsyncRetrying, stop=stop_after_attempt(self._tries), wait=self._wait, reraise=True)

    async def _guard(self, asking: Asking[T], log: AttemptLog) -> T | None:
        costs: list[Usage | None] = []

        async def sleep(delay: float) -> None:
            with charged(exempt=self.deterministic):
                await anyio.sleep(delay)
            await anyio.lowlevel.checkpoint_if_cancelled()
            log.again(costs[-1])

        retrying = self._retrying(
            sleep=sleep,
            retry=lambda state: self._worth_it(state, log),
            before_sleep=lambda state: costs.append(getattr(_error_of(state), "usage", None)),
        )
        return await retrying(self._ask, asking, log)

    def _worth_it(self, state: RetryCallState, log: AttemptLog) -> bool:
        error = _error_of(state)
        if error is None or log.backup_waiting or state.attempt_number >= self._tries:
            return False
        retryable = self._is_retryable(error)
        if self._on_error is not None:
            failure = Failure(
                error=error,
                status=getattr(error, "http_status", None),
                attempt=state.attempt_number - 1,
                retryable=retryable,
            )
            retryable = self._on_error(failure) == "retry"
        wait = self._wait(state)
        return retryable and wait < log.deadline - log.now() and (self.deterministic or enough_time(after=wait))

    def _is_retryable(self, error: BaseException) -> bool:
        if isinstance(error, NoAnswerError):
            return bool(error.errors) and all(self._is_retryable(one) for one in error.errors)
        if not isinstance(error, EngineError) or isinstance(error, InvalidAnswerError):
            return False
        status = RATE_LIMITED if isinstance(error, RateLimitedError) else error.http_status
        return error.transient if status is None else status in self._statuses

    def _wait(self, state: RetryCallState) -> float:
        error = _error_of(state)
        asked = None if error is None else retry_delay(error)
        return self._backoff * 2 ** (state.attempt_number - 1) if asked is None else asked


def _error_of(state: RetryCallState) -> Exception | None:
    error = state.outcome.exception() if state.outcome is not None else None
    return error if isinstance(error, Exception) else None

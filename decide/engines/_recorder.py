"""An engine whose live calls are put on a cassette, whichever way they end."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

import anyio
import anyio.to_thread
import attrs

from decide._legs import Asking
from decide.answers import ScoreResult
from decide.attempt_log import AttemptLog
from decide.attempts import Report
from decide.compose._wrapper import Wrapper
from decide.decisions import Decision
from decide.engines._cassettes import Document, Header, Recording, moved, save, text_of, written
from decide.engines._recorded_errors import write_error
from decide.engines._request_keys import Asked, essence_of, hashed, key_of
from decide.engines._scrubbing import LEAST_LENGTH, scrubbed, secrets_of_environment
from decide.engines._setup import SetupError
from decide.errors import DecideError, InvalidAnswerError
from decide.providers import AnyProvider
from decide.questions import ScoreRequest
from decide.requests import Request

T = TypeVar("T")

_CLEAN_UP: Final = 1.0
"""Seconds that a cancelled run waits for its cassette."""


class Recorder(Wrapper):
    """
    An engine whose calls are recorded, see `tape.record`.

    Used as a context manager, plain around a whole run or async inside it; or `save` is called. The cassette holds the
    calls that have ended. If there were none, the old one stays.
    """

    def __init__(
        self, engine: AnyProvider, path: Path, *, model: str, ignore: Collection[str], secrets: Iterable[str]
    ) -> None:
        super().__init__(engine)
        self._path = path
        self._secrets = frozenset(secrets)
        if any(len(secret) < LEAST_LENGTH for secret in self._secrets):
            raise SetupError(f"secrets: each needs at least {LEAST_LENGTH} characters")
        timeout = self.decision_timeout
        self._header = Header(
            engine=self.name,
            model=model,
            decision_timeout=timeout if timeout is not None and math.isfinite(timeout) else None,
            ignored=sorted(ignore),
        )
        self._takes: list[_Take] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.save()
        except DecideError:
            if error is None:
                raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            await anyio.to_thread.run_sync(self.save, abandon_on_cancel=True)
            return
        with anyio.move_on_after(_CLEAN_UP, shield=True):
            await anyio.to_thread.run_sync(self.__exit__, error_type, error, traceback, abandon_on_cancel=True)

    def save(self) -> None:
        """
        Write the cassette. Blocks.

        Raises:
            MisconfiguredError: If it cannot be written; the old one is still there.
        """
        found = [take.document for take in list(self._takes) if take.document is not None]
        if found:
            secrets = self._secrets | secrets_of_environment()
            save(self._path, text_of(self._header, [scrubbed(document, secrets) for document in found]))

    async def decide_traced(self, request: Request, log: AttemptLog) -> Decision | None:
        """
        Have the engine decide.
        """
        with self._take(request, log) as take:
            take.answer = await super().decide_traced(request, log)
        return take.answer

    async def score_traced(self, request: ScoreRequest, log: AttemptLog) -> ScoreResult:
        """
        Have the engine answer questions.
        """
        with self._take(request, log) as take:
            take.answer = result = await super().score_traced(request, log)
        return result

    async def _guard(self, asking: Asking[T], log: AttemptLog) -> T | None:
        return await self._ask(asking, log)

    def _take(self, request: Asked, log: AttemptLog) -> _Take:
        essence = essence_of(request, self._header.ignored)
        take = _Take(essence, hashed(key_of(essence, self._header.model)), self.name, log)
        self._takes.append(take)
        return take


class _Take:
    """
    One call while it is recorded; its place among equal ones is that of its start.
    """

    def __init__(self, asked: Asked, key: str, engine: str, log: AttemptLog) -> None:
        self._asked = asked
        self._key = key
        self._engine = engine
        self._log = log
        self._started = log.now()
        self.answer: Decision | ScoreResult | None = None
        self.document: Document | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None and not isinstance(error, Exception | anyio.get_cancelled_exc_class()):
            return
        self.document = self._document(error)

    def _document(self, error: BaseException | None) -> Document:
        """
        Return the recording as JSON, without what JSON cannot carry: an engine may answer and write anything at all.
        """
        whole = Recording(
            key=self._key,
            answer=self.answer,
            error=write_error(error) if isinstance(error, Exception) else None,
            cut_off=error is not None and not isinstance(error, Exception),
            seconds=self._log.now() - self._started,
            report=moved(self._log.report(), -self._log.since_origin(self._started)),
        )
        unread = write_error(InvalidAnswerError(detail="not an answer that can be read"))
        for recording in (whole, attrs.evolve(whole, report=Report()), attrs.evolve(whole, answer=None, error=unread)):
            with suppress(Exception):
                return written(recording, self._asked)
        return written(Recording(key=self._key, error=unread), self._asked)

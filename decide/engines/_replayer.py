"""An engine that plays a cassette: the same answers and errors, in the same order."""

from __future__ import annotations

import math
import threading

import anyio

from decide.answers import ScoreResult
from decide.attempt_log import AttemptLog
from decide.attempts import Attempt
from decide.decisions import Decision
from decide.engines._cassettes import Cassette, Recording, moved
from decide.engines._request_keys import Asked, essence_of, hashed, key_of
from decide.engines.recorded import decided, missed, scored
from decide.errors import EngineTimeoutError
from decide.outcomes import AttemptOutcome
from decide.questions import ScoreRequest
from decide.requests import Request


class Replayer:
    """
    An engine that plays a cassette, see `tape.replay`.
    """

    def __init__(self, cassette: Cassette, *, model: str | None = None, paced: bool = False) -> None:
        self._header = cassette.header
        self._model = cassette.header.model if model is None else model
        self._paced = paced
        self._recordings: dict[str, list[Recording]] = {}
        for recording in cassette.recordings:
            self._recordings.setdefault(recording.key, []).append(recording)
        self._played: dict[str, int] = {}
        self._lock = threading.Lock()
        self.decision_timeout: float | None = cassette.header.decision_timeout

    def __repr__(self) -> str:
        return f"<Replayer {self.name}>"

    @property
    def name(self) -> str:
        """
        The name of the engine that was recorded.
        """
        return self._header.engine

    def rewind(self) -> None:
        """
        Start over with the first answer to every request.
        """
        with self._lock:
            self._played.clear()

    async def decide(self, request: Request, /) -> Decision | None:
        return await self.decide_traced(request, AttemptLog())

    async def decide_traced(self, request: Request, log: AttemptLog, /) -> Decision | None:
        return decided(await self._play(request, log))

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        return await self.score_traced(request, AttemptLog())

    async def score_traced(self, request: ScoreRequest, log: AttemptLog, /) -> ScoreResult:
        return scored(await self._play(request, log), request, self.name)

    async def _play(self, request: Asked, log: AttemptLog) -> Recording:
        recording = self._next(hashed(key_of(essence_of(request, self._header.ignored), self._model)))
        if recording.cut_off:
            await self._silence(recording, log)
        await anyio.sleep(recording.seconds if self._paced else 0)
        self._tell(recording, log)
        return recording

    def _next(self, key: str) -> Recording:
        with self._lock:
            found = self._recordings.get(key)
            if found is None:
                raise missed(self.name)
            position = self._played.get(key, 0)
            self._played[key] = position + 1
        return found[min(position, len(found) - 1)]

    async def _silence(self, recording: Recording, log: AttemptLog) -> None:
        """
        Wait to be cut off; where nobody is going to, the recording has nothing to say.
        """
        try:
            if min(log.deadline, anyio.current_effective_deadline()) < math.inf:
                await anyio.sleep_forever()
        finally:
            self._tell(recording, log)
        raise EngineTimeoutError(f"{self.name}: the recorded call was cut off", detail="cut off when recorded")

    def _tell(self, recording: Recording, log: AttemptLog) -> None:
        """
        Write what the engine wrote: its own attempts as its own, which whoever asked may see otherwise.
        """
        report = moved(recording.report, log.since_origin(log.now()))
        if any(attempt.provider != self.name for attempt in report.attempts):
            log.include(report)
            return
        for attempt in report.attempts:
            _write(attempt, log)
        log.engine, log.model = report.engine, report.model


def _write(attempt: Attempt, log: AttemptLog) -> None:
    with log.attempt(attempt.provider) as opened:
        opened.usage = attempt.usage
        opened.dimension = attempt.dimension
        opened.waited = attempt.waited
        opened.tries = attempt.tries
        opened.malformed = attempt.malformed
        opened.rule = attempt.rule
    opened.outcome = AttemptOutcome(attempt.outcome)
    opened.detail = attempt.detail
    opened.latency = attempt.latency

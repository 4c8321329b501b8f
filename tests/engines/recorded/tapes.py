"""Engines to put on tape, and cassettes read and played without blocking the loop."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from decide import Chain, NoulAnswer, NoulQuestion, ScoreRequest, ScoreResult
from decide.engines.recorded import RecordedEngine
from decide.engines.tape import Replayer, replay

Said = float | BaseException


class Live:
    """Answers from a script, state by state; asked more often than the script is long, it repeats its last line."""

    def __init__(
        self,
        script: dict[str, list[Said]] | None = None,
        *,
        name: str = "live",
        takes: float = 0.1,
        slow: Mapping[str, float] | None = None,
    ) -> None:
        self.name = name
        self._script = script or {}
        self._takes = takes
        self._slow = slow or {}
        self._asked: dict[str, int] = {}
        self.calls = 0

    async def score(self, request: ScoreRequest) -> ScoreResult:
        state = str(request.text)
        place = self._asked.get(state, 0)
        self._asked[state] = place + 1
        self.calls += 1
        await anyio.sleep(self._slow.get(state, self._takes))
        lines = self._script.get(state, [0.5])
        said = lines[min(place, len(lines) - 1)]
        if isinstance(said, BaseException):
            raise said
        return ScoreResult(model="m-1", answers={"n": NoulAnswer(noul=said)})


def asking(state: object) -> ScoreRequest:
    return ScoreRequest(text=state, questions={"n": NoulQuestion("?")})  # type: ignore[arg-type]


async def played(path: Path, **options: Any) -> Replayer:
    return await anyio.to_thread.run_sync(lambda: replay(path, **options))


async def corpus_of(path: Path, **options: Any) -> RecordedEngine:
    return await anyio.to_thread.run_sync(lambda: RecordedEngine(path, **options))


async def text_of(path: Path) -> str:
    return await anyio.to_thread.run_sync(lambda: path.read_text(encoding="utf-8"))


async def outcomes(engine: Any, *states: object) -> list[list[tuple[str, str]]]:
    """The trace of one chain over the engine for each state, one after the other."""
    chain = Chain([engine], min_confidence=None)
    ended = [await chain.score(asking(state)) for state in states]
    return [[(one.provider, one.outcome) for one in end.trace.attempts] for end in ended]


async def noul_of(engine: Any, state: object) -> float | None:
    found: float | None = (await engine.score(asking(state))).noul("n").noul
    return found

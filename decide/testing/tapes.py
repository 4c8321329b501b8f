"""A pytest fixture that records live engines once and plays them ever after, without a network or a key."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from decide.engines._cassettes import Cassette, read_cassette
from decide.engines._setup import SetupError
from decide.engines.tape import Recorder, Replayer, record
from decide.providers import AnyProvider, adapt

RECORD: Final = "DECIDE_RECORD"
"""The environment variable that, set to anything, has engines asked and recorded."""

_LONGEST = 100


class Tapes:
    """
    Puts a tape between one test and its engines, see the fixture `tape`.
    """

    def __init__(self, folder: Path, test: str, recorders: ExitStack | None) -> None:
        self._folder = folder
        self._test = _file_name(test)
        self._recorders = recorders
        self._seen: set[str] = set()
        # Read before the test, which may run in an event loop that must not be blocked.
        self._cassettes: dict[Path, Cassette] = {}
        if recorders is None:
            self._cassettes = {path: read_cassette(path) for path in folder.glob(f"{self._test}.*.json")}

    def __call__(
        self,
        engine: AnyProvider,
        *,
        model: str = "",
        ignore: Collection[str] = (),
        secrets: Iterable[str] = (),
        paced: bool = False,
    ) -> Recorder | Replayer:
        """
        Return what stands for *engine* in this test.

        Args:
            engine: The live engine, which is asked only while recording.
            model: As in `decide.engines.tape.record`.
            ignore: Likewise.
            secrets: Likewise.
            paced: As in `decide.engines.tape.replay`.

        Raises:
            SetupError: If there is no tape of it, or one engine of this name has one in this test already.
        """
        name = adapt(engine).name
        if name in self._seen:
            raise SetupError(f"engine {name!r} is on a tape of this test already: give the engines names of their own")
        self._seen.add(name)
        path = self._folder / f"{self._test}.{_file_name(name)}.json"
        if self._recorders is not None:
            return self._recorders.enter_context(record(engine, path, model=model, ignore=ignore, secrets=secrets))
        if path not in self._cassettes:
            raise SetupError(f"no tape of engine {name!r}: run this test once with {RECORD}=1, which makes {path}")
        return Replayer(self._cassettes[path], model=model, paced=paced)


@pytest.fixture
def tape(request: pytest.FixtureRequest) -> Iterator[Tapes]:
    """
    Put a tape between this test and an engine.

        engine = tape(SystemOneEngine(...))

    With `DECIDE_RECORD=1` in the environment the engines are asked, and what they answer is kept beside the test file,
    in `tapes/`, one cassette for each test and engine. Without it the engines are never asked.
    """
    folder = request.path.parent / "tapes" / request.path.stem
    test = ".".join(request.node.nodeid.split("::")[1:])
    if os.environ.get(RECORD):
        with ExitStack() as recorders:
            yield Tapes(folder, test, recorders)
    else:
        yield Tapes(folder, test, None)


def _file_name(name: str) -> str:
    plain = re.sub(r"[^\w-]+", "-", name).strip("-")
    if plain == name and len(plain) <= _LONGEST:
        return plain
    # Two names that look alike once they are plain must not share a file.
    return f"{plain[:_LONGEST]}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"

"""Live answers put on a cassette, and played back without a network."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from os import PathLike
from pathlib import Path

from decide.engines._cassettes import read_cassette
from decide.engines._recorder import Recorder
from decide.engines._replayer import Replayer
from decide.providers import AnyProvider

__all__ = ["Recorder", "Replayer", "record", "replay"]


def record(
    engine: AnyProvider,
    path: str | PathLike[str],
    *,
    model: str = "",
    ignore: Collection[str] = (),
    secrets: Iterable[str] = (),
) -> Recorder:
    """
    Put a recorder in front of *engine*: calls go through, and are on the cassette when the block is left.

        async with record(engine, "tapes/triage.json") as live:
            await Chain([live]).decide(request)

    Args:
        engine: The engine, or a combinator. The recorder has its name, timeout and traces.
        path: The cassette, which replaces one that is there. Its folder is made if need be.
        model: A part of every key, for telling the recordings of one model from those of another.
        ignore: Names of members, at any depth of a state or a context, that are neither kept nor part of a key: tokens,
            ids of a run.
        secrets: Texts that are blotted out wherever they stand, beside the values of the environment's variables that
            are named like a key, token, secret or password. Headers, and what a server says when it fails, are never
            kept.

    Raises:
        SetupError: If a secret is too short to be told from ordinary words.
    """
    return Recorder(engine, Path(path), model=model, ignore=ignore, secrets=secrets)


def replay(path: str | PathLike[str], *, model: str | None = None, paced: bool = False) -> Replayer:
    """
    Play a cassette: an engine under the name of the one that was recorded, in its place in any combinator.

    Equal requests get their answers in the order of the recording, then the last one again and again; requests that
    differ may come in any order. Failures are raised as the errors they were. A call that was cut off, as a hedge that
    lost, is silent until it is cut off again. What was never recorded raises ReplayMissError, which stops a chain.

    Args:
        path: The cassette, which is read here and now.
        model: As in `record`; by default the cassette's own.
        paced: Take as long over every answer as the engine did, so that hedges fire where they did.

    Raises:
        SetupError: If the cassette cannot be read.
    """
    return Replayer(read_cassette(Path(path)), model=model, paced=paced)

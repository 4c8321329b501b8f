"""The engines that a command line names, and how they are put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from decide.compose import Fallback, Hedged, Race, Single
from decide.engines._endpoints import endpoint
from decide.engines._setup import SetupError
from decide.engines.local import LocalEngine
from decide.engines.systemone import SystemOneEngine
from decide.policies import SelectionPolicy
from decide.providers import AnyProvider

LOCAL: Final = "local"
STRATEGIES: Final = ("single", "fallback", "hedged", "race")


def engines_from(specs: Sequence[str], model: str) -> list[AnyProvider]:
    """
    Build the engines that *specs* name: `local`, or the URL of a server on this machine.

    Args:
        specs: What was written, the preferred engine first.
        model: What servers are asked for; empty leaves it to them.

    Raises:
        click.UsageError: If one cannot be built.
    """
    return [_engine(spec, name, model) for spec, name in zip(specs, _names(specs), strict=True)]


def compose(
    engines: Sequence[AnyProvider], strategy: str | None, after: float | None, policy: SelectionPolicy
) -> AnyProvider:
    """
    Put *engines* together.

    Args:
        engines: The preferred first.
        strategy: One of `STRATEGIES`; None for the one that fits: `single` for one engine, `hedged` when *after* is
            given, else `fallback`, which never asks two engines that both work.
        after: Seconds of silence that start the backup of a hedge; None for the default.
        policy: Judges every answer.

    Raises:
        click.UsageError: If the number of engines does not fit the strategy.
    """
    chosen = strategy or _fitting(len(engines), after)
    if after is not None and chosen != "hedged":
        raise click.UsageError(f"--after belongs to --strategy hedged, not to {chosen}: leave one of them out")
    _check_count(chosen, len(engines))
    match chosen:
        case "single":
            return Single(engines[0], policy=policy)
        case "fallback":
            return Fallback(*engines, policy=policy)
        case "race":
            return Race(*engines, policy=policy)
        case _:
            return _hedge(*engines, after=after, policy=policy)


def _hedge(primary: AnyProvider, backup: AnyProvider, *, after: float | None, policy: SelectionPolicy) -> Hedged:
    if after is None:
        return Hedged(primary, backup, policy=policy)
    return Hedged(primary, backup, policy=policy, delay=after)


def _fitting(engines: int, after: float | None) -> str:
    if after is not None:
        return "hedged"
    return "single" if engines == 1 else "fallback"


def _check_count(strategy: str, engines: int) -> None:
    needs = {
        "single": (engines == 1, "exactly one --engine; choose fallback, hedged or race for several"),
        "hedged": (engines == 2, "exactly two --engine: first the primary, then its backup"),
    }
    fits, what = needs.get(strategy, (engines >= 2, "two or more --engine, the preferred first"))
    if not fits:
        raise click.UsageError(f"--strategy {strategy} needs {what}; got {engines}")


def _engine(spec: str, name: str, model: str) -> AnyProvider:
    try:
        return LocalEngine(name=name) if spec == LOCAL else SystemOneEngine(spec, name=name, model=model)
    except SetupError as error:
        raise click.UsageError(f"--engine {_shown(spec)}: {error}") from None


def _names(specs: Sequence[str]) -> list[str]:
    """
    Name each engine after where it is; the second of one place is numbered.
    """
    places = [LOCAL if spec == LOCAL else _place(spec) for spec in specs]
    alike = [places[:position].count(place) for position, place in enumerate(places)]
    return [f"{place}-{before + 1}" if before else place for place, before in zip(places, alike, strict=True)]


def _place(spec: str) -> str:
    if "://" not in spec:
        example = "http://127.0.0.1:8000"
        raise click.UsageError(f"--engine {_shown(spec)}: write {LOCAL}, or the URL of a server such as {example}")
    try:
        server = endpoint(spec)
    except SetupError as error:
        raise click.UsageError(f"--engine {_shown(spec)}: {error}") from None
    if not server.loopback:
        raise click.UsageError(
            f"--engine {_shown(spec)}: only servers on this machine (localhost, 127.0.0.1 or [::1]) can be asked from "
            "the command line so far; to ask another one, build a SystemOneEngine in Python"
        )
    return server.url.netloc.decode("ascii")


def _shown(spec: str) -> str:
    """
    Repeat what was written, unless it could hold a password.
    """
    return "URL" if "@" in spec else spec

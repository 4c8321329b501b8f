"""The engines that a command line names, and how they are put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import attrs
import click

from decide.compose import Fallback, Hedged, Race, Single
from decide.engines._endpoints import endpoint
from decide.engines._setup import SetupError
from decide.engines.local import LEAST_OPTIONS, LocalEngine
from decide.engines.presets import PRESETS, from_preset
from decide.engines.systemone import SystemOneEngine, key_from
from decide.engines.trust import Trust, place_of
from decide.policies import SelectionPolicy
from decide.providers import AnyProvider
from decide.questions import ChoiceQuestion, Question

LOCAL: Final = "local"
Composed: TypeAlias = Single | Fallback | Hedged | Race
STRATEGIES: Final = ("single", "fallback", "hedged", "race")


@attrs.frozen(kw_only=True)
class Servers:
    """
    How servers are asked.

    Attributes:
        model: The model to ask for; empty leaves it to them.
        dialect: What servers named by their URL speak.
        key_variable: The environment variable with the key of the one server; empty for none.
    """

    model: str = ""
    dialect: str = "systemone"
    key_variable: str = ""


def engines_from(specs: Sequence[str], servers: Servers) -> list[AnyProvider]:
    """
    Build the engines that *specs* name: `local`, a service that is known by name, or the URL of a server.

    Args:
        specs: What was written, the preferred engine first.
        servers: How servers are asked.

    Raises:
        click.UsageError: If one cannot be built, or may not be sent anything.
    """
    if servers.model and all(spec == LOCAL for spec in specs):
        raise click.UsageError("--model names the model of a server, and no --engine is one: leave it out, or add one")
    if servers.key_variable and len([spec for spec in specs if spec != LOCAL]) != 1:
        raise click.UsageError("--key-variable names the key of one server: give exactly one --engine that is a server")
    return [_engine(spec, name, servers) for spec, name in zip(specs, _names(specs), strict=True)]


def refuse_unanswerable(engines: Iterable[AnyProvider], questions: Mapping[str, Question]) -> None:
    """
    Refuse a question that none of *engines* can take.

    Raises:
        click.UsageError: If all engines are local and a choice has a single option; names the key and the remedy.
    """
    if not all(isinstance(engine, LocalEngine) for engine in engines):
        return
    for key, question in questions.items():
        if isinstance(question, ChoiceQuestion) and len(question.candidates) < LEAST_OPTIONS:
            raise click.UsageError(
                f'the choice "{key}" has fewer than {LEAST_OPTIONS} options, too few for the local engine: '
                "add an option, or ask a server with --engine URL"
            )


def compose(
    engines: Sequence[AnyProvider], strategy: str | None, after: float | None, policy: SelectionPolicy
) -> Composed:
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


def _engine(spec: str, name: str, servers: Servers) -> AnyProvider:
    try:
        return LocalEngine(name=name) if spec == LOCAL else _server(spec, name, servers)
    except SetupError as error:
        raise click.UsageError(f"--engine {_shown(spec)}: {error}") from None


def _server(spec: str, name: str, servers: Servers) -> SystemOneEngine:
    key = key_from(servers.key_variable) if servers.key_variable else None
    if spec in PRESETS:
        return from_preset(spec, name=name, model=servers.model or None, api_key=key)
    return SystemOneEngine(spec, name=name, dialect=servers.dialect, model=servers.model, api_key=key)


def _names(specs: Sequence[str]) -> list[str]:
    """
    Name each engine after where it is; the second of one place is numbered.
    """
    places = [LOCAL if spec == LOCAL else _place(spec) for spec in specs]
    alike = [places[:position].count(place) for position, place in enumerate(places)]
    return [f"{place}-{before + 1}" if before else place for place, before in zip(places, alike, strict=True)]


def _place(spec: str) -> str:
    if spec in PRESETS and PRESETS[spec].base_url:
        _check_trust(PRESETS[spec].base_url)
        return spec
    if "://" not in spec:
        example = "http://127.0.0.1:8000"
        raise click.UsageError(
            f"--engine {_shown(spec)}: write {LOCAL}, the URL of a server such as {example}, or one of {_NAMED}"
        )
    try:
        _check_trust(spec)
        return endpoint(spec).url.netloc.decode("ascii")
    except SetupError as error:
        raise click.UsageError(f"--engine {_shown(spec)}: {error}") from None


def _check_trust(url: str) -> None:
    trust = Trust()
    try:
        trusted = trust.covers(url)
    except OSError as error:
        raise click.UsageError(f"{trust.path}: {error.strerror or 'cannot be read'}") from None
    if not trusted:
        place = place_of(url)
        raise click.UsageError(
            f"--engine {place}: is not on this machine, and nobody has said yet that it may be sent anything. "
            f"`decide trust {place}` shows what it would get, and lets it be asked"
        )


_NAMED = ", ".join(name for name, preset in PRESETS.items() if preset.base_url)


def _shown(spec: str) -> str:
    """
    Repeat what was written, unless it could hold a password.
    """
    return "URL" if "@" in spec else spec

"""`decide trust` and `decide untrust`: which servers on other machines may be sent anything from the command line."""

from __future__ import annotations

from collections.abc import Iterator

import click

from decide.cli._exits import Exit
from decide.engines._endpoints import parsed
from decide.engines._proxies import ENVIRONMENT, proxy_for
from decide.engines._setup import SetupError
from decide.engines.presets import PRESETS
from decide.engines.trust import Place, Trust, place_of

_TRUST_HELP = """
Let a server on another machine be sent what you ask, or list those that may be.

What the server would get is printed first. The URL is trusted with everything below it: its scheme, host, port and
whole segments of its path. This machine (localhost, 127.0.0.0/8, [::1]) needs no trust.

\b
Examples:
  decide trust https://decider.example.com
  decide trust
"""
_UNTRUST_HELP = """
Send nothing to a server on another machine any more. The URL has to be one that `decide trust` lists.
"""


@click.command(help=_TRUST_HELP, short_help="Let a server elsewhere be asked, or list those that may be.")
@click.argument("url", required=False)
@click.pass_context
def trust(ctx: click.Context, /, *, url: str | None) -> None:
    """
    List what is trusted, or trust one more.
    """
    known = Trust()
    if url is None:
        places = _places(known)
        click.echo("\n".join(map(str, places)) if places else "No server on another machine is trusted.")
        ctx.exit(Exit.ACTIONABLE)
    place = _place(url)
    if place.loopback:
        click.echo(f"{place} is this machine, which needs no trust.")
        ctx.exit(Exit.ACTIONABLE)
    click.echo("\n".join(_disclosure(place)))
    try:
        added = known.add(url)
    except OSError as error:
        raise click.UsageError(f"{known.path}: {error.strerror or 'cannot be written'}") from None
    click.echo(f"Trusted: {place} (in {known.path})" if added else f"Already trusted: {place}")


@click.command(help=_UNTRUST_HELP, short_help="Send nothing to a server elsewhere any more.")
@click.argument("url")
def untrust(*, url: str) -> None:
    """
    Trust one less.
    """
    known, place = Trust(), _place(url)
    try:
        removed = known.remove(url)
    except OSError as error:
        raise click.UsageError(f"{known.path}: {error.strerror or 'cannot be written'}") from None
    if not removed:
        raise click.UsageError(f"{place} is not trusted; `decide trust` lists what is")
    click.echo(f"No longer trusted: {place}")


def _place(url: str) -> Place:
    try:
        return place_of(url)
    except SetupError as error:
        raise click.UsageError(str(error).replace("base_url: ", "URL: ")) from None


def _places(known: Trust) -> tuple[Place, ...]:
    try:
        return known.places()
    except OSError as error:
        raise click.UsageError(f"{known.path}: {error.strerror or 'cannot be read'}") from None


def _disclosure(place: Place) -> Iterator[str]:
    """
    Say exactly what a server would get.
    """
    yield f"`decide ask --engine {place}` sends there, for every question that you ask:"
    yield "  - the whole text of --state"
    yield "  - every question: its key, its text, its options or levels, and what each means"
    yield "  - the model's name, when you give one with --model"
    yield "  - a key, when you name its environment variable with --key-variable"
    yield from (
        f"  - the key in {preset.key_variable}, when you write --engine {preset.name}"
        for preset in PRESETS.values()
        if preset.key_variable and preset.base_url and place.covers(place_of(preset.base_url))
    )
    yield "It sends no file, and nothing else from the environment."
    yield f"It goes {_way(place)}."


def _way(place: Place) -> str:
    try:
        proxy = proxy_for(parsed(str(place)), ENVIRONMENT, loopback=False)
    except SetupError:
        return "nowhere as long as the environment names a proxy that cannot be used"
    way = "straight there" if proxy is None else f"through the proxy {proxy}"
    return way if place.scheme == "https" else f"{way}, not encrypted"

"""`decide demo`: a server that gets slow and dies, and a caller who hardly notices."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import Final

import anyio
import click
from rich.console import Console

from decide.asking import Answers, ask
from decide.chain import Chain
from decide.cli._consoles import Words, err, out
from decide.cli._demo_words import INTRODUCTION, MORAL, MayIAct, Message, Tally, seen_text, what_happened
from decide.cli._exits import Exit
from decide.cli._proxy import LOOPBACK, delaying_proxy
from decide.cli._server import ServerError, sparrow_server
from decide.compose import Breaker, Hedged
from decide.engines._setup import SetupError
from decide.engines.local import LocalEngine
from decide.engines.systemone import SystemOneEngine
from decide.observe.timelines import TerminalTimeline
from decide.policies import NARROWING
from decide.questions import ChoiceQuestion

HEDGE_AFTER: Final = 0.15
SLOWNESS: Final = 0.6
FAILURES_TO_OPEN: Final = 2
INDENT: Final = 3
TEAM: Final = "team"
QUESTIONS: Final = {
    TEAM: ChoiceQuestion(
        "Which team should answer?",
        {
            "billing": "charges, invoices and refunds",
            "technical": "errors, crashes and logging in",
            "sales": "questions before buying",
        },
    )
}


HEALTHY: Final = (Message("My card was charged twice for the same order, please refund one.", "billing"),)
SLOW: Final = (
    Message("The app crashes every time I open the settings page.", "technical"),
    Message("Can I see a demo before I buy the annual plan?", "sales"),
)
DEAD: Final = (
    Message("Login fails with error 502 since this morning.", "technical"),
    Message("It says payment failed and then the page froze.", "either"),
    Message("Do you offer a discount for a team of twelve?", "sales"),
)


@click.command(short_help="See what hedging, fallback and a breaker do.")
@click.pass_context
def demo(ctx: click.Context, /) -> None:
    """
    See in ten seconds what hedging, fallback and a breaker do.

    Support messages go to two engines: a sparrow-decider server in a process of its own, and the same model in this
    process as its backup. The server is healthy first, then slow, then killed. Nothing leaves this machine.

    Ends with 0 when everything happened as told, else with 1.
    """
    try:
        local = LocalEngine()
        tally = anyio.run(_play, out(), local)
    except (SetupError, ServerError) as error:
        err().print(f"failed: {error}")
        ctx.exit(Exit.FAILED)
    if not tally.complete:
        err().print("failed: not everything happened that was meant to; a busy machine can do that, so try again")
    ctx.exit(Exit.ACTIONABLE if tally.complete else Exit.FAILED)


async def _play(console: Console, local: LocalEngine) -> Tally:
    # A polite kill ends the demo as Ctrl-C does, so that no server is left behind; also in the background, where a
    # shell has Ctrl-C ignored.
    on_interrupt = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGTERM, on_interrupt if callable(on_interrupt) else signal.default_int_handler)
    console.print(INTRODUCTION)
    async with sparrow_server() as server, delaying_proxy(server.port) as proxy:
        # The same model as the local one: its numbers are self-reported too, whatever way they come.
        remote = SystemOneEngine(f"http://{LOOPBACK}:{proxy.port}", name="server", calibrated=False)
        await ask(remote, "warming up", QUESTIONS)
        stage = _Stage(console, remote, local)
        await stage.play("1. The server is healthy.", HEALTHY)
        proxy.delay = SLOWNESS
        await stage.play(f"2. Now it gets slow: everything takes {SLOWNESS * 1000:.0f} ms longer.", SLOW)
        proxy.delay = 0.0
        await server.kill()
        await stage.play("3. Now the server process is killed.", DEAD)
    stage.close()
    return stage.tally


class _Stage:
    """
    The hedged pair, and what has been seen of it.
    """

    def __init__(self, console: Console, remote: SystemOneEngine, local: LocalEngine) -> None:
        self._console = console
        self._changes: list[str] = []
        self._seen: list[tuple[Message, Answers]] = []
        self.tally = Tally()
        breaker = Breaker(remote, threshold=FAILURES_TO_OPEN, on_change=self._note)
        self._chain = Chain([Hedged(breaker, local, delay=HEDGE_AFTER, policy=NARROWING)], policy=NARROWING)

    async def play(self, title: str, messages: Sequence[Message]) -> None:
        """
        Ask about every message and show what happened.
        """
        self._console.print(title, style="bold cyan")
        for message in messages:
            answers = await ask(self._chain, message.text, QUESTIONS)
            self._seen.append((message, answers))
            self._show(message, answers)

    def close(self) -> None:
        """
        Say what may be acted on, and what there was to see.
        """
        self._console.print("May I act on it?", style="bold cyan")
        self._console.print(MayIAct(self._seen, TEAM))
        self._console.print(Words(MORAL))
        self._console.print(Words(seen_text(self.tally)))

    def _show(self, message: Message, answers: Answers) -> None:
        opened = bool(self._changes)
        self._changes.clear()
        self.tally.count(answers.trace, opened=opened)
        said = what_happened(answers.trace, HEDGE_AFTER, opened=opened)
        self._console.print(f'   "{message.text}" -> {answers.choice(TEAM).choice}')
        self._console.print(TerminalTimeline(answers.trace, indent=INDENT))
        self._console.print(f"   {said}\n")

    def _note(self, _name: str, _before: str, after: str) -> None:
        if after == "open":
            self._changes.append(after)

"""`decide ask`: questions about a state, answered and judged."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import partial
from pathlib import Path

import anyio
import click

from decide.cli._asked import AskingCommand, questions_in_order
from decide.cli._consoles import Words, err, out, warnings_in_one_line
from decide.cli._documents import document
from decide.cli._durations import Duration
from decide.cli._engines import LOCAL, STRATEGIES, Servers, compose, engines_from, refuse_unanswerable
from decide.cli._exits import Exit
from decide.cli._files import policy_called, questions_in
from decide.cli._questions import collect
from decide.cli._render import AnswerBlock, failure_text, why_not_all
from decide.cli._runs import Finished, run
from decide.cli._state import read_state
from decide.engines.dialects import DIALECTS
from decide.observe.timelines import TerminalTimeline
from decide.questions import ScoreRequest

_HELP = """
Ask bounded questions about a state, and learn whether you may act on the answers.

A question is written KEY: TEXT | part | part. The key ends at the first colon and blank; parts are separated by a bar
with a blank on either side; a part is an ID, or ID=DESCRIPTION. Anything that needs these characters goes into a file.

\b
  --choice    exactly one of the parts; *ID marks the one that means none of these
  --noul      yes or no, as the probability of yes; the parts true=... and false=... say what each means
  --score     a place on a scale; the parts are the levels, the lowest first
  --relevant  each part judged on its own; several may hold, or none

\b
Examples:
  decide ask --state "My card was charged twice" --accept-proposals \\
    --choice "team: Which team? | billing=charges and refunds | technical=bugs and errors"
  decide ask --state - --noul "angry: Is the writer angry?" < message.txt
  decide ask --state "It is down again" --questions questions.toml --json
  decide ask --state "Hello" --noul "greeting: Is it a greeting?" \\
    --engine http://127.0.0.1:8000 --engine local --strategy hedged --after 50ms

The local engine reports its own numbers, and nobody has measured how often they are right. Such an answer is a
proposal, not something to act on; --accept-proposals lets proposals count.

\b
Exit status:
  0  every question has an answer that may be acted on
  1  the engines failed
  2  the command line is wrong
  3  at least one question has no answer that may be acted on
  4  stopped: a quota or budget is spent, something is misconfigured, or the service refuses
  74  the output cannot be written
  130  interrupted
  141  whoever read the output went away
"""


@click.command(cls=AskingCommand, help=_HELP, short_help="Ask questions about a state, judged.")
@click.option("--state", required=True, metavar="TEXT", help="What the questions are about; - reads it from stdin.")
@click.option("--choice", multiple=True, metavar="QUESTION", help="Exactly one of the parts. Repeatable.")
@click.option("--noul", multiple=True, metavar="QUESTION", help="Yes or no. Repeatable.")
@click.option("--score", multiple=True, metavar="QUESTION", help="A place on a scale. Repeatable.")
@click.option("--relevant", "--relevance", multiple=True, metavar="QUESTION", help="Each part on its own. Repeatable.")
@click.option(
    "--questions", type=click.Path(path_type=Path), metavar="FILE", help="Questions as JSON, or TOML in a .toml."
)
@click.option(
    "--engine", "engines", multiple=True, metavar="local|NAME|URL", help=f"Who answers. Repeatable.  [default: {LOCAL}]"
)
@click.option(
    "--dialect",
    type=click.Choice(tuple(DIALECTS)),
    default="systemone",
    show_default=True,
    help="What servers named by URL speak.",
)
@click.option("--key-variable", default="", metavar="NAME", help="The environment variable with the server's key.")
@click.option("--model", default="", metavar="NAME", help="The model to ask servers for; some insist on a name.")
@click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    help="How several engines work together.  [default: single for one, fallback for several, hedged with --after]",
)
@click.option("--after", type=Duration(), help="Silence of the primary that starts the backup of a hedge, as 50ms.")
@click.option(
    "--policy",
    default="narrowing",
    show_default=True,
    metavar="narrowing|durable|FILE",
    help="The bars that answers are held to.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--accept-proposals", is_flag=True, help="Let the proposals of a self-reported engine count as answers.")
@click.pass_context
def ask(
    ctx: click.Context,
    /,
    *,
    state: str,
    questions: Path | None,
    engines: tuple[str, ...],
    model: str,
    dialect: str,
    key_variable: str,
    strategy: str | None,
    after: float | None,
    policy: str,
    as_json: bool,
    accept_proposals: bool,
    **_: object,
) -> None:
    """
    Ask, print, and end with the status that the answers deserve.
    """
    from_file = questions_in(questions).items() if questions else ()
    asked = collect([*from_file, *questions_in_order(ctx)])
    bars = policy_called(policy)
    servers = Servers(model=model, dialect=dialect, key_variable=key_variable)
    built = engines_from(engines or (LOCAL,), servers)
    refuse_unanswerable(built, asked)
    engine = compose(built, strategy, after, bars)
    request = ScoreRequest(text=read_state(state), questions=asked)
    with warnings_in_one_line():
        finished = anyio.run(partial(run, engine, request, bars, accept_proposals=accept_proposals))
    if as_json:
        click.echo(json.dumps(document(finished, engine.strategy), indent=2))
    else:
        _show(finished, asked)
    ctx.exit(finished.exit)


def _show(finished: Finished, asked: Collection[str]) -> None:
    console = out()
    for one in finished.judged:
        console.print(AnswerBlock(one))
        console.print()
    if finished.trace.attempts:
        console.print(TerminalTimeline(finished.trace))
    if finished.exit in (Exit.FAILED, Exit.STOPPED):
        err().print(failure_text(finished.exit, finished.trace, finished.error))
    elif not finished.judged:
        err().print("no answer: no engine has an opinion")
    elif finished.exit is Exit.NOT_ACTIONABLE:
        console.print()
        for line in why_not_all(finished.judged, asked):
            console.print(Words(line, "dim"))

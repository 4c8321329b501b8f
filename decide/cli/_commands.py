"""The commands of `decide`, and how each of its endings becomes an exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from decide.cli._ask import ask
from decide.cli._demo import demo
from decide.cli._exits import Exit
from decide.cli._trust import trust, untrust

_HELP = """
One trustworthy decision out of several engines.

\b
  decide demo   see what hedging, fallback and a breaker do, in ten seconds
  decide ask    ask questions about a state, and learn whether you may act on the answers
  decide trust  let a server on another machine be asked

\b
Try:
  decide demo
  decide ask --state "My card was charged twice" --accept-proposals \\
    --choice "team: Which team? | billing=charges and refunds | technical=bugs and errors"
"""


@click.group(help=_HELP, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(package_name="decide-engine", prog_name="decide")
def decide() -> None:
    """
    Hold the commands together.
    """


decide.add_command(ask)
decide.add_command(demo)
decide.add_command(trust)
decide.add_command(untrust)


def run(args: Sequence[str] | None = None) -> int:
    """
    Run one command and return its exit status. Usage errors and Ctrl-C end with a sentence, never with a traceback.
    """
    try:
        status = decide.main(args, prog_name="decide", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        sys.stderr.write("interrupted\n")
        return Exit.INTERRUPTED
    return status if isinstance(status, int) else Exit.ACTIONABLE

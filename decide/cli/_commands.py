"""The commands of `decide`, and how each of its endings becomes an exit status."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence

import click

from decide.cli._ask import ask
from decide.cli._demo import demo
from decide.cli._exits import Exit
from decide.cli._lost_output import first_os_error, unwritten
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
    Run one command and return its exit status. Whatever a caller can cause ends with a sentence, never a traceback.
    """
    if sys.stdout is None:
        return unwritten(OSError(errno.EBADF, "stdout is closed"))
    try:
        status = decide.main(args, prog_name="decide", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        sys.stderr.write("interrupted\n")
        return Exit.INTERRUPTED
    except SystemExit:
        # How click ends when the reader of its help has gone away.
        return unwritten(BrokenPipeError(errno.EPIPE, ""))
    except OSError as error:
        return unwritten(error)
    except ExceptionGroup as group:
        # What fails to be printed inside a task group leaves it wrapped.
        return unwritten(first_os_error(group))
    return status if isinstance(status, int) else Exit.ACTIONABLE

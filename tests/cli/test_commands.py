"""The command around its commands: help, version, missing extras, interrupts, and where it prints."""

import contextlib
import io
import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from decide.cli import _commands, main
from decide.cli._consoles import console_on
from decide.cli._exits import Exit
from tests.cli.conftest import Decide, reacting_to

COMMAND = (sys.executable, "-m", "decide.cli")
TEAM = ("--choice", "team: Which team? | billing=charges | technical=bugs")
ASKED = ("--state", "x", *TEAM)


@pytest.fixture
def silent_server() -> Iterator[socket.socket]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def test_help_shows_the_two_commands_and_an_example(decide: Decide) -> None:
    ended = decide("--help")

    assert ended.exit == 0
    assert "decide demo" in ended.out
    assert "decide ask --state" in ended.out


def test_the_help_of_ask_teaches_the_grammar_and_every_exit_status(decide: Decide) -> None:
    said = decide("ask", "--help").out

    assert "KEY: TEXT | part | part" in said
    assert all(f"\n    {status.value}  " in said for status in Exit)
    assert "Examples:" in said


def test_the_version_is_the_distribution_s(decide: Decide) -> None:
    assert decide("--version").out == f"decide, version {version('decide-engine')}\n"


def test_an_unknown_command_ends_with_2(decide: Decide) -> None:
    ended = decide("guess")

    assert ended.exit == 2
    assert "No such command 'guess'" in ended.err


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_its_extra_the_command_says_what_to_install(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for loaded in [name for name in sys.modules if name.startswith("decide.cli._") or name.split(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, missing, None)

    assert main([]) == 2
    assert (
        "install the extras decide-engine[cli,local], in a checkout with: pip install -e '.[all]'"
        in capsys.readouterr().err
    )


def test_without_its_extra_the_local_engine_says_what_to_install(
    decide: Decide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sparrow_decider", None)

    ended = decide("ask", "--state", "x", *TEAM)

    assert ended.exit == 2
    assert "decide-engine[local]" in ended.err


def interrupted(args: tuple[str, ...], when_waiting: socket.socket) -> tuple[int, str]:
    """Send Ctrl-C to the command as soon as it waits for the server; return its exit status and what it said."""
    with reacting_to(signal.SIGINT, signal.SIG_DFL):
        begun = subprocess.Popen([*COMMAND, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with begun as process:
        connection, _ = when_waiting.accept()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        connection.close()
    return process.returncode, said


def test_ctrl_c_ends_with_130_and_no_traceback(silent_server: socket.socket) -> None:
    url = f"http://127.0.0.1:{silent_server.getsockname()[1]}"

    status, said = interrupted(("ask", "--state", "x", *TEAM, "--engine", url), silent_server)

    assert status == 130
    assert said.strip() == "interrupted"


def test_ctrl_c_before_anything_is_loaded_ends_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(_commands, "run", interrupt)

    assert main([]) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("args", [("--help",), ("ask", *ASKED), ("ask", *ASKED, "--json"), ("demo",)])
def test_a_reader_that_goes_away_ends_the_command_quietly(args: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([*COMMAND, *args], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)

    assert (ended.returncode, ended.stderr) == (141, "")


def test_a_reader_that_leaves_in_the_middle_of_the_demo_ends_it_quietly() -> None:
    with subprocess.Popen([*COMMAND, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("1."):
            pass
        process.stdout.close()
        process.stdout = None
        _, said = process.communicate(timeout=20)

    assert (process.returncode, said) == (141, "")


@pytest.mark.parametrize("args", [("--help",), ("ask", *ASKED), ("ask", *ASKED, "--json"), ("demo",)])
def test_a_full_disk_is_told_in_a_sentence(args: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run([*COMMAND, *args], stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert ended.returncode == 74
    assert ended.stderr == "decide: the output cannot be written: No space left on device\n"


def test_a_closed_stdout_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)

    assert main(["ask", *ASKED]) == 74
    assert capsys.readouterr().err == "decide: the output cannot be written: stdout is closed\n"


def test_a_closed_stderr_changes_no_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)

    assert main(["ask", *ASKED, "--engine", "http://127.0.0.1:9"]) == 1


def test_the_package_can_be_run_by_its_name() -> None:
    ended = subprocess.run([sys.executable, "-m", "decide", "--version"], capture_output=True, text=True, check=False)

    assert ended.stdout.startswith("decide, version ")


def on_a_terminal(**environment: str) -> str:
    """What the command shows on a terminal of 100 columns."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "ask", "--state", "My card was charged twice", *TEAM],
        stdout=theirs,
        stdin=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "PYTHONUTF8": "1", **environment},
    ):
        os.close(theirs)
        shown = b""
        # Reading from a terminal whose other end is closed is an error, not an empty read.
        with contextlib.suppress(OSError):
            while chunk := os.read(ours, 65536):
                shown += chunk
    os.close(ours)
    return shown.decode()


def test_a_terminal_gets_colours() -> None:
    assert "\x1b[1;33mproposal\x1b[0m" in on_a_terminal()


def test_no_color_is_respected() -> None:
    shown = on_a_terminal(NO_COLOR="1")

    assert "\x1b" not in shown
    assert "proposal" in shown


def test_what_an_encoding_lacks_is_escaped() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")

    console_on(file).print("Grüße")
    file.seek(0)

    assert file.read() == "Gr\\xfc\\xdfe\n"


def test_what_looks_like_markup_is_printed_as_it_stands() -> None:
    file = io.StringIO()

    console_on(file).print("[red]no[/red] :smile:")

    assert file.getvalue() == "[red]no[/red] :smile:\n"

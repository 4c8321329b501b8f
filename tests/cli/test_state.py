"""The state that is asked about: what is refused before anything is asked."""

import sys

import pytest

from decide.cli import main
from decide.cli._state import MOST_BYTES
from tests.cli.conftest import Decide

TEAM = ("--choice", "team: Which team? | billing=charges | technical=bugs")


@pytest.mark.parametrize("state", ["", " \n\t"])
def test_an_empty_state_is_not_acted_on(decide: Decide, state: str) -> None:
    written, piped = decide("ask", "--state", state, *TEAM), decide("ask", "--state", "-", *TEAM, stdin=state.encode())

    assert (written.exit, piped.exit) == (2, 2)
    assert "--state: the state is empty" in written.err
    assert "--state -: the state is empty" in piped.err


def test_bytes_that_are_no_text_are_refused_wherever_they_come_from(decide: Decide) -> None:
    written, piped = decide("ask", "--state", "\udcff", *TEAM), decide("ask", "--state", "-", *TEAM, stdin=b"\xff")

    assert (written.exit, piped.exit) == (2, 2)
    assert "the state is not UTF-8" in written.err
    assert "the state is not UTF-8" in piped.err


@pytest.mark.parametrize("question", ["--choice", "--noul"])
def test_a_question_that_is_no_text_is_refused(decide: Decide, question: str) -> None:
    ended = decide("ask", "--state", "x", question, "k: \udcff? | a | b")

    assert ended.exit == 2
    assert f"{question}: what was written is not UTF-8" in ended.err


def test_a_state_beyond_the_limit_is_refused_with_the_limit(decide: Decide) -> None:
    ended = decide("ask", "--state", "-", *TEAM, stdin=b"x" * (MOST_BYTES + 1))

    assert ended.exit == 2
    assert "longer than 1000000 bytes" in ended.err


def test_a_long_state_is_answered_like_its_beginning(decide: Decide) -> None:
    message = b"My card was charged twice. " * 200
    short = decide("ask", "--state", "-", *TEAM, "--json", stdin=message)
    long = decide("ask", "--state", "-", *TEAM, "--json", stdin=message + b"The app crashed. " * 50_000)

    assert long.exit == 3
    assert long.json["answers"] == short.json["answers"]


def test_a_closed_stdin_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    assert main(["ask", "--state", "-", *TEAM]) == 2
    assert "stdin is closed" in capsys.readouterr().err

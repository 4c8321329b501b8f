"""Servers on other machines: asked only when a person has let them be, after being told what they would get."""

import os
from pathlib import Path

import pytest

from decide.cli import main
from decide.engines.trust import Trust
from tests.cli.conftest import Decide, choosing, replying
from tests.engines.pooling import keeping

REMOTE = "https://decider.example.com"
ASK = ("ask", "--state", "x", "--choice", "team: Which team? | billing=charges | technical=bugs")


@pytest.fixture(autouse=True)
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "decide" / "trusted"


def test_nothing_is_trusted_to_begin_with(decide: Decide) -> None:
    assert decide("trust").out == "No server on another machine is trusted.\n"


def test_what_a_server_would_get_is_told_before_it_is_trusted(decide: Decide, trusted: Path) -> None:
    ended = decide("trust", f"{REMOTE}/")

    assert ended.exit == 0
    assert ended.out.splitlines() == [
        f"`decide ask --engine {REMOTE}` sends there, for every question that you ask:",
        "  - the whole text of --state",
        "  - every question: its key, its text, its options or levels, and what each means",
        "  - the model's name, when you give one with --model",
        "  - a key, when you name its environment variable with --key-variable",
        "It sends no file, and nothing else from the environment.",
        "It goes straight there.",
        f"Trusted: {REMOTE} (in {trusted})",
    ]
    assert decide("trust").out == f"{REMOTE}\n"
    assert f"Already trusted: {REMOTE}" in decide("trust", REMOTE).out


def test_the_customary_key_of_a_known_service_is_told_too(decide: Decide) -> None:
    said = decide("trust", "https://api.typesafe.ai").out

    assert "the key in TYPESAFE_API_KEY, when you write --engine typesafe" in said
    assert "OPENROUTER" not in said


@pytest.mark.parametrize(
    ("proxy", "said"),
    [
        ("http://me:hunter2@proxy.example.com:3128", "through the proxy http://proxy.example.com:3128."),
        ("socks5://p:1", "nowhere as long as the environment names a proxy that cannot be used."),
    ],
)
def test_the_way_there_is_told_without_its_secrets(
    decide: Decide, monkeypatch: pytest.MonkeyPatch, proxy: str, said: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)

    out = decide("trust", REMOTE).out

    assert f"It goes {said}" in out
    assert "hunter2" not in out


def test_plain_http_is_told(decide: Decide) -> None:
    assert "It goes straight there, not encrypted." in decide("trust", "http://decider.example.com").out


def test_this_machine_needs_no_trust(decide: Decide, trusted: Path) -> None:
    assert (
        decide("trust", "http://localhost:8000").out == "http://localhost:8000 is this machine, which needs no trust.\n"
    )
    assert not trusted.exists()


@pytest.mark.parametrize("command", ["trust", "untrust"])
@pytest.mark.parametrize("url", ["http://evil.test?@127.0.0.1/", "https://h/a/../b", "ftp://h", "https://u:hunter2@h"])
def test_a_url_that_cannot_be_trusted_is_a_usage_error_that_repeats_no_password(
    decide: Decide, command: str, url: str
) -> None:
    ended = decide(command, url)

    assert ended.exit == 2
    assert "URL: " in ended.err
    assert "hunter2" not in ended.err


def test_trust_can_be_taken_back(decide: Decide, trusted: Path) -> None:
    decide("trust", REMOTE)

    assert decide("untrust", REMOTE).out == f"No longer trusted: {REMOTE}\n"
    assert not trusted.exists()
    again = decide("untrust", REMOTE)
    assert (again.exit, "is not trusted" in again.err) == (2, True)


@pytest.mark.parametrize("engine", [REMOTE, "typesafe", "http://127.0.0.1.example.com"])
def test_nothing_is_sent_to_a_server_elsewhere_before_it_is_trusted(decide: Decide, engine: str) -> None:
    ended = decide(*ASK, "--engine", engine)

    assert ended.exit == 2
    assert "`decide trust http" in ended.err


def test_a_server_elsewhere_is_asked_once_it_is_trusted(decide: Decide, monkeypatch: pytest.MonkeyPatch) -> None:
    with keeping() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("MINE", "sk-sentinel")
        engine = ("--engine", "http://decider.example.com/base")
        assert decide(*ASK, *engine).exit == 2
        assert proxy.opened == 0
        decide("trust", "http://decider.example.com")

        ended = decide(*ASK, *engine)
        refused = decide(*ASK, *engine, "--key-variable", "MINE")

    assert proxy.heads[0].startswith(b"POST http://decider.example.com/base/v1/systemone")
    assert ended.exit == 3
    assert "clear text" in refused.err
    assert b"sk-sentinel" not in b"".join(proxy.heads)


def test_the_key_of_the_one_server_is_read_from_the_variable_that_is_named(
    decide: Decide, monkeypatch: pytest.MonkeyPatch
) -> None:
    with keeping() as server:
        monkeypatch.setenv("MINE", "sk-sentinel")
        ended = decide(*ASK, "--engine", server.url, "--engine", "local", "--key-variable", "MINE")
        unset = decide(*ASK, "--engine", server.url, "--key-variable", "OTHER")
        several = decide(*ASK, "--engine", server.url, "--engine", server.url, "--key-variable", "MINE")

    assert b"Bearer sk-sentinel" in server.heads[0]
    assert "sk-sentinel" not in f"{ended}{unset}{several}"
    assert (unset.exit, several.exit) == (4, 2)
    assert "OTHER" in unset.err
    assert "exactly one --engine that is a server" in several.err


def test_servers_can_be_named_and_their_dialect_said(decide: Decide) -> None:
    with replying(200, choosing(billing=0.97, technical=0.03)) as url:
        spoken = decide(*ASK, "--engine", url, "--dialect", "chalk")
        other = decide(*ASK, "--engine", url, "--dialect", "openai")

    assert spoken.exit == 0
    assert other.exit == 4
    assert "dialect" in other.err
    assert "name the server" not in decide(*ASK, "--engine", "ollama").err


def test_a_list_that_cannot_be_read_or_written_is_a_usage_error(decide: Decide, trusted: Path) -> None:
    trusted.mkdir(parents=True)

    for args in (("trust",), ("trust", REMOTE), ("untrust", REMOTE), (*ASK, "--engine", REMOTE)):
        ended = decide(*args)
        assert (ended.exit, str(trusted) in ended.err) == (2, True)


def test_help_shows_what_trust_is_for(decide: Decide) -> None:
    assert "decide trust" in decide("--help").out
    assert "whole segments" in " ".join(decide("trust", "--help").out.split())
    assert main(["untrust", "--help"]) == 0
    assert os.environ["XDG_STATE_HOME"] in str(Trust().path)

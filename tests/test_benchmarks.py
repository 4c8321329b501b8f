"""The benchmark of overheads runs and measures every row it promises; how fast anything is, is not tested."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PEERS = ["nopanic", "grit-toolkit", "hyx", "pyresilience", "interlock-cb", "pydecide", "pydantic-ai-slim", "litellm"]
FLOORS = {
    "bare await",
    "anyio.CancelScope",
    "anyio.move_on_after",
    "hedge in an anyio task group",
    "race in an anyio task group",
}
OURS = {
    "single",
    "fallback answers",
    "fallback fails",
    "hedged",
    "race",
    "breaker adds",
    "breaker open",
    "budget adds",
    "chain of three",
}


def run(cache: Path, *options: str) -> str:
    """What a quick run prints, with what *cache* holds of peers."""
    command = [sys.executable, str(ROOT / "benchmarks" / "overhead.py"), "--quick", *options]
    env = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    ran = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
    assert ran.returncode in {0, 1}, ran.stderr
    return ran.stdout


def pretend_installed(cache: Path, peer: str, script: str) -> None:
    """Put a script where the benchmark keeps the interpreter of a peer."""
    place = cache / "decide" / "benchmarks" / f"{sys.implementation.cache_tag}-{peer}"
    python = place / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    python.chmod(0o755)
    (place / "complete").touch()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    cache = tmp_path_factory.mktemp("cache")
    pretend_installed(cache, "nopanic-0.3.0", """echo '{"H": {"hedged": 1.1}, "bytes hedged": 3060}'""")
    pretend_installed(cache, "hyx-0.0.2", "echo 'AttributeError: it is another hyx' >&2; exit 1")
    found: dict[str, Any] = json.loads(run(cache, "--json"))
    return found


def test_every_call_of_ours_is_measured_on_both_backends_beside_those_written_by_hand(measured: dict[str, Any]) -> None:
    for backend in ("asyncio", "trio"):
        assert set(measured[backend]["us"]) >= FLOORS | OURS
        assert measured[backend]["per CPU second"]["Chain(Hedged(Breaker))"] > 0
        assert measured[backend]["bytes in flight"]["Hedged"] > 0
    assert measured["H us"] > 0


def test_every_goal_has_its_number(measured: dict[str, Any]) -> None:
    goals = {goal["what"]: goal for goal in measured["goals"]}

    assert len(goals) == len(measured["goals"]) == 14
    assert all(goal["value"] is not None and goal["holds"] in {True, False} for goal in goals.values())


def test_import_decide_loads_anyio_and_attrs_only(measured: dict[str, Any]) -> None:
    assert measured["import"]["loads besides"] == []


def test_a_peer_that_cannot_be_measured_says_why_and_stops_nothing(measured: dict[str, Any]) -> None:
    peers = measured["peers"]

    assert list(peers) == PEERS
    assert peers["nopanic"]["H"] == {"hedged": 1.1}
    assert peers["hyx"]["not measured"] == "its calls failed: AttributeError: it is another hyx"
    assert peers["litellm"]["not measured"] == "not installed, and a quick run installs nothing"


def test_the_tables_name_the_machine_the_goals_and_the_missing_peers(tmp_path: Path) -> None:
    printed = run(tmp_path)

    assert printed.startswith(("CPython", "PyPy"))
    assert "| Hedged, timer never fires " in printed
    assert "nopanic 0.3.0: not measured: not installed, and a quick run installs nothing" in printed

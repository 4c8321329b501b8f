"""The benchmark of the client runs and measures every row it promises; how fast anything is, is not tested."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "benchmarks" / "client.py"
ROWS = {
    "raw socket",
    "httpcore2: post, parse",
    "httpx2: post, parse",
    "typesafe-sdk: system_one",
    "decide: score",
    "decide: Chain.score",
}


def run(*options: str) -> str:
    command = [sys.executable, str(SCRIPT), "--quick", *options]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode in {0, 1}, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("--json"))
    return found


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("at_once", ["1", "64"])
def test_every_client_is_measured_in_one_run(measured: dict[str, Any], backend: str, at_once: str) -> None:
    assert measured[backend][at_once].keys() == ROWS
    assert all(spent["us"] > 0 for spent in measured[backend][at_once].values())
    assert measured[backend][at_once]["httpx2: post, parse"]["of the bare client"] == 1.0


def test_reading_is_measured_beside_mere_parsing(measured: dict[str, Any]) -> None:
    spent = measured["reading 64 answers, ms"]

    assert 0 < spent["json.loads"] < spent["read and checked"]


def test_the_tables_have_every_row() -> None:
    said = run()

    assert all(f"| {row} |" in said for row in ROWS)

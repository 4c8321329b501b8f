"""Peers, each in a venv of its own, made once and kept in the user's cache: one of them is called `decide` too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

RELEASES = {
    "nopanic": "0.3.0",
    "grit-toolkit": "0.2.0",
    "hyx": "0.0.2",
    "pyresilience": "0.4.1",
    "interlock-cb": "2.8.2",
    "pydecide": "0.2.19",
    "pydantic-ai-slim": "2.68.0",
    "litellm": "1.110.2",
}
_CALLS = Path(__file__).with_name("_peer_calls.py")
_INSTALLING, _MEASURING = 900, 600
_QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
"""LiteLLM would fetch a price list when it is imported: a benchmark talks to nobody."""


class NotMeasuredError(Exception):
    """
    A peer that cannot be measured here, and why.
    """


def measure_all(*, quick: bool, told: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """
    Return what each peer's calls cost, or under `not measured` why nothing is known.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, version in RELEASES.items():
        told(name)
        try:
            python = _python_with(name, version, install=not quick, told=told)
            found[name] = {"version": version, **_measured(python, name, quick=quick)}
        except NotMeasuredError as reason:
            found[name] = {"version": version, "not measured": str(reason)}
    return found


def _python_with(name: str, version: str, *, install: bool, told: Callable[[str], None]) -> Path:
    place = _cache() / f"{sys.implementation.cache_tag}-{name}-{version}"
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    complete = place / "complete"
    if complete.exists():
        return python
    if not install:
        raise NotMeasuredError("not installed, and a quick run installs nothing")
    told(f"{name}: installing")
    try:
        venv.create(place, with_pip=True, clear=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotMeasuredError(f"no venv can be made here: {type(error).__name__}") from error
    command = [str(python), "-m", "pip", "install", "--quiet", f"{name}=={version}"]
    if _run(command, _INSTALLING).returncode:
        raise NotMeasuredError("it cannot be installed here")
    complete.touch()
    return python


def _measured(python: Path, name: str, *, quick: bool) -> dict[str, Any]:
    ran = _run([str(python), str(_CALLS), name, "quick" if quick else "full"], _MEASURING)
    if ran.returncode:
        last = next(_lines_from_the_end(ran.stderr), f"exit code {ran.returncode}")
        raise NotMeasuredError(f"its calls failed: {last[:100]}")
    measured: dict[str, Any] = json.loads(next(_lines_from_the_end(ran.stdout)))
    return measured


def _lines_from_the_end(text: str) -> Iterator[str]:
    return (line.strip() for line in reversed(text.splitlines()) if line.strip())


def _run(command: list[str], seconds: float) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | _QUIET
    try:
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=seconds, check=False)  # noqa: S603 - a command of ours
    except subprocess.TimeoutExpired:
        raise NotMeasuredError(f"still at it after {seconds:g} s") from None
    except OSError as error:
        raise NotMeasuredError(f"it does not start: {type(error).__name__}") from error


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "decide" / "benchmarks"

"""The guides to the engines and to questions, run as a reader would run them, and held to what there is."""

import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from decide.engines.dialects import DIALECTS
from decide.engines.presets import PRESETS
from decide.requests import Request

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = DOCS / "engines.md"


def run(page: Path) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, page.name, "exec"), names)
    return names


@pytest.fixture(scope="module")
def guide() -> dict[str, Any]:
    return run(GUIDE)


@pytest.mark.parametrize(
    ("message", "team"), [("My card was charged twice", "billing"), ("The app crashes on start", "technical")]
)
def test_the_local_example_finds_the_team(guide: dict[str, Any], message: str, team: str) -> None:
    assert anyio.run(guide["team_for"], message) == team


def test_the_function_of_the_example_decides_or_abstains(guide: dict[str, Any]) -> None:
    assert anyio.run(guide["greeter"].decide, Request(text="Hello")).module.value == "chat"
    assert anyio.run(guide["greeter"].decide, Request(text="Goodbye")) is None


def test_the_servers_of_the_example_are_built_without_their_key_in_sight(guide: dict[str, Any]) -> None:
    assert "api_key" not in f"{guide['hosted']!r}{guide['nearby']!r}"


def test_the_guide_to_questions_runs() -> None:
    assert "degenerate" in run(DOCS / "encoding.md")


def test_the_guide_names_every_dialect_and_every_preset() -> None:
    said = GUIDE.read_text(encoding="utf-8")

    assert all(f"| `{dialect}` |" in said for dialect in DIALECTS)
    assert ", ".join(PRESETS) in " ".join(said.split())

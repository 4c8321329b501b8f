"""The guide to the engines, run as a reader would run it."""

import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from decide.requests import Request

GUIDE = Path(__file__).parents[2] / "docs" / "engines.md"


@pytest.fixture(scope="module")
def guide() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, GUIDE.name, "exec"), names)
    return names


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

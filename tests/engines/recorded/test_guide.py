"""The guide to recorded answers, run as a reader would run it."""

import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from decide import Request, ScoreRequest

GUIDE = Path(__file__).parents[3] / "docs" / "recorded.md"


@pytest.fixture(scope="module")
def guide() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, GUIDE.name, "exec"), names)
    return names


def test_the_corpus_of_the_example_answers_decides_and_abstains(guide: dict[str, Any]) -> None:
    answers, taxonomy = guide["answers"], guide["TAXONOMY"]
    asked = ScoreRequest(text="I was charged twice", questions=guide["TEAM"])

    assert anyio.run(answers.score, asked).choice("team").choice == "billing"
    assert anyio.run(answers.decide, Request(text="Refund me", taxonomy=taxonomy)).intent.value == "refund"
    assert anyio.run(answers.decide, Request(text="Hm", taxonomy=taxonomy)) is None


def test_the_tape_of_the_example_is_recorded_and_played(guide: dict[str, Any], tmp_path: Path) -> None:
    anyio.run(guide["recorded"], str(tmp_path / "a.json"))

    assert guide["replayed"](str(tmp_path / "a.json")) == "billing"

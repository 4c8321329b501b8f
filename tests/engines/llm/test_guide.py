"""The guide to language models, run as a reader would run it."""

import re
from pathlib import Path
from typing import Any

import anyio
import pytest

GUIDE = Path(__file__).parents[3] / "docs" / "llm.md"


@pytest.fixture(scope="module")
def guide() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, GUIDE.name, "exec"), names)
    return names


def test_a_model_of_ones_own_answers_the_questions_of_the_example(guide: dict[str, Any]) -> None:
    assert anyio.run(guide["triage"], "charged twice", guide["echo"]) == ("billing", 0.2)


def test_the_models_of_the_example_are_built_for_this_machine(guide: dict[str, Any]) -> None:
    assert "127.0.0.1" in f"{guide['nearby']!r}"
    assert "127.0.0.1" in f"{guide['measured']!r}"

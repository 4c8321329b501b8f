"""The guide to composing, run as a reader would run it, and its pictures, drawn again."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "docs" / "composing.md").read_text(encoding="utf-8")
IMAGES = ROOT / "docs" / "images"


@pytest.mark.real_time
def test_the_examples_of_the_guide_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    names: dict[str, object] = {}

    for block in blocks:
        exec(compile(block, "docs/composing.md", "exec"), names)

    assert len(blocks) == 14


def test_every_picture_is_what_its_script_draws(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(ROOT / "examples" / "draw_composing.py"), str(tmp_path)], check=True)

    drawn = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert drawn == {path.name: path.read_text(encoding="utf-8") for path in IMAGES.glob("composing-*.svg")}


def test_the_guide_shows_every_picture_and_only_those() -> None:
    assert set(re.findall(r"\(images/(.*?)\)", GUIDE)) == {path.name for path in IMAGES.glob("composing-*.svg")}

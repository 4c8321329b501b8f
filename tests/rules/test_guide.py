"""The guide and the benchmark of the rules, run as a reader would run them."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_examples_of_the_guide_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "rules.md").read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}

    for block in blocks:
        exec(compile(block, "docs/rules.md", "exec"), names)

    assert len(blocks) == 3


def test_a_lookup_among_ten_thousand_phrases_costs_at_most_three_times_one_among_ten() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "rules.py"), "--json", "--rounds", "5"]
    measured = json.loads(subprocess.run(command, check=False, capture_output=True, text=True).stdout)

    assert measured["holds"], measured
    assert set(measured["kinds"]) == {"exact", "starts_with", "contains", "pattern"}

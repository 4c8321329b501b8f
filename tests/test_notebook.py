"""The quickstart notebook: it runs from top to bottom, shows traces as pictures, and is committed with its outputs."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "examples" / "quickstart.ipynb"


def read() -> Any:
    """The notebook as it is committed."""
    return nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call] # nbformat has no types


def pictures(notebook: Any) -> list[str]:
    """Every picture in its outputs, in order."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]


def told(notebook: Any) -> list[bool]:
    """For every picture whether the hedge, the fallback and the breaker show in it."""
    return [word in picture for picture in pictures(notebook) for word in ("hedge fired", "fallback fired", "circuit")]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The notebook after a run in a fresh kernel."""
    notebook = read()
    place = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place).execute()
    return notebook


def test_it_runs_and_tells_the_story_that_its_committed_pictures_tell(executed: Any) -> None:
    assert told(executed) == told(read())
    assert told(executed) == [False] * 6 + [True, False, False] + [False, True, False] + [False, True, True]


def test_a_trace_shows_itself_as_a_picture(executed: Any) -> None:
    assert all(picture.startswith("<svg ") and picture.endswith("</svg>") for picture in pictures(executed))


def test_it_is_committed_as_a_run_from_the_top_leaves_it() -> None:
    counts = [cell.execution_count for cell in read().cells if cell.cell_type == "code"]

    assert counts == list(range(1, len(counts) + 1))


def test_it_holds_nothing_of_the_machine_it_ran_on() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")

    assert not [trace for trace in ("/root", "/home", "/tmp", "/Users", "site-packages", "iopub") if trace in text]
    assert all(not cell.metadata for cell in read().cells)

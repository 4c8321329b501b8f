"""The fixture for our users' tests, used as they would use it: recorded once, played without the engine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFTEST = 'pytest_plugins = ["decide.testing.tapes"]\n'
TESTS = """
import os

import anyio
import pytest

from decide import Chain, Decided, Hedged, NoulAnswer, NoulQuestion, ScoreRequest, ScoreResult


class Live:
    def __init__(self, name):
        self.name = name

    async def score(self, request):
        assert os.environ.get("LIVE"), "a live engine was asked"
        await anyio.sleep(0)
        return ScoreResult(answers={"n": NoulAnswer(noul=0.9 if self.name == "one" else 0.1)})


REQUEST = ScoreRequest(text="hello", questions={"n": NoulQuestion("Is it a greeting?")})


class TestGreetings:
    @pytest.mark.anyio
    async def test_both(self, tape, anyio_backend):
        one, other = tape(Live("one")), tape(Live("the other/one"))
        ended = await Chain([Hedged(one, Live("never asked"), delay=60)]).score(REQUEST)
        assert ended.result.noul("n").noul == 0.9
        assert (await other.score(REQUEST)).noul("n").noul == 0.1


@pytest.mark.parametrize("text", ["a b", "a-b"])
def test_each_parameter(tape, text):
    request = ScoreRequest(text=text, questions=REQUEST.questions)
    assert anyio.run(tape(Live("one")).score, request).noul("n").noul == 0.9


def test_two_of_one_name(tape):
    with pytest.raises(ValueError, match="already"):
        tape(Live("one")), tape(Live("one"))
"""


def ran(folder: Path, *arguments: str, **environment: str) -> str:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "not two_of",
        *arguments,
        str(folder),
    ]
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_greetings.py").write_text(TESTS)
    return tmp_path


def test_what_was_recorded_once_is_played_without_the_engine(folder: Path) -> None:
    assert "4 passed" in ran(folder, DECIDE_RECORD="1", LIVE="1")

    cassettes = sorted((folder / "tapes" / "test_greetings").iterdir())
    engines = [json.loads(path.read_text())["engine"] for path in cassettes]

    assert sorted(engines) == ["one", "one", "one", "one", "the other/one", "the other/one"]
    assert "4 passed" in ran(folder)


def test_a_test_without_a_tape_says_how_to_make_one(folder: Path) -> None:
    said = ran(folder, "--tb=line")

    assert "4 failed" in said
    assert "no tape of engine 'one': run this test once with DECIDE_RECORD=1" in said


def test_two_engines_of_one_name_are_refused(folder: Path) -> None:
    assert "1 passed" in ran(folder, "-k", "two_of", DECIDE_RECORD="1", LIVE="1")


def test_a_plugin_that_nobody_asked_for_is_not_loaded() -> None:
    script = "import sys, decide.engines.tape; sys.exit('pytest' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0

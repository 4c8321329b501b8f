"""`decide demo`, for real: a process, a proxy, a model, and a story that has to happen."""

import io
import re
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

from decide.answers import ChoiceAnswer, ScoreResult
from decide.asking import Answers
from decide.cli._demo_words import MayIAct, Message, Tally, what_happened
from decide.policies import NARROWING
from decide.questions import ChoiceQuestion, ScoreRequest
from decide.traces import Trace
from tests.cli.conftest import reacting_to
from tests.observe.runs import FELL_BACK, HEDGED, REFUSED_BY_A_BREAKER

DEMO = (sys.executable, "-m", "decide.cli", "demo")


def servers_of(parent: int) -> list[int]:
    """The decision servers that process *parent* has started, by their ids."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [int(pid) for pid, above, args in rows if int(above) == parent and "sparrow_decider" in args]


def is_running(pid: int) -> bool:
    """Tell whether that process still runs."""
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(listed.strip()) and not listed.startswith("Z")


def test_the_whole_story_happens_without_a_terminal() -> None:
    begun = time.monotonic()
    ended = subprocess.run(DEMO, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert time.monotonic() - begun < 10
    assert "\x1b" not in ended.stdout
    assert not [line for line in ended.stdout.splitlines() if line.endswith(" ")]
    healthy, slow, dead = re.split(r"^\d\. .*$", ended.stdout, flags=re.MULTILINE)[1:]
    assert "hedged: server answered after" in healthy
    assert "so local was not asked" in healthy
    assert slow.count("the hedge fired") == 2
    assert "cancelled" in slow
    assert dead.count("the fallback fired") == 3
    assert "and the breaker opens" in dead
    assert "unavailable: circuit open" in dead
    assert "each answer is a proposal (unscored: not_calibrated)" in dead.replace("\n", " ")


@pytest.mark.parametrize(
    ("ask_to_end", "on_ctrl_c"),
    [(signal.SIGINT, signal.SIG_DFL), (signal.SIGTERM, signal.SIG_DFL), (signal.SIGTERM, signal.SIG_IGN)],
)
def test_a_demo_that_is_ended_leaves_no_server_behind(ask_to_end: signal.Signals, on_ctrl_c: signal.Handlers) -> None:
    with reacting_to(signal.SIGINT, on_ctrl_c):
        begun = subprocess.Popen(DEMO, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with begun as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("2."):
            pass
        (server,) = servers_of(process.pid)
        process.send_signal(ask_to_end)
        _, said = process.communicate(timeout=20)

    assert process.returncode == 130
    assert said.strip() == "interrupted"
    assert not is_running(server)


@pytest.mark.parametrize(
    ("trace", "opened", "said"),
    [
        (HEDGED, False, "After 150 ms of silence local was asked too"),
        (FELL_BACK, False, "The server failed, so local was asked at once."),
        (FELL_BACK, True, "and the breaker opens."),
        (REFUSED_BY_A_BREAKER, False, "The breaker is open"),
    ],
)
def test_what_is_said_follows_from_the_trace(trace: Trace, opened: bool, said: str) -> None:
    assert said in what_happened(trace, 0.15, opened=opened)


@pytest.mark.parametrize("width", [40, 60, 80, 110])
def test_every_column_of_the_verdicts_can_be_read_at_any_width(width: int) -> None:
    message = Message("Login fails with error 502 since this morning.", "technical")
    request = ScoreRequest(text=message.text, questions={"team": ChoiceQuestion("Which team?", ["technical", "sales"])})
    answer = ChoiceAnswer(probabilities={"technical": 0.53, "sales": 0.47})
    answers = Answers(request=request, result=ScoreResult(answers={"team": answer}), policy=NARROWING, trace=Trace())
    file = io.StringIO()

    Console(file=file, width=width).print(MayIAct([(message, answers)], "team"))
    lines = file.getvalue().splitlines()

    assert max(map(len, lines)) <= width
    assert not [line for line in lines if line.endswith(" ")]
    words = " ".join(" ".join(lines).split())
    assert all(cell in words for cell in ("Login fails", "technical 0.53", "person", "uncertain: narrow_gap"))


def test_a_story_without_its_turns_is_not_complete() -> None:
    tally = Tally()
    tally.count(HEDGED, opened=False)

    assert not tally.complete


def test_a_story_with_all_its_turns_is_complete() -> None:
    tally = Tally(calm=1)
    for trace, opened in ((HEDGED, False), (FELL_BACK, True), (REFUSED_BY_A_BREAKER, False)):
        tally.count(trace, opened=opened)

    assert tally.complete

"""The labelled messages are well-formed, and the benchmark measures every row it promises, the same every time."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import replying

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
LABELS: dict[str, list[Any]] = {
    "team": ["billing", "technical", "sales", "account"],
    "angry": [False, True],
    "refund": [False, True],
    "urgency": [0, 1, 2],
}
ROWS = {
    *((key, way) for key in LABELS for way in ("described", "shuffled")),
    *((key, "bare") for key in ("team", "angry", "refund")),
    ("refund", "no negation"),
}


def messages() -> list[dict[str, Any]]:
    lines = (BENCHMARKS / "labelled" / "support.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def run(*options: str) -> str:
    command = [sys.executable, str(BENCHMARKS / "quality.py"), *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def by_row(printed: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["question"], row["asked"]): row for row in json.loads(printed)["rows"]}


@pytest.fixture(scope="module")
def printed() -> str:
    return run("--json")


def test_there_are_a_hundred_messages_and_no_two_are_the_same() -> None:
    texts = {message["text"].strip().casefold() for message in messages()}

    assert len(texts) == len(messages()) == 100
    assert all(texts)


def test_every_message_has_every_label_and_nothing_else() -> None:
    for message in messages():
        assert message.keys() == {"text", *LABELS}
        assert all(message[key] in known and type(message[key]) is type(known[0]) for key, known in LABELS.items())


@pytest.mark.parametrize("key", LABELS)
def test_no_label_is_rare(key: str) -> None:
    counts = Counter(message[key] for message in messages())

    assert set(counts) == set(LABELS[key])
    assert min(counts.values()) >= 15


@pytest.mark.parametrize("key", ["angry", "urgency"])
def test_no_team_gives_away_another_label(key: str) -> None:
    pairs = Counter((message["team"], message[key]) for message in messages())

    assert all(pairs[team, label] >= 5 for team in LABELS["team"] for label in LABELS[key])


def test_every_question_is_measured_in_every_way(printed: str) -> None:
    rows = by_row(printed)

    assert rows.keys() == ROWS
    for row in rows.values():
        assert row["n"] == sum(part["n"] for part in row["reliability"]) == 100
        assert 0 <= row["accuracy"] <= 1
        assert (row["mean error"] is None) == (row["question"] != "urgency")


def test_the_same_is_measured_every_time(printed: str) -> None:
    assert run("--json") == printed


def test_what_is_good_in_the_answers_is_lost_on_the_control(printed: str) -> None:
    rows = by_row(printed)

    assert rows["team", "shuffled"]["accuracy"] < rows["team", "shuffled"]["majority"]
    assert rows["team", "described"]["accuracy"] > 0.7


def test_a_server_that_always_says_the_same_is_as_good_as_its_label_is_frequent() -> None:
    certain = {"billing": 0.97, "technical": 0.01, "sales": 0.01, "account": 0.01}
    said = {
        "team": {"type": "choice", "choice": "billing", "probabilities": certain},
        "angry": {"type": "noul", "noul": 0.5},
        "refund": {"type": "noul", "noul": 0.1},
        "urgency": {"type": "score", "score": 1.0, "probabilities": {"0": 0.0, "1": 1.0, "2": 0.0}},
    }

    with replying(200, {"model": "stuck", "answers": said}) as url:
        rows = by_row(run("--json", "--engine", url))

    team, angry, refund, urgency = (rows[key, "described"] for key in LABELS)
    counts = {key: Counter(message[key] for message in messages()) for key in LABELS}
    assert team["accuracy"] == 0.25
    assert team["sure"] == {"share": 1.0, "accuracy": 0.25}
    assert team["reliability"] == [{"from": 0.9, "to": 1.0, "n": 100, "said": 0.97, "accuracy": 0.25}]
    assert angry["near_uniform"] == 1.0
    assert refund["accuracy"] == refund["majority"] == counts["refund"][False] / 100
    assert urgency["mean error"] == (counts["urgency"][0] + counts["urgency"][2]) / 100


def test_the_tables_have_every_row() -> None:
    said = run()

    assert all(f"| {question} | {way} | 100 |" in said for question, way in ROWS)

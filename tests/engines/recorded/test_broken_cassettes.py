"""Files that are no cassettes: refused when they are read, with their name and the place."""

import json
from pathlib import Path
from typing import Any

import pytest

from decide.engines._setup import SetupError
from decide.engines.recorded import RecordedEngine
from decide.engines.tape import replay


def _broken(**changes: Any) -> str:
    recording = {
        "key": "k",
        "request": {},
        "ended": "abstained",
        "seconds": 0.1,
        "report": {},
        **changes.pop("recording", {}),
    }
    whole = {"cassette": 1, "engine": "a", "model": "", "ignored": [], "recordings": [recording], **changes}
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is no such file; record it first"),
        ("", "$: not JSON at line 1, column 1"),
        ("{} x", "$: not JSON"),
        ('{"cassette": 1, "cassette": 1}', "$: a key stands twice"),
        ("[]", "$: expected an object, got a list"),
        ("{}", "$.cassette: is required"),
        (_broken(cassette=2), "$.cassette: expected version 1, got 2"),
        (_broken(recordings=[3]), "$.recordings[0]: expected an object, got a number"),
        (_broken(recording={"ended": "sentinel"}), "$.recordings[0].ended: expected one of answered, abstained"),
        (_broken(recording={"ended": "answered"}), "$.recordings[0].result: is required"),
        (
            _broken(recording={"ended": "answered", "decision": {"module": {"value": 1}}}),
            "$.recordings[0].decision.module.value: expected a string, got a number",
        ),
        (
            _broken(recording={"ended": "failed", "error": {"type": "sentinel"}}),
            "$.recordings[0].error.type: expected the name of an error",
        ),
        (
            _broken(recording={"ended": "failed", "error": {"type": "QuotaError", "cause": {"type": 1}}}),
            "$.recordings[0].error.cause.type: expected a string, got a number",
        ),
        (
            _broken(recording={"report": {"attempts": [{"provider": "a", "outcome": "sentinel"}]}}),
            "$.recordings[0].report: an attempt with an outcome that there is not",
        ),
        (_broken(decision_timeout="2 s"), "$.decision_timeout: expected a number, got a string"),
    ],
    ids=str,
)
@pytest.mark.parametrize("read", [replay, RecordedEngine])
def test_a_broken_cassette_is_refused_with_its_name_and_the_place(
    read: Any, text: str | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "broken.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")

    with pytest.raises(SetupError) as caught:
        read(path)

    assert str(caught.value).startswith(f"cassette {path}: {said}")
    assert "sentinel" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_folder_is_no_cassette(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="Is a directory"):
        replay(tmp_path)

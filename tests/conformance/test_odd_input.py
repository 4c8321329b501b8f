"""What the runner makes of files that others wrote: odd lines, double entries, and documents that hold null."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from decide import Attempt, Decision, Report, merge_report
from decide.wire import to_json
from tests.conformance.adapter.seals import decode_into
from tests.conformance.runner import main

FINE = {"name": "fine", "input": {"value": "7", "now": "2026-10-02T12:00:00Z"}, "expected": {"delayMs": 7000}}
BENT = {"name": "bent", "input": {"value": "1.5", "now": "2026-10-02T12:00:00Z"}, "expected": {"delayMs": 0}}


def _vectors(folder: Path, *lines: object) -> str:
    path = folder / "parse_retry_after.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), "utf-8")
    return str(path)


def _listing(folder: Path, name: str, milliseconds: object) -> list[str]:
    entry = ("[[vector]]", "file = 'parse_retry_after'", "name = 'bent'", "ruling = 25")
    expected = json.dumps({"delayMs": milliseconds})
    (folder / name).write_text("\n".join([*entry, f"expected = '{expected}'"]), encoding="utf-8")
    return ["--deviations", str(folder / name)]


def _run(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    return main(arguments, out), out.getvalue()


def _refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        _run(*arguments)
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_empty_lines_carriage_returns_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "parse_retry_after.jsonl"
    lines = ["", json.dumps({"header": {}}), "  ", json.dumps(FINE), "", json.dumps(FINE), ""]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    assert _run(str(path)) == (0, "2 passed, 0 failed\n")


@pytest.mark.parametrize("line", ["{", "[]", '{"name": "x"}', '{"header": {}}'])
def test_a_line_that_is_no_vector_is_a_usage_error(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "parse_retry_after.jsonl:2" in _refused(capsys, _vectors(tmp_path, FINE, line))


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "rules.jsonl" in _refused(capsys, str(tmp_path / "rules.jsonl"))


def test_a_vector_that_breaks_the_run_fails_alone(tmp_path: Path) -> None:
    code, said = _run(_vectors(tmp_path, {**FINE, "name": "odd", "input": {"value": "7"}}, FINE))
    assert code == 1
    assert said.startswith("FAIL parse_retry_after / odd: raised KeyError")
    assert said.endswith("1 passed, 1 failed\n")


def test_two_deviation_files_may_list_the_same_vector_when_they_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = _vectors(tmp_path, BENT)
    one, again = _listing(tmp_path, "one.toml", 1500), _listing(tmp_path, "again.toml", 1500.0)
    other = _listing(tmp_path, "other.toml", 1400)
    assert _run(*one, *again, vectors)[0] == 0
    assert "other.toml" in _refused(capsys, *one, *other, vectors)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("null", {"interaction": "command", "scores": {"m/i": 0.9}}),
        ('{"interaction": null, "scores": null}', {"interaction": "command"}),
        ('{"module": null, "scores": {"m/j": 0.1}}', {"interaction": "command", "scores": {"m/i": 0.9, "m/j": 0.1}}),
    ],
    ids=["the document", "members", "a member that cannot be empty"],
)
def test_null_decoded_into_a_value_empties_what_can_be_empty_and_leaves_the_rest(
    text: str, after: dict[str, Any]
) -> None:
    value, noted = decode_into(Decision(interaction="command", scores={"m/i": 0.9}), text)
    written = to_json(value)
    assert noted == {}
    assert {key: written[key] for key in ("interaction", "scores") if written.get(key)} == after


def test_a_rule_of_any_name_listens_for_its_phrases_letter_by_letter(tmp_path: Path) -> None:
    decision = {"module": {"value": "m"}, "intent": {"value": ""}, "interaction": "command"}
    names: list[tuple[str, list[str]]] = [("", []), ("\u00e9\t", ["{a} {"])]
    rules = [{"name": name, "phrases": phrases, "decision": decision} for name, phrases in names]
    certain = {**decision, "module": {"value": "m", "confidence": 1}, "outcome": "deterministic"}
    said = {"ok": True, "decision": certain, "actionable": True, "provenance": "deterministic"}
    path = tmp_path / "rules.jsonl"
    path.write_text(
        "".join(
            json.dumps({"name": text, "input": {"op": "table", "rules": rules, "text": text}, "expected": expected})
            + "\n"
            for text, expected in (("{A}  {!", said), ("a {", {"ok": False}))
        ),
        encoding="utf-8",
    )
    assert _run(str(path)) == (0, "2 passed, 0 failed\n")


def test_an_attempt_of_unknown_latency_took_as_long_as_its_leg_whoever_made_it() -> None:
    report = Report(engine="inner", attempts=[Attempt(provider="inner", outcome="decided")])
    judged = Attempt(provider="outer", outcome="decided", latency=0.3, role="backup")
    (merged,) = merge_report(report, judged, answered=True)
    assert (merged.provider, merged.latency, merged.role) == ("inner", 0.3, "backup")

"""All vectors on both backends, and the runner itself: what it must not let pass."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.adapter import KINDS
from tests.conformance.comparing import pruned, same
from tests.conformance.runner import BACKENDS, check, main, read_deviations, read_vectors

HERE = Path(__file__).parent
DEVIATIONS = HERE / "deviations.toml"
FILES = sorted((HERE / "vectors").glob("*/*.jsonl"))
SCENARIOS = frozenset(
    {
        "batch",
        "breaker",
        "budget",
        "budget_and_turns",
        "chain",
        "compose",
        "compose_score",
        "health",
        "limits",
        "llm_style",
        "llmdecider",
        "retry",
        "rules",
        "status",
        "typesafe",
    }
)

FINE = {"name": "fine", "input": {"value": "7", "now": "2026-10-02T12:00:00Z"}, "expected": {"delayMs": 7000}}
BENT = {"name": "bent", "input": {"value": "1.5", "now": "2026-10-02T12:00:00Z"}, "expected": {"delayMs": 0}}
REFUSED = {"name": "zero", "input": {"op": "encode", "value": "policy zero"}, "expected": {"json": {}}}


def _written(folder: Path, *vectors: dict[str, Any], stem: str = "parse_retry_after", header: bool = False) -> str:
    path = folder / f"{stem}.jsonl"
    lines = [{"header": {"about": "a header"}}, *vectors] if header else list(vectors)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def _deviations(folder: Path, text: str, name: str = "own.toml") -> list[str]:
    (folder / name).write_text(text, encoding="utf-8")
    return ["--deviations", str(folder / name)]


def _entry(name: str, rest: str, file: str = "parse_retry_after") -> str:
    return f"[[vector]]\nfile = '{file}'\nname = '{name}'\nruling = 25\n{rest}\n"


def _run(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    return main(arguments, out), out.getvalue()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_vector_of_the_file_matches(path: Path) -> None:
    deviations = read_deviations([DEVIATIONS])
    backends = BACKENDS if path.stem in SCENARIOS else BACKENDS[:1]
    found = [
        check(path.stem, vector, deviations.get((path.stem, vector["name"])), backend)
        for vector in read_vectors(path)
        for backend in backends
    ]
    assert found
    assert [mismatch for mismatch in found if mismatch is not None] == []


def test_every_deviation_names_a_vector_that_is_there() -> None:
    names = {(path.stem, vector["name"]) for path in FILES for vector in read_vectors(path)}
    assert not read_deviations([DEVIATIONS]).keys() - names


def test_every_kind_of_vector_with_a_file_has_an_adapter() -> None:
    assert {path.stem for path in FILES} == KINDS.keys()


def test_the_last_line_counts_and_the_exit_code_is_0_when_all_pass(tmp_path: Path) -> None:
    code, said = _run(_written(tmp_path, FINE, header=True))
    assert (code, said.splitlines()[-1]) == (0, "1 passed, 0 failed")


def test_a_doctored_vector_fails_with_both_sides(tmp_path: Path) -> None:
    code, said = _run(_written(tmp_path, FINE, {**FINE, "name": "doctored", "expected": {"delayMs": 8000}}))
    assert code == 1
    assert said.splitlines() == [
        "FAIL parse_retry_after / doctored: differs at .delayMs",
        '  expected {"delayMs": 8000}',
        '  actual   {"delayMs": 7000.0}',
        "1 passed, 1 failed",
    ]


@pytest.mark.parametrize(
    "stem", ["chain", "compose", "breaker", "budget", "compose_score", "evaluate_decision", "wire"]
)
def test_a_doctored_vector_of_any_depth_fails(stem: str) -> None:
    vector = next(read_vectors(HERE / "vectors" / "reference" / f"{stem}.jsonl"))
    for doctored in _doctored(vector["expected"]):
        assert check(stem, {**vector, "expected": doctored}, None) is not None, doctored


def _doctored(document: Any) -> list[Any]:
    """
    Return *document* with each of its numbers, flags and words changed in turn, prose and texts excepted.
    """
    match document:
        case dict():
            return [
                {**document, key: changed}
                for key, member in document.items()
                if key not in {"detail", "text"}
                for changed in _doctored(member)
            ]
        case list():
            return [
                [*document[:position], changed, *document[position + 1 :]]
                for position, member in enumerate(document)
                for changed in _doctored(member)
            ]
        case bool():
            return [not document]
        case int() | float():
            return [document + 1]
        case str():
            return [document + "x"]
        case _:
            return []


def test_a_deviation_replaces_what_is_expected(tmp_path: Path) -> None:
    listed = _deviations(tmp_path, _entry("bent", """expected = '''{"delayMs": 1500}'''"""))
    assert _run(_written(tmp_path, FINE, BENT))[0] == 1
    assert _run(*listed, _written(tmp_path, FINE, BENT)) == (0, "2 passed, 0 failed\n")


def test_a_deviation_that_expects_something_else_again_fails(tmp_path: Path) -> None:
    listed = _deviations(tmp_path, _entry("bent", """expected = '''{"delayMs": 1400}'''"""))
    code, said = _run(*listed, _written(tmp_path, BENT))
    assert code == 1
    assert '"delayMs": 1400' in said


def test_a_listed_vector_that_passes_unchanged_is_an_error(tmp_path: Path) -> None:
    listed = _deviations(tmp_path, _entry("fine", """expected = '''{"delayMs": 7000}'''"""))
    code, said = _run(*listed, _written(tmp_path, FINE))
    assert code == 1
    assert "passes unchanged" in said


def test_a_listed_name_that_is_not_in_the_file_is_an_error(tmp_path: Path) -> None:
    listed = _deviations(tmp_path, _entry("nobody", "refused = true"))
    code, said = _run(*listed, _written(tmp_path, FINE))
    assert code == 1
    assert "there is no such vector" in said
    assert said.endswith("1 passed, 1 failed\n")


def test_entries_for_files_that_are_not_run_are_ignored(tmp_path: Path) -> None:
    listed = _deviations(tmp_path, _entry("nobody", "refused = true", file="breaker"))
    assert _run(*listed, _written(tmp_path, FINE))[0] == 0


def test_several_deviation_files_count_together(tmp_path: Path) -> None:
    one = _deviations(tmp_path, _entry("bent", """expected = '''{"delayMs": 1500}'''"""), "one.toml")
    two = _deviations(tmp_path, _entry("nobody", "refused = true", file="wire"), "two.toml")
    assert _run(*one, *two, _written(tmp_path, BENT))[0] == 0


def test_a_refused_input_passes_only_when_it_is_listed_as_refused(tmp_path: Path) -> None:
    vectors = _written(tmp_path, REFUSED, stem="wire")
    expected = _deviations(tmp_path, _entry("zero", "expected = '''{}'''", file="wire"), "expected.toml")
    refused = _deviations(tmp_path, _entry("zero", "refused = true", file="wire"), "refused.toml")
    assert [_run(vectors)[0], _run(*expected, vectors)[0], _run(*refused, vectors)[0]] == [1, 1, 0]


def test_an_input_that_is_not_refused_fails_when_it_is_listed_as_refused(tmp_path: Path) -> None:
    code, said = _run(*_deviations(tmp_path, _entry("bent", "refused = true")), _written(tmp_path, BENT))
    assert code == 1
    assert "was to be refused" in said


@pytest.mark.parametrize(
    "text",
    [
        _entry("bent", ""),
        _entry("bent", "refused = true\nexpected = '''{}'''"),
        _entry("bent", "refused = true") * 2,
        "[[vector]]\nname = 'bent'\nruling = 1\nrefused = true\n",
        _entry("bent", "expected = '''{'''"),
        "not toml",
    ],
    ids=["neither", "both", "twice", "no file", "not JSON", "not TOML"],
)
def test_a_deviations_file_that_cannot_be_used_is_a_usage_error(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        _run(*_deviations(tmp_path, text), _written(tmp_path, BENT))
    assert ended.value.code == 2
    assert "own.toml" in capsys.readouterr().err


def test_a_file_of_an_unknown_kind_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        _run(_written(tmp_path, FINE, stem="horoscope"))
    assert ended.value.code == 2
    assert "horoscope" in capsys.readouterr().err


def test_the_script_runs_from_anywhere(tmp_path: Path) -> None:
    script = [sys.executable, str(HERE / "run.py"), "--backend", "trio", _written(tmp_path, FINE)]
    ran = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "1 passed, 0 failed\n", "")


def test_absent_and_empty_are_the_same_but_an_object_of_zeros_is_not_absent() -> None:
    assert same(pruned({"a": 0, "b": [], "c": "", "d": None, "e": False, "f": {}}), pruned({}))
    assert not same(pruned({"usage": {"inputTokens": 0}}), pruned({}))


def test_a_number_is_never_a_flag() -> None:
    assert same(1, 1.0)
    assert not same(1, True)

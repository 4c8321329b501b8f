"""Questions and policies in files, and durations."""

from pathlib import Path

import click
import pytest

from decide.cli._durations import Duration
from decide.cli._files import policy_called, questions_in
from decide.policies import DURABLE, NARROWING
from decide.questions import ChoiceQuestion, NoulQuestion

AS_TOML = """
[team]
type = "choice"
instructions = "Which: a | b?"
criteria = { "x=1" = "first", "*y" = "second" }

[angry]
type = "noul"
instructions = "Angry?"
"""
AS_JSON = """{
  "team": {"type": "choice", "instructions": "Which: a | b?", "criteria": {"x=1": "first", "*y": "second"}},
  "angry": {"type": "noul", "instructions": "Angry?"}
}"""
STRICT: dict[str, object] = {
    "name": "mine",
    "minConfidence": 0.9,
    "minGap": 0.3,
    "minProbability": 0.8,
    "strongProbability": 0.9,
    "potentialProbability": 0.2,
}


def as_toml(document: dict[str, object]) -> str:
    """Spell a flat object as TOML."""
    return "\n".join(f"{key} = {value!r}" for key, value in document.items())


def write(path: Path, text: str) -> Path:
    """Put *text* at *path*."""
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "text"), [("q.toml", AS_TOML), ("q.json", AS_JSON), ("q", AS_JSON)])
def test_a_file_can_ask_what_the_command_line_cannot_spell(tmp_path: Path, name: str, text: str) -> None:
    asked = questions_in(write(tmp_path / name, text))

    assert list(asked.items()) == [
        ("team", ChoiceQuestion("Which: a | b?", {"x=1": "first", "*y": "second"})),
        ("angry", NoulQuestion("Angry?")),
    ]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.json", b"{", "not JSON at line 1"),
        ("q.json", b"[]", "expected an object of questions"),
        ("q.json", b"{}", "no questions"),
        ("q.json", b'{"a": {"type": "noul", "instructions": "?"}, "a": {}}', "a"),
        ("q.json", b'{"a": {"type": "box", "instructions": "?"}}', '"a"'),
        ("q.toml", b"a = ", "Invalid value"),
        ("q.toml", b"\xff", "not UTF-8"),
        ("q.json", b"\xff", "not UTF-8"),
    ],
)
def test_a_file_that_asks_nothing_sensible_is_a_usage_error(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(click.UsageError) as refused:
        questions_in(path)

    assert refused.value.message.startswith(f"--questions {path}: ")
    assert said in refused.value.message


def test_the_two_policies_have_names() -> None:
    assert policy_called("narrowing") is NARROWING
    assert policy_called("durable") is DURABLE


def test_a_policy_can_stand_in_a_file(tmp_path: Path) -> None:
    policy = policy_called(str(write(tmp_path / "mine.toml", as_toml(STRICT))))

    assert (policy.name, policy.min_confidence, policy.max_picks) == ("mine", 0.9, None)


def test_a_policy_that_is_nowhere_is_a_usage_error_that_names_the_two() -> None:
    with pytest.raises(click.UsageError, match="no such file; name one, or write narrowing or durable"):
        policy_called("lenient")


def test_a_policy_that_contradicts_itself_is_a_usage_error(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.toml", as_toml(STRICT | {"minGap": 7}))

    with pytest.raises(click.UsageError, match="minGap must be a number"):
        policy_called(str(path))


@pytest.mark.parametrize(
    ("member", "said"),
    [
        ("minGapp", "$.minGapp: there is no such member; did you mean minGap?"),
        ("min_gap", "$.min_gap: there is no such member; did you mean minGap?"),
        ("zzz", "$.zzz: there is no such member; it may be one of name, minConfidence"),
    ],
)
def test_a_policy_with_a_member_that_none_has_is_refused(tmp_path: Path, member: str, said: str) -> None:
    path = write(tmp_path / "mine.toml", as_toml(STRICT | {member: 0.1}))

    with pytest.raises(click.UsageError) as refused:
        policy_called(str(path))

    assert said in refused.value.message


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            '{"type": "noul", "instruction": "?"}',
            '"q".instruction: there is no such member; did you mean instructions?',
        ),
        ('{"type": "noul", "instructions": "?", "levels": []}', '"q".levels: there is no such member'),
        ('{"type": "noul", "instructions": "?", "criteria": {"yes": ""}}', '"q".criteria.yes: there is no such member'),
        ('{"type": "noul", "kind": "noul", "instructions": "?"}', '"q".kind: says the same as type'),
        (
            '{"type": "choice", "instructions": "?", "candidates": [{"id": "a", "descripton": "b"}]}',
            '"q".candidates[0].descripton: there is no such member; did you mean description?',
        ),
    ],
)
def test_a_question_with_a_member_that_its_kind_has_not_is_refused(tmp_path: Path, question: str, said: str) -> None:
    path = write(tmp_path / "q.json", f'{{"q": {question}}}')

    with pytest.raises(click.UsageError) as refused:
        questions_in(path)

    assert said in refused.value.message


def test_toml_under_another_name_is_told_how_to_be_called(tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match=r"read as JSON unless its name ends in \.toml"):
        questions_in(write(tmp_path / "q.txt", AS_TOML))


def test_questions_do_not_come_from_stdin() -> None:
    with pytest.raises(click.UsageError, match="stdin is read for --state only"):
        questions_in(Path("-"))


def test_a_directory_is_no_policy(tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match="--policy"):
        policy_called(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "seconds"), [("50ms", 0.05), ("0ms", 0.0), ("2s", 2.0), ("0.25s", 0.25), ("1m", 60.0), ("1.5m", 90.0)]
)
def test_a_duration_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "50", "ms", "-1s", "+1s", "1 s", "1h", "1e3ms", ".5s", "1.s", "1s2ms", "infs", "\u0665s"]
)
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(click.UsageError, match="is no duration: write a number and ms, s or m"):
        Duration().convert(text, None, None)


def test_the_file_that_the_documentation_shows_can_be_asked(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    shown = page.partition("```toml\n")[2].partition("```")[0]

    assert list(questions_in(write(tmp_path / "shown.toml", shown))) == ["team"]

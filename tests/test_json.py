"""Strict JSON: what is refused on reading, the form that is hashed, and questions as a person writes them."""

import enum
import hashlib
import json
import pickle
from typing import Any

import pytest
from hypothesis import given

from decide import (
    ChoiceQuestion,
    InvalidRequestError,
    NoulQuestion,
    Question,
    RelevanceQuestion,
    ScoreQuestion,
    ScoreRequest,
)
from decide._json import MAX_DEPTH, DocumentError, canonical, loads
from decide.wire import canonical_request, questions_from
from tests import strategies


class Colour(enum.StrEnum):
    RED = "red"


@given(strategies.json_values)
def test_everything_that_is_json_is_read_as_it_was_written(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert loads(text) == value
    assert loads(text.encode()) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "$: not JSON at line 1, column 1"),
        ("{'a': 1}", "$: not JSON at line 1, column 2"),
        ('{"a": 1} secret', "$: not JSON at line 1, column 10"),
        ('[1, {"a": 1, "a": 1}]', "$[1]: a key stands twice in this object"),
        ('{"x": {"a": 1, "b": 2, "a": 3}}', "$[0]: a key stands twice in this object"),
        ("[NaN]", "$[0]: a number that is not finite"),
        ("[-Infinity]", "$[0]: a number that is not finite"),
        ('{"secret": 1e400}', "$[0]: a number that is not finite"),
        ("1" * 5000, "$: a number is too long"),
        ('["\\ud800"]', "$[0]: text that is not Unicode: half a surrogate pair"),
        ('{"\\udc00": 1}', "$: text that is not Unicode: half a surrogate pair"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "$" + "[0]" * MAX_DEPTH + f": nested deeper than {MAX_DEPTH}"),
        (b'"\xff"', "$: not UTF-8"),
    ],
    ids=lambda text: str(text)[:20],
)
def test_what_is_not_strict_json_is_refused_with_its_place_and_nothing_it_says(text: str | bytes, said: str) -> None:
    with pytest.raises(DocumentError) as refused:
        loads(text)
    assert str(refused.value) == said


def test_nesting_that_would_exhaust_the_stack_is_refused_like_any_other() -> None:
    with pytest.raises(DocumentError, match="nested deeper"):
        loads("[" * 200_000)


def test_the_deepest_document_is_read() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert json.dumps(loads(text)) == text


def test_a_byte_order_mark_is_no_part_of_the_document() -> None:
    assert loads(b"\xef\xbb\xbf{}") == {}


def test_the_error_survives_a_pickle() -> None:
    error = pickle.loads(pickle.dumps(DocumentError("$.a", "is required")))
    assert (error.path, error.problem, str(error)) == ("$.a", "is required", "$.a: is required")


# the form that is hashed ------------------------------------------------------------------------------------------


def test_the_canonical_form_is_sorted_by_code_point_and_escapes_nothing_it_need_not() -> None:
    assert canonical({"é": 1, "b": [1, {"z": None, "Z": True}], "B": "<&\u2028\n"}) == (
        '{"B":"<&\u2028\\n","b":[1,{"Z":true,"z":null}],"é":1}'
    )


def test_tuples_and_string_enums_are_lists_and_strings() -> None:
    assert canonical({"a": (Colour.RED, 1)}) == '{"a":["red",1]}'


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), {1: 2}, {1, 2}, b"x", object()])
def test_what_is_no_json_has_no_canonical_form(value: object) -> None:
    with pytest.raises(DocumentError):
        canonical(value)


@given(strategies.json_objects)
def test_the_order_of_members_changes_nothing(document: dict[str, Any]) -> None:
    turned = dict(reversed(document.items()))
    assert canonical(document) == canonical(turned)


def test_criteria_that_are_left_out_and_blank_ones_are_not_the_same_request() -> None:
    forms = [
        canonical_request("m", {"q": question})
        for question in (NoulQuestion("?"), NoulQuestion("?", true=""), NoulQuestion("?", true="", false=""))
    ]
    assert forms == [
        '{"model":"m","questions":{"q":{"instructions":"?","type":"noul"}}}',
        '{"model":"m","questions":{"q":{"criteria":{"true":""},"instructions":"?","type":"noul"}}}',
        '{"model":"m","questions":{"q":{"criteria":{"false":"","true":""},"instructions":"?","type":"noul"}}}',
    ]


def test_every_kind_has_a_canonical_form() -> None:
    questions: dict[str, Question] = {
        "c": ChoiceQuestion("?", {"b": None, "a": "A"}),
        "r": RelevanceQuestion("?", {"a": ""}),
        "s": ScoreQuestion("?", ["low", "high"]),
    }
    text = canonical_request("m", questions)
    assert text == (
        '{"model":"m","questions":{"c":{"criteria":{"a":"A","b":null},"instructions":"?","type":"choice"},'
        '"r":{"criteria":{"a":""},"instructions":"?","type":"relevance"},'
        '"s":{"criteria":["low","high"],"instructions":"?","type":"score"}}}'
    )
    assert len(hashlib.sha256(text.encode()).hexdigest()) == 64


# questions from a file -------------------------------------------------------------------------------------------

FILE = {
    "team": {
        "kind": "choice",
        "instructions": "Which team?",
        "criteria": {"web": "pages", "api": None, "other": ""},
        "noneId": "other",
    },
    "angry": {"type": "noul", "instructions": "Angry?", "criteria": {"true": "shouts"}},
    "calm": {"kind": "noul", "instructions": "Calm?"},
    "urgency": {"kind": "score", "instructions": "How urgent?", "levels": ["later", "now"]},
    "pick": {"kind": "choice", "instructions": "Which?", "candidates": ["b", "a"]},
    "about": {"kind": "relevance", "instructions": "About this?", "candidates": [{"id": "x", "description": "X"}, "y"]},
}


def test_questions_are_read_in_the_order_of_the_file() -> None:
    questions = questions_from(FILE)
    assert list(questions.items()) == [
        ("team", ChoiceQuestion("Which team?", {"web": "pages", "api": None, "other": ""}, none_id="other")),
        ("angry", NoulQuestion("Angry?", true="shouts")),
        ("calm", NoulQuestion("Calm?")),
        ("urgency", ScoreQuestion("How urgent?", ["later", "now"])),
        ("pick", ChoiceQuestion("Which?", ["b", "a"])),
        ("about", RelevanceQuestion("About this?", {"x": "X", "y": None})),
    ]
    assert ScoreRequest(text="t", questions=questions).questions == questions


def _choice(**members: object) -> dict[str, object]:
    return {"kind": "choice", "instructions": "?", **members}


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        (None, ": expected an object, got null"),
        ([], ": expected an object, got a list"),
        ({}, ".type: is required"),
        ({"kind": "riddle", "instructions": "?"}, ".kind: expected one of noul, choice, score, relevance"),
        ({"kind": "noul"}, ".instructions: is required"),
        (_choice(), ".criteria: is required"),
        (_choice(criteria={}), ": a choice needs 1..255 options, got 0"),
        (_choice(criteria={"a": 1}), ".criteria[0]: expected a string, got a number"),
        (_choice(criteria=["a"], noneId="b"), ": none_id must name one of the candidates"),
        (
            {"kind": "score", "instructions": "?", "criteria": ["one"]},
            ": a score needs 2..10 ordered levels, got 1",
        ),
        (
            {"kind": "noul", "instructions": "?", "noneId": "x"},
            ".noneId: only a choice has a none-of-these option",
        ),
        (
            {"kind": "noul", "instructions": "?", "criteria": {"true": 1}},
            ".criteria.true: expected a string, got a number",
        ),
    ],
)
def test_a_question_that_cannot_be_asked_is_named_in_the_message_and_in_the_key(question: object, problem: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        questions_from({"fine": {"kind": "noul", "instructions": "?"}, "the key": question})
    assert str(refused.value) == f'"the key"{problem}'
    assert refused.value.key == "the key"


def test_the_same_mistakes_always_blame_the_same_key() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        questions_from({"zeta": None, "alpha": None, "Omega": None})
    assert refused.value.key == "Omega"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "no questions to evaluate"),
        (None, "expected an object of questions, got null"),
        ([], "expected an object of questions, got a list"),
        ({"a": float("nan")}, r"the questions are not JSON: \$\[0\]: a number that is not finite"),
    ],
)
def test_what_is_no_set_of_questions_is_refused(document: object, said: str) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        questions_from(document)

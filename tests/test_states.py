"""The builders of states and choices: what they build is what a caller would have written."""

import copy
import enum
import pickle
from typing import Any

import pytest
from hypothesis import given

from decide import MessageState, NoulQuestion, ScoreRequest, State, choice_over
from decide.wire import to_json
from tests import strategies


class Queue(enum.Enum):
    BILLING = "b-1"
    BUGS = 2


class Word(enum.StrEnum):
    RED = "red"


class Shade(str, enum.Enum):  # noqa: UP042 - the older spelling, which differs in `str()`
    DARK = "dark"


@pytest.mark.parametrize(
    ("data", "state"),
    [
        ({"note": "a late key"}, {"role": "porter", "note": "a late key"}),
        ({"role": "other", "note": "n"}, {"role": "porter", "note": "n"}),
        ("plain", {"role": "porter", "data": "plain"}),
        ([1, 2], {"role": "porter", "data": [1, 2]}),
        ("", {"role": "porter", "data": ""}),
        (0, {"role": "porter", "data": 0}),
        ({}, {"role": "porter"}),
        (None, {"role": "porter"}),
    ],
)
def test_a_role_stands_beside_the_facts(data: Any, state: dict[str, object]) -> None:
    assert State("porter", data) == state


def test_the_role_comes_first_and_the_facts_keep_their_order() -> None:
    assert list(State("porter", {"z": 1, "role": "other", "a": 2})) == ["role", "z", "a"]


def test_a_message_stands_beside_its_context() -> None:
    assert MessageState("a shop", "where is it?") == {"context": "a shop", "message": "where is it?"}
    assert list(MessageState({"plan": "pro"}, "m", {"z": 1, "message": "other", "a": 2}).items()) == [
        ("context", {"plan": "pro"}),
        ("message", "m"),
        ("z", 1),
        ("a", 2),
    ]


@pytest.mark.parametrize("state", [State("r", {"a": [1]}), MessageState("c", "m", {"a": 1})])
def test_a_state_is_copied_and_sent_as_any_dict_is(state: dict[str, object]) -> None:
    assert copy.deepcopy(state) == state
    assert pickle.loads(pickle.dumps(state)) == state
    assert to_json(ScoreRequest(text=state, questions={"n": NoulQuestion("?")}))["text"] == dict(state)


@given(role=strategies.texts, data=strategies.json_objects)
def test_no_fact_is_lost_or_changed(role: str, data: dict[str, object]) -> None:
    assert State(role, data) == {**data, "role": role}


def test_a_choice_is_built_over_anything_with_a_name_and_a_description() -> None:
    question = choice_over("Who?", [("z", "last"), (Queue.BILLING, "money"), (Queue.BUGS, None), (Word.RED, "")])

    assert question.instructions == "Who?"
    assert list(question.candidates.items()) == [("z", "last"), ("BILLING", "money"), ("BUGS", None), ("red", "")]


def test_a_choice_is_built_over_a_mapping() -> None:
    assert choice_over("Who?", {Shade.DARK: "no light", "b": None}).candidates == {"dark": "no light", "b": None}


def test_a_string_keeps_its_punctuation() -> None:
    assert list(choice_over("Who?", [(":billing", "money"), ("team/sub", "")]).candidates) == [":billing", "team/sub"]


@pytest.mark.parametrize("name", [1, None, ("a",), object])
def test_a_name_that_is_no_text_is_refused(name: Any) -> None:
    with pytest.raises(TypeError, match="a string or an enum member"):
        choice_over("Who?", [(name, "d")])


def test_names_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="duplicate"):
        choice_over("Who?", [("BILLING", "one"), (Queue.BILLING, "two")])


def test_a_choice_over_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"1\.\.255 options, got 0"):
        choice_over("Who?", [])

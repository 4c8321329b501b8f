"""Keys of recorded answers: what finds an answer again, and what must not."""

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import attrs
import hypothesis.strategies as st
import pytest
from hypothesis import given

from decide import (
    ChoiceQuestion,
    EntityRef,
    InvalidRequestError,
    ModuleSpec,
    NoulQuestion,
    RelevanceQuestion,
    Request,
    ScoreQuestion,
    ScoreRequest,
    SessionState,
    Taxonomy,
)
from decide.engines._request_keys import Asked, essence_of, hashed, key_of
from decide.wire import canonical, canonical_request, to_json
from tests import strategies

QUESTION = NoulQuestion("Is it angry?")
ASKED = ScoreRequest(text="hello", questions={"n": QUESTION})
REQUEST = Request(
    text="refund me",
    taxonomy=Taxonomy(modules=[ModuleSpec(name="billing", intents=["refund"])], descriptions={"billing": "money"}),
    product="shop",
    state=SessionState(focused=EntityRef(type="invoice", title="No. 7")),
    recent=["hi"],
    context={"plan": "pro"},
    tz="Europe/Berlin",
)


def key(request: Asked, model: str = "m-1", ignored: tuple[str, ...] = ()) -> str:
    return key_of(essence_of(request, ignored), model)


def shuffled(value: Any, draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
    if isinstance(value, dict):
        names = draw(st.permutations(list(value)))
        return {name: shuffled(value[name], draw) for name in names}
    return [shuffled(member, draw) for member in value] if isinstance(value, list) else value


def test_a_key_is_the_canonical_request_then_the_canonical_state() -> None:
    assert key(ASKED) == canonical_request("m-1", {"n": QUESTION}) + "\0" + canonical("hello")


@given(request=strategies.score_requests, data=st.data())
def test_the_order_in_which_members_were_put_in_is_irrelevant(request: ScoreRequest, data: st.DataObject) -> None:
    other = ScoreRequest(
        text=shuffled(request.text, data.draw),
        context=shuffled(request.context, data.draw),
        questions={name: request.questions[name] for name in data.draw(st.permutations(list(request.questions)))},
    )

    assert key(other) == key(request)


STATES = strategies.json_values.filter(lambda value: isinstance(value, str | list | dict))


@given(one=STATES, other=STATES)
def test_different_states_have_different_keys(one: Any, other: Any) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)

    assert (key(attrs.evolve(ASKED, text=one)) == key(attrs.evolve(ASKED, text=other))) is same


@given(
    one=strategies.questions,
    other=strategies.questions,
    names=st.tuples(strategies.ids, strategies.ids),
)
def test_different_questions_have_different_keys(one: Any, other: Any, names: tuple[str, str]) -> None:
    asked = [
        attrs.evolve(ASKED, questions={name: question}) for name, question in zip(names, (one, other), strict=True)
    ]

    def sent(request: ScoreRequest) -> object:
        document: Any = to_json(request)
        (question,) = document["questions"]
        # Which option means none of these is the caller's own: no engine is told.
        return {**question, "noneId": "", "candidates": sorted(map(str, question.get("candidates", ())))}

    assert (key(asked[0]) == key(asked[1])) is (sent(asked[0]) == sent(asked[1]))


@given(one=strategies.requests, other=strategies.requests)
def test_different_requests_to_decide_have_different_keys(one: Request, other: Request) -> None:
    def sent(request: Request) -> str:
        return canonical(to_json(essence_of(request)))

    assert (key(one) == key(other)) is (sent(one) == sent(other))


@given(
    one=st.tuples(st.text(max_size=3), st.text(max_size=3)),
    other=st.tuples(st.text(max_size=3), st.text(max_size=3)),
)
def test_no_text_moves_a_boundary_between_the_parts_of_a_key(one: tuple[str, str], other: tuple[str, str]) -> None:
    keys = [key(attrs.evolve(ASKED, text=text), model) for model, text in (one, other)]

    assert (keys[0] == keys[1]) is (one == other)


@pytest.mark.parametrize(
    "changed",
    [
        {"text": "Hello"},
        {"text": ["hello"]},
        {"context": {"plan": "pro"}},
        {"questions": {"m": QUESTION}},
        {"questions": {"n": NoulQuestion("Is it angry? ")}},
        {"questions": {"n": NoulQuestion("Is it angry?", true="")}},
        {"questions": {"n": NoulQuestion("Is it angry?", false="")}},
        {"questions": {"n": ChoiceQuestion("Is it angry?", ["yes"])}},
        {"questions": {"n": RelevanceQuestion("Is it angry?", ["yes"])}},
        {"questions": {"n": ScoreQuestion("Is it angry?", ["no", "yes"])}},
        {"questions": {"n": QUESTION, "m": QUESTION}},
    ],
)
def test_whatever_an_engine_reads_changes_the_key(changed: dict[str, Any]) -> None:
    assert key(attrs.evolve(ASKED, **changed)) != key(ASKED)


def test_another_model_has_another_key() -> None:
    assert key(ASKED, "m-1") != key(ASKED, "m-2")


def test_who_asks_questions_does_not_change_the_key() -> None:
    assert key(attrs.evolve(ASKED, product="\ud800")) == key(ASKED)


def test_levels_are_never_reordered() -> None:
    one, other = (
        attrs.evolve(ASKED, questions={"s": ScoreQuestion("?", levels)}) for levels in (["a", "b"], ["b", "a"])
    )
    assert key(one) != key(other)


@pytest.mark.parametrize(
    "changed",
    [
        {"now": dt.datetime(2026, 11, 1, tzinfo=dt.UTC)},
        {"now": dt.datetime(2026, 11, 1)},  # noqa: DTZ001 - a caller may forget the zone
        {"interaction_id": "turn-7"},
        {"client_context": {"session": "s"}},
        {"state": SessionState(focused=EntityRef(type="invoice", title="No. 7", keys={"id": 7}))},
        {"state": SessionState(focused=EntityRef(type="invoice", title="No. 7"), pending={"id": 7}, last_shown=[1])},
    ],
)
def test_what_no_engine_is_sent_does_not_change_the_key(changed: dict[str, Any]) -> None:
    assert key(attrs.evolve(REQUEST, **changed)) == key(REQUEST)


@pytest.mark.parametrize(
    "changed",
    [
        {"text": "refund"},
        {"taxonomy": Taxonomy(modules=[ModuleSpec(name="billing", intents=["refund"])])},
        {"state": SessionState(focused=EntityRef(type="invoice", title="No. 8"))},
        {"state": SessionState(selection=[EntityRef(type="invoice", title="No. 7")])},
        {"recent": ["hi", "there"]},
        {"context": {}},
    ],
)
def test_what_a_decision_depends_on_changes_the_key(changed: dict[str, Any]) -> None:
    assert key(attrs.evolve(REQUEST, **changed)) != key(REQUEST)


def test_ignored_members_do_not_change_the_key_at_any_depth() -> None:
    state = {"a": [{"token": "one", "b": 1}], "token": {"x": 1}}
    without = {"a": [{"b": 1}]}

    assert key(attrs.evolve(ASKED, text=state), ignored=("token",)) == key(attrs.evolve(ASKED, text=without))
    assert key(attrs.evolve(ASKED, context={"token": "t"}), ignored=("token",)) == key(ASKED)
    assert key(attrs.evolve(REQUEST, context={"plan": "pro", "token": "t"}), ignored=("token",)) == key(REQUEST)


@pytest.mark.parametrize("text", [{"when": object()}, {"n": float("nan")}, "\ud800", {1: "a"}])
def test_a_request_that_is_no_json_is_refused_without_being_quoted(text: Any) -> None:
    with pytest.raises(InvalidRequestError, match="cannot be written as JSON") as caught:
        key(attrs.evolve(ASKED, text=text))

    assert caught.value.__context__ is None


def test_a_hash_tells_nothing_of_what_was_asked() -> None:
    assert len(hashed(key(ASKED))) == 64
    assert "hello" not in hashed(key(ASKED))

"""A verdict cannot be forged: every way to carry one over to other content, or to claim one, is tried."""

import copy
import dataclasses
import pickle
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

import attrs
import pytest
from hypothesis import given

from decide import DURABLE, NARROWING, ChoiceAnswer, Decision, Reference, Scored, Selection, deterministic
from decide._seal import seal_of
from decide.outcomes import ACTIONABLE, Provenance
from decide.wire import from_json, to_json
from tests import strategies

PLAIN = Decision(
    module=Scored("m", 0.9),
    intent=Scored("i", 0.9),
    interaction="command",
    reference=Reference(kind="event", expression="it"),
    slots={"day": "Friday"},
    scores={"m/i": 0.9, "m/j": 0.1},
    interaction_scores={"command": 0.9},
    calibrated=True,
    model="model-1",
)
ANSWER = ChoiceAnswer(probabilities={"a": 0.9, "b": 0.1}, calibrated=True)


def _judged() -> Decision:
    return NARROWING.judge(PLAIN)[0]


def _selected() -> Selection:
    return NARROWING.evaluate(ANSWER)


def _as_dict(value: Any) -> Any:
    return type(value)(**{field.name: getattr(value, field.name) for field in attrs.fields(type(value))})


def _through_pickle(protocol: int, value: Any) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


def _set_state(value: Any, state: dict[str, Any]) -> None:
    value.__setstate__(state)


COPIES: dict[str, Callable[[Any], Any]] = {
    "evolve": attrs.evolve,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "fields": _as_dict,
    "json": lambda value: from_json(type(value), to_json(value)),
    **{f"pickle {protocol}": partial(_through_pickle, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)},
}
if sys.version_info >= (3, 13):
    COPIES["replace"] = copy.replace


@pytest.mark.parametrize("make", [_judged, _selected], ids=["decision", "selection"])
@pytest.mark.parametrize("name", COPIES)
def test_no_copy_carries_the_verdict_over(make: Callable[[], Any], name: str) -> None:
    original = make()
    copied = COPIES[name](original)
    assert original.actionable
    assert copied == original
    assert not copied.actionable
    assert original.actionable


@pytest.mark.parametrize("value", [_judged(), _selected()], ids=["decision", "selection"])
def test_dataclasses_replace_does_not_apply(value: Any) -> None:
    with pytest.raises(TypeError):
        dataclasses.replace(value)


@pytest.mark.parametrize("outcome", sorted(ACTIONABLE))
def test_a_claimed_outcome_is_not_a_verdict(outcome: str) -> None:
    assert not attrs.evolve(PLAIN, outcome=outcome, judged_by="narrowing").actionable
    assert not from_json(Decision, {**to_json(PLAIN), "outcome": outcome}).actionable
    assert not Selection(outcome=outcome, picks=("a",)).actionable
    assert not from_json(Selection, {"outcome": outcome, "picks": ["a"]}).actionable


def test_a_dict_of_fields_and_its_hidden_names_build_no_verdict() -> None:
    built = attrs.asdict(_judged(), recurse=False)
    assert "_seal" not in built
    assert not Decision(**built).actionable
    with pytest.raises(TypeError):
        Decision(**{**built, "_seal": True})


@pytest.mark.parametrize("sealed", [Decision, Selection])
def test_sealed_values_cannot_be_subclassed(sealed: type) -> None:
    with pytest.raises(TypeError, match="cannot be subclassed"):
        type("Forged", (sealed,), {"actionable": True})


@pytest.mark.parametrize("value", [_judged(), _selected()], ids=["decision", "selection"])
def test_assignment_is_refused(value: Any) -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        value.outcome = "selected"
    with pytest.raises(AttributeError):
        value.actionable = True


EDITS: dict[str, Callable[[Decision], None]] = {
    "module": lambda value: object.__setattr__(value, "module", Scored("other", 0.9)),
    "inside the module": lambda value: object.__setattr__(value.module, "value", "other"),
    "a confidence": lambda value: object.__setattr__(value.intent, "confidence", 0.91),
    "inside the reference": lambda value: object.__setattr__(value.reference, "expression", "that"),
    "interaction": lambda value: object.__setattr__(value, "interaction", "undo"),
    "a slot": lambda value: value.slots.update(day="Monday"),
    "one more slot": lambda value: value.slots.update(hour="9"),
    "a score": lambda value: value.scores.update({"m/j": 0.8}),
    "interaction scores": lambda value: value.interaction_scores.clear(),
    "scopes": lambda value: object.__setattr__(value, "required_scopes", ("admin",)),
    "presentation": lambda value: object.__setattr__(value, "presentation", "table"),
    "model": lambda value: object.__setattr__(value, "model", "model-2"),
    "outcome": lambda value: object.__setattr__(value, "outcome", "uncertain"),
    "judge": lambda value: object.__setattr__(value, "judged_by", "durable"),
    "needs a model": lambda value: object.__setattr__(value, "needs_llm", True),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_every_edit_in_place_loses_the_verdict(edit: Callable[[Decision], None]) -> None:
    judged, _ = NARROWING.judge(copy.deepcopy(PLAIN))
    assert judged.actionable
    edit(judged)
    assert not judged.actionable


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_editing_what_was_judged_does_not_reach_the_judged_value_unnoticed(edit: Callable[[Decision], None]) -> None:
    argument = copy.deepcopy(PLAIN)
    judged, _ = NARROWING.judge(argument)
    before = to_json(judged)
    edit(argument)
    assert judged.actionable == (to_json(judged) == before)


def _with(**fields: Any) -> Decision:
    return attrs.evolve(PLAIN, **fields)


def _smuggled(name: str, value: Any) -> Decision:
    decision = _with()
    object.__setattr__(decision, name, value)
    return decision


WORDS: Any = ["it"]


@pytest.mark.parametrize(
    ("decision", "edit"),
    [
        (_with(slots={"to": ["ann"]}), lambda value: value.slots["to"].append("eve")),
        (_with(required_scopes=(["s"],)), lambda value: value.required_scopes[0].append("admin")),
        (_with(reference=Reference(expression=WORDS)), lambda v: v.reference.expression.clear()),
        (_smuggled("required_data", ["d"]), lambda value: value.required_data.append("e")),
        (_smuggled("slots", OrderedDict(to="ann")), lambda value: value.slots.update(to="eve")),
    ],
    ids=["a list in a slot", "a list in a scope", "a list in the reference", "a list of data", "a mapping of its own"],
)
def test_what_can_be_edited_deep_inside_loses_the_verdict_when_it_is(
    decision: Any, edit: Callable[[Decision], None]
) -> None:
    judged, _ = NARROWING.judge(decision)
    assert judged.actionable
    edit(judged)
    assert not judged.actionable


def test_what_cannot_be_copied_is_never_sealed() -> None:
    judged, _ = NARROWING.judge(_with(slots={"to": threading.Lock()}))
    assert not judged.actionable


def test_a_score_that_is_not_read_does_not_keep_a_verdict_from_standing() -> None:
    odd = attrs.evolve(PLAIN, calibrated=False, scores={"m/i": float("nan")})
    judged, selection = NARROWING.judge(odd)
    assert judged.actionable
    assert selection.actionable
    judged.scores["m/i"] = 0.9
    assert not judged.actionable


def test_no_two_decisions_share_what_one_may_be_edited_in() -> None:
    object.__setattr__(Decision().module, "value", "edited")
    assert Decision().module == Decision().intent == Scored()


def test_editing_back_restores_the_verdict() -> None:
    judged = _judged()
    judged.slots["day"] = "Monday"
    assert not judged.actionable
    judged.slots["day"] = "Friday"
    assert judged.actionable


@pytest.mark.parametrize("name", ["outcome", "reason", "picks", "proposals", "strong", "potential"])
def test_every_edit_of_a_selection_loses_its_verdict(name: str) -> None:
    selection = _selected()
    object.__setattr__(selection, name, "none" if name in {"outcome", "reason"} else ("b",))
    assert not selection.actionable


def test_setting_a_state_loses_the_verdict_and_brings_none_in() -> None:
    judged, durable = _judged(), DURABLE.judge(PLAIN)[0]
    _set_state(judged, {"intent": Scored("j", 0.9), "_seal": object()})
    _set_state(durable, attrs.asdict(_judged(), recurse=False))
    assert not judged.actionable
    assert not durable.actionable


def test_a_seal_of_another_value_does_not_fit() -> None:
    forged = attrs.evolve(PLAIN, intent=Scored("j", 0.9), outcome="selected", judged_by="narrowing")
    object.__setattr__(forged, "_seal", seal_of(_judged()))
    assert not forged.actionable


@pytest.mark.parametrize("thing", [True, "selected", {"outcome": "selected"}, object()])
def test_what_is_not_exactly_a_seal_is_none(thing: object) -> None:
    for value in (attrs.evolve(PLAIN), Selection(outcome="selected")):
        object.__setattr__(value, "_seal", thing)
        assert not value.actionable


def test_judging_leaves_its_argument_alone_so_that_one_object_may_be_judged_by_two() -> None:
    shared = attrs.evolve(PLAIN, scores={"m/i": 0.8, "m/j": 0.1}, intent=Scored("i", 0.8))
    before = to_json(shared)
    narrow, _ = NARROWING.judge(shared)
    durable, selection = DURABLE.judge(shared)
    assert (narrow.actionable, durable.actionable, shared.actionable) == (True, False, False)
    assert (narrow.outcome, durable.outcome, shared.outcome) == ("selected", "uncertain", "")
    assert (narrow.judged_by, durable.judged_by, shared.judged_by) == ("narrowing", "durable", "")
    assert not selection.actionable
    assert to_json(shared) == before


def test_judging_an_actionable_value_again_leaves_that_one_actionable() -> None:
    judged = _judged()
    again, _ = DURABLE.judge(judged)
    assert judged.actionable
    assert again.judged_by == "durable"


def test_a_rules_answer_is_actionable_without_a_policy_and_bare_of_a_models_numbers() -> None:
    rule = deterministic(PLAIN)
    assert (rule.actionable, rule.outcome, rule.provenance) == (True, "deterministic", Provenance.DETERMINISTIC)
    assert (rule.scores, rule.model, rule.calibrated) == ({}, "", False)
    assert rule.interaction_scores == PLAIN.interaction_scores
    assert not PLAIN.actionable


@pytest.mark.parametrize("name", COPIES)
def test_the_class_of_a_rules_answer_is_not_carried_over_either(name: str) -> None:
    copied = COPIES[name](deterministic(PLAIN))
    assert (copied.actionable, copied.provenance) == (False, Provenance.SELF_REPORTED)
    assert NARROWING.evaluate_decision(attrs.evolve(copied, interaction="undo")).outcome == "unscored"


def test_the_class_goes_from_seal_to_seal_when_a_policy_judges() -> None:
    judged, selection = DURABLE.judge(deterministic(PLAIN))
    assert (judged.provenance, judged.outcome) == (Provenance.DETERMINISTIC, "deterministic")
    assert (selection.reason, selection.picks) == ("deterministic_rule", ("m/i",))
    assert judged.actionable


def test_a_confidence_that_equals_nothing_is_never_sealed() -> None:
    rule = deterministic(attrs.evolve(PLAIN, interaction_confidence=float("nan")))
    assert not rule.actionable


@given(strategies.decisions)
def test_whatever_is_judged_only_an_actionable_outcome_is_actionable(decision: Decision) -> None:
    judged, selection = NARROWING.judge(decision)
    assert judged.actionable == selection.actionable == (judged.outcome in ACTIONABLE)
    assert not decision.actionable


@pytest.mark.parametrize(
    "nonsense",
    [
        {"scores": {"m/i": "0.9"}, "calibrated": True},
        {"interaction_scores": {"command": None}},
        {"interaction_confidence": "high"},
        {"intent": Scored("i", 10**400)},
        {"scores": {"m/i": True}, "calibrated": True},
    ],
)
def test_nonsense_an_engine_built_is_judged_invalid_and_never_raised(nonsense: dict[str, Any]) -> None:
    judged, selection = NARROWING.judge(attrs.evolve(PLAIN, **nonsense))
    assert (judged.outcome, selection.outcome, judged.actionable) == ("invalid", "invalid", False)

"""Decisions judged and validated, where this implementation is stricter or says more than the vectors of others."""

import math

import attrs
import pytest

from decide import (
    DURABLE,
    NARROWING,
    Chain,
    Decision,
    ModuleSpec,
    Reference,
    Scored,
    SelectionPolicy,
    Taxonomy,
    deterministic,
    side_effectful,
    validate,
)
from decide.taxonomy import Interaction

TAXONOMY = Taxonomy(
    modules=[ModuleSpec(name="m", intents=["i", "j"], scopes=["s"]), ModuleSpec(name="n")],
    presentations=["list"],
    data_kinds=["d"],
    entity_types=["event"],
)
PLAIN = Decision(
    module=Scored("m", 0.95),
    intent=Scored("i", 0.95),
    interaction="command",
    interaction_confidence=0.95,
    scores={"m/i": 0.95, "m/j": 0.05},
    calibrated=True,
)
UNDO = attrs.evolve(PLAIN, interaction="undo", interaction_scores={"undo": 0.95, "command": 0.05})
OPEN = attrs.evolve(NARROWING, accept_uncalibrated_side_effects=True)


def _said(decision: Decision, policy: SelectionPolicy = NARROWING) -> tuple[str, str]:
    selection = policy.evaluate_decision(decision)
    return selection.outcome, selection.reason


def test_a_gap_forgives_what_floats_lose() -> None:
    assert _said(attrs.evolve(PLAIN, scores={"m/i": 0.7, "m/j": 0.5}))[0] == "selected"
    backed = attrs.evolve(UNDO, interaction_scores={"undo": 0.95, "chat": 0.75})
    assert _said(backed)[0] == "selected"
    assert _said(attrs.evolve(UNDO, interaction_scores={"undo": 0.95, "chat": 0.76})) == (
        "uncertain",
        "interaction_narrow_gap",
    )


CONTRADICTED = attrs.evolve(UNDO, scores={}, interaction_scores={"undo": 0.3, "chat": 0.7})


@pytest.mark.parametrize("policy", [NARROWING, DURABLE, OPEN])
@pytest.mark.parametrize(
    "decision",
    [
        CONTRADICTED,
        attrs.evolve(CONTRADICTED, interaction_scores={"chat": 0.1}),
        attrs.evolve(CONTRADICTED, scores={"m/i": 0.95}),
    ],
    ids=["another on top", "not scored itself", "with decision scores"],
)
def test_a_contradicted_side_effect_is_invalid_whatever_was_opted_in(
    decision: Decision, policy: SelectionPolicy
) -> None:
    assert _said(decision, policy) == ("invalid", "interaction_not_top")


def test_other_interactions_and_self_reported_scores_are_not_gated() -> None:
    assert _said(attrs.evolve(CONTRADICTED, interaction="command"))[0] == "accepted"
    assert _said(attrs.evolve(CONTRADICTED, calibrated=False), OPEN)[0] == "accepted"


def test_a_side_effect_is_accepted_from_a_self_report_only_when_opted_in_and_sure() -> None:
    undo = attrs.evolve(PLAIN, interaction="undo", calibrated=False, scores={})
    assert _said(undo) == ("unscored", "side_effect_uncalibrated")
    assert _said(undo, OPEN) == ("accepted", "accepted_uncalibrated")
    assert _said(attrs.evolve(undo, interaction_confidence=0.89), OPEN) == ("unscored", "interaction_low_confidence")


def test_a_policy_that_names_its_models_takes_no_other_decision_but_a_rules() -> None:
    measured = attrs.evolve(NARROWING, models=("jev-1",))
    assert _said(attrs.evolve(PLAIN, model="jev-1"), measured)[0] == "selected"
    for model in ("", "jev-2"):
        assert _said(attrs.evolve(PLAIN, model=model), measured) == ("uncertain", "model_not_measured")
        self_reported = attrs.evolve(PLAIN, calibrated=False, model=model)
        assert _said(self_reported, measured) == ("uncertain", "model_not_measured")
    assert _said(deterministic(PLAIN), measured) == ("deterministic", "deterministic_rule")


def test_bad_numbers_are_told_before_the_model_is_looked_at() -> None:
    measured = attrs.evolve(NARROWING, models=())
    assert _said(attrs.evolve(PLAIN, interaction_confidence=1.5), measured) == ("invalid", "bad_confidence")
    assert _said(attrs.evolve(PLAIN, scores={"m/i": math.nan}), measured) == ("invalid", "bad_scores")


def test_the_policy_that_judged_is_recorded_by_name() -> None:
    judged, _ = DURABLE.judge(PLAIN)
    assert judged.judged_by == "durable"
    assert NARROWING.judge(judged)[0].judged_by == "narrowing"


@pytest.mark.parametrize("interaction", Interaction)
def test_what_changes_something_is_side_effectful(interaction: Interaction) -> None:
    changing = {"confirmation", "rejection", "correction", "cancellation", "undo"}
    assert side_effectful(interaction) is (interaction.value in changing)
    assert not side_effectful(interaction.value.upper())


# rejudging -----------------------------------------------------------------------------------------------------------


def test_a_stored_refusal_stays_one_and_a_stored_yes_is_judged_again() -> None:
    chain = Chain([], policy=NARROWING)
    assert chain.rejudge(attrs.evolve(PLAIN, outcome="selected"), TAXONOMY).actionable
    for outcome in ("uncertain", "invalid", "bogus"):
        refused = chain.rejudge(attrs.evolve(PLAIN, outcome=outcome), TAXONOMY)
        assert (refused.actionable, refused.outcome) == (False, outcome)
    assert not chain.rejudge(attrs.evolve(PLAIN, module=Scored("zz", 0.9)), TAXONOMY).actionable


@pytest.mark.parametrize("claim", ["", "selected"])
def test_what_a_policy_refused_in_this_process_stays_refused_whatever_it_claims_since(claim: str) -> None:
    refused, _ = DURABLE.judge(attrs.evolve(PLAIN, calibrated=False))
    object.__setattr__(refused, "outcome", claim)
    again = Chain([], min_confidence=0.5).rejudge(refused, TAXONOMY)
    assert (again.actionable, again.outcome) == (False, "unscored")


def test_rejudging_a_rules_answer_judges_it_as_any_other_and_leaves_it_alone() -> None:
    rule = deterministic(attrs.evolve(PLAIN, intent=Scored("i", 0.6)))
    again = Chain([], policy=DURABLE).rejudge(rule, TAXONOMY)
    assert (again.actionable, again.outcome, again.provenance) == (False, "unscored", "self_reported")
    assert rule.actionable


# validating ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interaction", ["confirmation", "rejection", "cancellation", "undo", "chat"])
def test_a_module_may_be_left_out_only_together_with_the_intent(interaction: str) -> None:
    bare = Decision(interaction=interaction)
    assert validate(bare, TAXONOMY) == ()
    assert [str(one) for one in validate(attrs.evolve(bare, intent=Scored("i", 1.0)), TAXONOMY)] == [
        "an intent without a module"
    ]


@pytest.mark.parametrize("interaction", ["command", "question", "correction", "continuation"])
def test_other_interactions_need_a_module(interaction: str) -> None:
    assert [str(one) for one in validate(Decision(interaction=interaction), TAXONOMY)] == ["unknown module"]


def test_an_empty_name_in_the_taxonomy_does_not_make_an_empty_module_known() -> None:
    nameless = Taxonomy(modules=[ModuleSpec(name="", intents=["i"])])
    assert validate(Decision(interaction="command", intent=Scored("i", 1.0)), nameless)


def test_every_problem_is_told_in_order_and_without_what_the_engine_said() -> None:
    decision = Decision(
        interaction="my secret",
        module=Scored("m", 1.5),
        intent=Scored("secret", 1.0),
        presentation="secret",
        reference=Reference(kind="secret"),
        required_data=["d", "secret"],
        required_scopes=["m", "s", "secret"],
    )
    assert [str(problem) for problem in validate(decision, TAXONOMY)] == [
        "unknown interaction",
        "confidence out of range",
        "unknown intent for the module",
        "unknown presentation",
        "unknown reference kind",
        "required data 2: unknown kind",
        "required scope 3: unknown scope",
    ]


def test_what_a_taxonomy_does_not_list_is_open_but_scopes_never_are() -> None:
    bare = Taxonomy(modules=[ModuleSpec(name="m")])
    anything = attrs.evolve(
        PLAIN,
        intent=Scored(),
        presentation="x",
        reference=Reference(kind="x"),
        required_data=["x"],
        required_scopes=["m"],
    )
    assert validate(anything, bare) == ()
    assert validate(attrs.evolve(anything, required_scopes=["x"]), bare)

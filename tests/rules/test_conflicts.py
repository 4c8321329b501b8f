"""Phrases that belong to two rules."""

import re

import pytest
from hypothesis import given

from decide.attempt_log import AttemptLog
from decide.decisions import Decision
from decide.requests import Request, SessionState
from decide.rules import Phrase, Rule, RuleTable, contains, exact, starts_with
from tests.rules.naive import naive_slots
from tests.rules.strategies import tables

COMMAND = Decision(interaction="command")


def two_rules(first: str | Phrase, second: str | Phrase) -> list[Rule]:
    return [Rule("one", ["first of all", first], COMMAND), Rule("other", [second, "last of all"], COMMAND)]


CONFLICTS = [
    ("yes", "Yes!"),
    (exact("yes please"), contains("please")),
    (exact("cancel it"), starts_with("cancel")),
    (starts_with("cancel"), starts_with("cancel my order")),
    (contains("refund"), contains("refund status")),
    (contains("order"), starts_with("cancel my order")),
    (contains("refund status"), starts_with("refund")),
    (starts_with("where is"), exact("where is")),
    ("book {count}", "book {seats}"),
    ("book {count}", "book two"),
    ("book {what} for {whom}", "book {what}"),
    ("book {what} for lunch", "book {what} for {meal}"),
    (contains("table for"), "book a table for {count}"),
    (starts_with("book a"), "book a table for {count}"),
    ("book {what} now", starts_with("book it now")),
    ("{who} wants a refund", contains("anna wants a refund")),
]

AGREEMENTS = [
    ("yes", "yes please"),
    (contains("refund"), contains("invoice")),
    (contains("refund"), "refunds"),
    (starts_with("cancel"), "cancelled"),
    ("book {count}", "cancel {count}"),
    ("book {count} now", "book {count} later"),
    (contains("count"), "book {count}"),
]


@pytest.mark.parametrize(("first", "second"), [*CONFLICTS, *[(second, first) for first, second in CONFLICTS]])
def test_a_phrase_that_two_rules_match_is_refused_naming_both(first: str | Phrase, second: str | Phrase) -> None:
    with pytest.raises(
        ValueError, match=r"rules '(one|other)' and '(one|other)' conflict: the phrase .*on_conflict='first'"
    ):
        RuleTable(two_rules(first, second))


@pytest.mark.parametrize(("first", "second"), AGREEMENTS)
async def test_phrases_that_are_told_apart_make_a_table(first: str | Phrase, second: str | Phrase) -> None:
    table = RuleTable(two_rules(first, second))

    assert await table.decide(Request(text="last of all")) is not None


@pytest.mark.parametrize(("first", "second"), CONFLICTS)
async def test_the_first_rule_decides_where_conflicts_are_allowed(first: str | Phrase, second: str | Phrase) -> None:
    rules = two_rules(first, second)
    shared = [
        phrase.text for rule in rules for phrase in rule.phrases if phrase.text not in {"first of all", "last of all"}
    ]
    names: list[str] = []
    for text in shared:
        log = AttemptLog()
        await RuleTable(rules, on_conflict="first").decide_traced(Request(text=text), log)
        names.extend(attempt.rule for attempt in log.report().attempts)

    assert "one" in names


def test_the_refusal_quotes_both_phrases() -> None:
    rules = [
        Rule("refunds", [contains("refund")], COMMAND),
        Rule("status", ["Where is my refund for {order}?"], COMMAND),
    ]
    expected = (
        "rules 'refunds' and 'status' conflict: the phrase 'Where is my refund for {order}?' of 'status' also matches "
        "'refund' (contains) of 'refunds'"
    )

    with pytest.raises(ValueError, match=re.escape(expected)):
        RuleTable(rules)


def test_phrases_of_one_rule_may_overlap() -> None:
    rule = Rule("refunds", ["refund", "Refund!", contains("refund"), starts_with("refund my")], COMMAND)

    assert RuleTable([rule]).name == "rules"


def test_functions_conflict_with_nothing() -> None:
    def never(text: str, state: SessionState) -> Decision | None:
        return None

    assert RuleTable([Rule("a", match=never), Rule("b", match=never), Rule("yes", ["yes"], COMMAND)]).name == "rules"


@pytest.mark.parametrize("on_conflict", ["refuse", "first"])
def test_two_rules_of_one_name_are_refused(on_conflict: str) -> None:
    rules = [Rule("yes", ["yes"], COMMAND), Rule("yes", ["yep"], COMMAND)]

    with pytest.raises(ValueError, match="two rules are called 'yes'"):
        RuleTable(rules, on_conflict="first" if on_conflict == "first" else "refuse")


def test_another_way_to_treat_conflicts_is_refused() -> None:
    with pytest.raises(ValueError, match="use 'refuse' or 'first'"):
        RuleTable([], on_conflict="last")  # type: ignore[arg-type]  # what a caller without a type checker may write


@given(tables)
def test_a_table_is_refused_exactly_when_a_phrase_said_alone_matches_two_rules(rules: list[Rule]) -> None:
    shared = any(
        naive_slots(phrase, wording.text) is not None
        for rule in rules
        for wording in rule.wordings
        for other in rules
        if other is not rule
        for phrase in other.phrases
    )

    refused = False
    try:
        RuleTable(rules)
    except ValueError:
        refused = True

    assert refused == shared

"""Phrases that cannot be used, and rules that cannot be built."""

import re
from collections.abc import Sequence

import pytest

from decide.decisions import Decision
from decide.requests import SessionState
from decide.rules import Match, Phrase, Rule, contains, exact, starts_with

COMMAND = Decision(interaction="command")


def never(text: str, state: SessionState) -> Decision | None:
    return None


def loosely_typed(*arguments: object, **named: object) -> Rule:
    return Rule(*arguments, **named)  # type: ignore[arg-type]  # what a caller without a type checker may write


@pytest.mark.parametrize(
    ("phrase", "complaint"),
    [
        ("book {", "a slot is a name in braces"),
        ("book }", "a slot is a name in braces"),
        ("book {}", "a slot is a name in braces"),
        ("book {0}", "a slot is a name in braces"),
        ("book {a b}", "a slot is a name in braces"),
        ("book {a:3}", "a slot is a name in braces"),
        ("book {a!r}", "a slot is a name in braces"),
        ("from {a} to {a}", "two slots have one name"),
        ("{a}", "needs a word besides its slots"),
        (" {a} {b} ?", "needs a word besides its slots"),
        ("room{n}", "a slot stands for whole words"),
        ("{n}pm please", "a slot stands for whole words"),
        ("{name}'s order", "a slot stands for whole words"),
        ("${n}.50", "a slot stands for whole words"),
        ("go {a}{b}", "a slot stands for whole words"),
        (contains("?!"), "nothing is left of it"),
        (starts_with(" "), "nothing is left of it"),
        (exact("a\uffffb"), "not a character of any text"),
    ],
)
def test_a_phrase_that_cannot_be_used_is_refused_with_the_name_of_its_rule(
    phrase: str | Phrase, complaint: str
) -> None:
    text = phrase if isinstance(phrase, str) else phrase.text

    with pytest.raises(ValueError, match=rf"^rule 'booking', phrase {re.escape(repr(text))}: .*{complaint}"):
        Rule("booking", ["fine", phrase], COMMAND)


@pytest.mark.parametrize("name", ["", " a", "a ", "a\nb", "a<b", "caf\u00e9", "x" * 201])
def test_a_name_that_is_not_fit_for_a_trace_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="a name is 1 to 200 of"):
        Rule(name, ["yes"], COMMAND)


@pytest.mark.parametrize("name", ["a", "calibrated lie", "orders/refund:v2@main~1+x-y.z_0", "x" * 200])
def test_a_name_may_have_letters_digits_spaces_and_a_few_signs(name: str) -> None:
    assert Rule(name, ["yes"], COMMAND).name == name


@pytest.mark.parametrize(
    ("phrases", "decision", "match"),
    [
        ([], None, None),
        (["yes"], None, None),
        ([], COMMAND, None),
        ([], COMMAND, never),
        (["yes"], None, never),
        (["yes"], COMMAND, never),
    ],
)
def test_a_rule_has_phrases_and_a_decision_or_a_function_and_nothing_between(
    phrases: Sequence[str], decision: Decision | None, match: Match | None
) -> None:
    with pytest.raises(ValueError, match="rule 'r': it needs either phrases and a decision, or a match function"):
        Rule("r", phrases, decision, match=match)


@pytest.mark.parametrize("phrase", ["yes", contains("yes")])
def test_a_lone_phrase_is_refused_instead_of_being_taken_apart(phrase: str | Phrase) -> None:
    with pytest.raises(TypeError, match="put it in a tuple"):
        loosely_typed("r", phrase, COMMAND)


def test_an_async_match_function_is_refused() -> None:
    async def later(text: str, state: SessionState) -> Decision | None:
        return None

    with pytest.raises(TypeError, match="rule 'r': its match function is async"):
        loosely_typed("r", match=later)


def test_a_decision_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="'decision' must be"):
        loosely_typed("r", ["yes"], "command")


def test_braces_are_ordinary_characters_unless_the_phrase_is_a_plain_string() -> None:
    rule = Rule("r", [exact("{a"), contains("}"), starts_with("{b}")], COMMAND)

    assert [wording.text for wording in rule.wordings] == ["{a", "}", "{b}"]
    assert [wording.slots for wording in rule.wordings] == [(), (), ()]

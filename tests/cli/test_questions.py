"""The grammar of a question on a command line."""

import click
import pytest

from decide.cli._questions import collect, read_question
from decide.questions import ChoiceQuestion, NoulQuestion, RelevanceQuestion, ScoreQuestion


def test_a_choice_has_a_key_a_text_and_described_options() -> None:
    assert read_question("choice", "team: Which team? | billing=charges and refunds | technical") == (
        "team",
        ChoiceQuestion("Which team?", {"billing": "charges and refunds", "technical": None}),
    )


def test_a_star_marks_the_option_that_means_none_of_these() -> None:
    _, question = read_question("choice", "team: Which? | billing | *other=anything else")

    assert question == ChoiceQuestion("Which?", {"billing": None, "other": "anything else"}, none_id="other")


def test_a_yes_or_no_question_needs_no_parts() -> None:
    assert read_question("noul", "angry: Is the writer angry?") == ("angry", NoulQuestion("Is the writer angry?"))


def test_the_parts_of_a_yes_or_no_question_say_what_each_side_means() -> None:
    _, question = read_question("noul", "angry: Angry? | false=calm | true=insults")

    assert question == NoulQuestion("Angry?", true="insults", false="calm")


def test_the_parts_of_a_score_are_its_levels_as_they_stand() -> None:
    _, question = read_question("score", "urgency: How urgent? | *can wait | a=b | today")

    assert question == ScoreQuestion("How urgent?", ("*can wait", "a=b", "today"))


def test_a_relevance_question_has_candidates() -> None:
    _, question = read_question("relevant", "topics: Which? | money=charges | access")

    assert question == RelevanceQuestion("Which?", {"money": "charges", "access": None})


def test_the_key_ends_at_the_first_colon_and_blank() -> None:
    key, question = read_question("noul", "a.B-9_: Is this: a test?")

    assert key == "a.B-9_"
    assert question.instructions == "Is this: a test?"


def test_an_id_ends_at_the_first_equals_sign() -> None:
    _, question = read_question("choice", "k: ? | a=b=c | d=")

    assert question == ChoiceQuestion("?", {"a": "b=c", "d": ""})


def test_a_bar_without_blanks_and_a_colon_without_a_blank_are_text() -> None:
    _, question = read_question("choice", "k: at 12:30 or a|b? | x|y | z")

    assert question == ChoiceQuestion("at 12:30 or a|b?", {"x|y": None, "z": None})


def test_blanks_around_a_part_are_dropped() -> None:
    _, question = read_question("choice", "k:  Which?  |  a = first  | b ")

    assert question == ChoiceQuestion("Which?", {"a": "first", "b": None})


@pytest.mark.parametrize("key", ["", "two words", "ключ", "a" * 65, "a/b", "a:b", " team"])
def test_a_key_of_other_letters_is_refused(key: str) -> None:
    with pytest.raises(click.UsageError, match="a key is 1 to 64"):
        read_question("noul", f"{key}: Really?")


@pytest.mark.parametrize("key", ["a", "a" * 64, "A.b_c-0"])
def test_a_key_has_1_to_64_plain_letters(key: str) -> None:
    assert read_question("noul", f"{key}: Really?")[0] == key


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("choice", "team", "starts with its key"),
        ("choice", "team:Which?", "starts with its key"),
        ("choice", "team:  | a", "text of the question is missing"),
        ("choice", "team: Which?", "1..255 options, got 0"),
        ("choice", "team: Which? | a | a", "duplicate id 'a'"),
        ("choice", "team: Which? | *a | *b", "only one option"),
        ("choice", "team: Which? | =charges", "an id is missing"),
        ("choice", "team: Which? | *", "an id is missing"),
        ("choice", "team: Which? | a |  | b", "part 2 is empty"),
        ("choice", "team: Which? | a |", "part 1 is empty"),
        ("noul", "angry: Angry? | yes=insults", "true=... and false=..."),
        ("noul", "angry: Angry? | true", "true=... and false=..."),
        ("noul", "angry: Angry? | true=a | true=b", "at most once"),
        ("score", "urgency: How urgent? | today", "2..10 ordered levels, got 1"),
        ("relevant", "topics: Which?", "at least 1 candidate"),
        ("relevant", "topics: Which? | a | *b", "only a choice"),
    ],
)
def test_what_does_not_follow_the_grammar_is_a_usage_error_that_shows_how_to_write_it(
    kind: str, text: str, said: str
) -> None:
    with pytest.raises(click.UsageError) as refused:
        read_question(kind, text)

    assert said in refused.value.message
    assert f"Write it as --{kind} " in refused.value.message


@pytest.mark.parametrize("kind", ["choice", "noul", "score", "relevant"])
def test_the_question_that_an_error_shows_is_one_that_can_be_asked(kind: str) -> None:
    with pytest.raises(click.UsageError) as refused:
        read_question(kind, "?")
    shown = refused.value.message.partition(f"Write it as --{kind} ")[2]

    _, question = read_question(kind, shown.strip('"'))

    assert question.instructions.endswith("?")


def test_questions_keep_their_order() -> None:
    asked = collect([("b", NoulQuestion("B?")), ("a", NoulQuestion("A?"))])

    assert list(asked) == ["b", "a"]


def test_two_questions_under_one_key_are_refused() -> None:
    with pytest.raises(click.UsageError, match='two questions have the key "a"'):
        collect([("a", NoulQuestion("A?")), ("a", NoulQuestion("B?"))])


def test_without_a_question_the_error_says_how_to_ask_one() -> None:
    with pytest.raises(click.UsageError, match="no question to ask") as refused:
        collect([])

    assert "--questions FILE" in refused.value.message

"""Finding the phrases that match, against a reader who tries them one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.rules import Phrase, contains, normalize, starts_with
from decide.rules.matching import PhraseIndex, Utterance
from decide.rules.normalizing import lower
from decide.rules.phrases import prepare
from tests.rules.naive import naive_slots
from tests.rules.strategies import phrases, slotted, texts


def matches(phrase: Phrase, text: str) -> bool:
    return PhraseIndex({0: prepare(phrase)}).first(Utterance(text)) == 0


def slots(pattern: str, text: str) -> dict[str, str] | None:
    index = PhraseIndex({0: prepare(Phrase(pattern))})
    heard = Utterance(text)
    return None if index.first(heard) is None else index.slots(0, heard)


@given(st.lists(phrases, max_size=8), texts)
def test_the_index_finds_exactly_the_phrases_that_match(table: list[Phrase], text: str) -> None:
    index = PhraseIndex(dict(enumerate(map(prepare, table))))
    matching = {at for at, phrase in enumerate(table) if naive_slots(phrase, normalize(text)) is not None}

    assert index.every(Utterance(text)) == matching
    assert index.first(Utterance(text)) == min(matching, default=None)


@given(slotted, st.lists(texts, min_size=3, max_size=3))
def test_a_pattern_matches_what_its_slots_are_filled_with_and_fills_them_alike(
    pattern: Phrase, filling: list[str]
) -> None:
    text = pattern.text.replace("{{", "{").replace("}}", "}")
    for slot, value in zip(("{x}", "{y}", "{z}"), filling, strict=True):
        text = text.replace(slot, value)
    heard = Utterance(text)
    index = PhraseIndex({0: prepare(pattern)})
    expected = naive_slots(pattern, heard.text)

    assert (index.first(heard) == 0) == (expected is not None)
    assert {name: lower(value) for name, value in index.slots(0, heard).items()} == (expected or {})


@pytest.mark.parametrize(
    "text", ["refund", "Refund?", "I want a REFUND, please", "refund-request", "(refund)", "a\u00a0refund"]
)
def test_a_contained_word_is_found_between_spaces_and_punctuation(text: str) -> None:
    assert matches(contains("refund"), text)


@pytest.mark.parametrize(
    "text", ["refunds", "prerefund", "refund's", "re fund", "refund_id", "refund2", "refund\u0301"]
)
def test_a_contained_word_is_not_found_inside_another_word(text: str) -> None:
    assert not matches(contains("refund"), text)


def test_a_word_is_not_found_in_its_own_contraction() -> None:
    assert not matches(contains("can"), "No, I can't")
    assert not matches(contains("can"), "No, I can\u2019t")


def test_a_number_is_not_found_inside_another_number() -> None:
    assert not matches(contains("3"), "it costs 3.50")
    assert matches(contains("3"), "it costs 3, or so")


def test_a_phrase_may_begin_and_end_with_signs() -> None:
    assert matches(contains("c++"), "I write C++ now")
    assert matches(contains("#1"), "you are #1!")


def test_characters_of_scripts_without_spaces_are_found_anywhere() -> None:
    assert matches(contains("\u9000\u6b3e"), "\u6211\u8981\u9000\u6b3e\u3002")
    assert matches(starts_with("\u53d6\u6d88"), "\u53d6\u6d88\u8ba2\u5355")


def test_a_katakana_word_is_not_found_inside_a_longer_one() -> None:
    assert matches(contains("\u30ce\u30fc"), "\u30ce\u30fc\u3067\u3059")
    assert not matches(contains("\u30ce\u30fc"), "\u30ce\u30fc\u30c8\u3067\u3059")


@pytest.mark.parametrize(
    ("text", "found"), [("Cancel", True), ("cancel, please", True), ("cancelled", False), ("to cancel", False)]
)
def test_a_beginning_ends_with_a_word_of_the_text(text: str, found: bool) -> None:
    assert matches(starts_with("cancel"), text) is found


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("book a table for {count}", "Book  a table for TWO!", {"count": "TWO"}),
        ("book a table for {count}", "book a table for 2, by the window", {"count": "2, by the window"}),
        ("book a table for {count}", "book a table for", None),
        ("book a table for {count}", "please book a table for 2", None),
        ("from {a} to {b}", "From Rome to Lido to Venice", {"a": "Rome", "b": "Lido to Venice"}),
        ("from {a} to {b} now", "from x to y now now", {"a": "x", "b": "y now"}),
        ("move {what} {where} please", "move the big box home please", {"what": "the", "where": "big box home"}),
        ("go -{x}-", "go - -", None),
        ("go -{x}-", "go - a -", {"x": "a"}),
        ("{n}% of {x}", "5 % of Sales", {"n": "5", "x": "Sales"}),
        ("{{{x}}}", "{ A }", {"x": "A"}),
        ("call {name}?", "Call \u0130pek?", {"name": "\u0130pek"}),
        ("\u8a02{n}\u5f35\u7968", "\u8a02\u5169\u5f35\u7968", {"n": "\u5169"}),
    ],
)
def test_slots_hold_what_the_user_said_in_the_users_case(pattern: str, text: str, found: dict[str, str] | None) -> None:
    assert slots(pattern, text) == found


def test_patterns_that_share_their_beginning_are_told_apart_by_their_end() -> None:
    cities = [f"city{number}" for number in range(1000)]
    index = PhraseIndex({at: prepare(Phrase(f"book {{nights}} in {city}")) for at, city in enumerate(cities)})
    heard = Utterance("Book 2 nights in City77")

    assert index.first(heard) == 77
    assert index.slots(77, heard) == {"nights": "2 nights"}

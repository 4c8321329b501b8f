"""What a text is to a rule."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.rules import normalize
from decide.rules.normalizing import lower, squeeze, words
from tests.rules.naive import naive_words
from tests.rules.strategies import texts

EVERY_CHARACTER = [chr(code) for code in range(sys.maxunicode + 1)]


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("What's  up?", "what's up"),
        ("\u00a0hi\u00a0there\u00a0", "hi there"),
        ("?!.", ""),
        ("Yes ! ?", "yes"),
        ("No, thanks.", "no, thanks"),
        ("...yes", "...yes"),
        ("A.B.C.", "a.b.c"),
        ("\u0085x\u0085y\u2028", "x y"),
        ("a\u200bb", "a\u200bb"),
        ("a\x1cb\x1fc", "a\x1cb\x1fc"),
        ("\u0130STANBUL", "istanbul"),
        ("\u03a3\u0399\u03a3\u03a5\u03a6\u039f\u03a3", "\u03c3\u03b9\u03c3\u03c5\u03c6\u03bf\u03c3"),
        ("\ufb03\u1e9e", "\ufb03\u00df"),
        ("\u65e5\u672c\u8a9e\u3002", "\u65e5\u672c\u8a9e\u3002"),
    ],
)
def test_a_text_is_heard_as_the_reference_hears_it(text: str, heard: str) -> None:
    assert normalize(text) == heard


def test_every_character_alone_has_one_lower_case_character() -> None:
    assert [one for one in EVERY_CHARACTER if len(lower(one)) != 1] == []


def test_lower_case_is_the_same_for_a_character_alone_and_among_others() -> None:
    assert lower("".join(EVERY_CHARACTER)) == "".join(map(lower, EVERY_CHARACTER))


def test_only_what_go_counts_as_white_space_is_white_space() -> None:
    spaces = [one for one in EVERY_CHARACTER if squeeze(f"a{one}b") == "a b"]

    assert spaces == [one for one in EVERY_CHARACTER if one.isspace() and one not in "\x1c\x1d\x1e\x1f"]


@given(st.text() | texts)
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalize(normalize(text)) == normalize(text)


@given(st.text() | texts)
def test_the_users_own_case_lines_up_with_what_is_heard(text: str) -> None:
    assert len(squeeze(text)) == len(normalize(text))


@given(st.text() | texts)
def test_words_joined_are_the_text_again(text: str) -> None:
    assert "".join(words(normalize(text))) == normalize(text)


@given(texts)
def test_words_are_cut_as_a_slow_reader_cuts_them(text: str) -> None:
    assert words(normalize(text)) == naive_words(normalize(text))


@given(st.text(st.characters(max_codepoint=127)))
def test_the_cut_of_an_ascii_text_does_not_depend_on_what_follows_it(text: str) -> None:
    heard = normalize(text)

    assert words(f"{heard} \u00e9") == [*words(heard), " ", "\u00e9"]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("i can't, sorry", ["i", " ", "can't", ",", " ", "sorry"]),
        ("'refund'", ["'", "refund", "'"]),
        ("3.a, a.3", ["3", ".", "a", ",", " ", "a", ".", "3"]),
        ("3.50 or 1,000", ["3.50", " ", "or", " ", "1,000"]),
        ("non-refundable", ["non", "-", "refundable"]),
        ("caf\u0065\u0301s", ["caf\u0065\u0301s"]),
        ("\u6211\u8981\u9000\u6b3e", ["\u6211", "\u8981", "\u9000", "\u6b3e"]),
        (
            "\u30ad\u30e3\u30f3\u30bb\u30eb\u3057\u305f\u3044",
            ["\u30ad\u30e3\u30f3\u30bb\u30eb", "\u3057", "\u305f", "\u3044"],
        ),
        ("\uc8fc\ubb38\uc744 \ucde8\uc18c", ["\uc8fc\ubb38\uc744", " ", "\ucde8\uc18c"]),
        ("\u0928\u092e\u0938\u094d\u0924\u0947", ["\u0928\u092e\u0938\u094d\u0924\u0947"]),
    ],
)
def test_words_end_where_a_reader_would_say_so(text: str, cut: list[str]) -> None:
    assert words(text) == cut

"""Texts, phrases and tables made of few pieces, so that they meet often."""

from hypothesis import strategies as st

from decide import decisions
from decide.rules import Phrase, Rule, contains, exact, starts_with
from decide.rules.phrases import How, prepare

_PIECES = [
    *("a", "b", "A", "can", "can't", "t", "3", "5", "3.5", "3,5", "_"),
    *(" ", " ", " ", "  ", "\u00a0", "-", "'", "\u2019", ".", ",", "?", "!", "$", "{{", "}}"),
    *(
        "\u00e9",
        "e\u0301",
        "\u0301",
        "\u200d",
        "\u03a3",
        "\u0130",
        "\u9000",
        "\u6b3e",
        "\u304b\u3099",
        "\u30ad",
        "\u30fc",
        "\u0e01\u0e34",
    ),
]

_ASCII_PIECES = list(filter(str.isascii, _PIECES))

texts = st.one_of(
    st.lists(st.sampled_from(_PIECES), max_size=12).map("".join),
    st.lists(st.sampled_from(_ASCII_PIECES), max_size=12).map("".join),
)


def _usable(phrase: Phrase) -> bool:
    try:
        prepare(phrase)
    except ValueError:
        return False
    return True


_words = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=4).map("".join)
_patterns = st.lists(st.one_of(_words, st.sampled_from(["{x}", "{y}", " {x} ", " {y}", "{z}"])), min_size=1, max_size=6)
phrases = st.one_of(
    _words.map(exact),
    _words.map(contains),
    _words.map(starts_with),
    _patterns.map("".join).map(Phrase),
).filter(_usable)
slotted = _patterns.map("".join).map(Phrase).filter(lambda one: _usable(one) and prepare(one).how is How.PATTERN)


def rule(number: int, listens: list[Phrase]) -> Rule:
    return Rule(f"rule {number}", listens, decisions.Decision(interaction="command"))


tables = st.lists(st.lists(phrases, min_size=1, max_size=3), max_size=6).map(
    lambda table: [rule(number, listens) for number, listens in enumerate(table)]
)

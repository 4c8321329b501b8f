"""What a rule hears of a text: one case, single spaces, no closing punctuation, divided into words."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Final

# Go's unicode.IsSpace: without the separators U+001C to U+001F that Python counts, and without the zero width space.
_SPACES: Final = re.compile("[\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_CLOSING: Final = ".!? "

_ASCII_WORDS: Final = re.compile(r"[0-9a-z_]+(?:(?:'|(?<=[0-9])[.,](?=[0-9]))[0-9a-z_]+)*|[^0-9a-z_]")
_KATAKANA: Final = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_UNSPACED: Final = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3005-\u3007\u3041-\u309f"  # Hiragana and iteration marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)


def normalize(text: str) -> str:
    """
    Return *text* as rules compare it.

    Lower case by the simple mapping of each character (no final sigma, and a dotted capital I becomes i), runs of white
    space as one space, no space at either end, and none of `.`, `!`, `?` at the end. All other punctuation stays, and
    no Unicode normalisation is done.
    """
    return lower(squeeze(text))


def squeeze(text: str) -> str:
    """
    Return *text* as `normalize` does, but in its own case: character by character as long as the normalised text.
    """
    return _SPACES.sub(" ", text).lstrip(" ").rstrip(_CLOSING)


def lower(text: str) -> str:
    """
    Return *text* in lower case, without the two mappings of `str.lower` that look at neighbours or lengthen the text.
    """
    return text.replace("\u0130", "i").replace("\u03a3", "\u03c3").lower()


def words(text: str) -> list[str]:
    """
    Cut a normalised text into words; joined, they are the text again.

    A word is a run of letters, digits, underscores and combining marks, with apostrophes inside it ("can't") and points
    and commas inside numbers ("3.50"). Every other character, a space too, stands for itself. In scripts without spaces
    (Han, Hiragana, Thai, Lao, Khmer, Burmese) every character is a word, and a run of Katakana is one: no dictionary is
    consulted.
    """
    pattern = _ASCII_WORDS if text.isascii() else _unicode_words()
    return pattern.findall(text)


@functools.cache
def _unicode_words() -> re.Pattern[str]:
    # Python's \w has no combining marks. Planes 2 and 3 hold Han only, and the last range the variation selectors.
    planes = (range(0x300, 0x3100), range(0xA000, 0x20000), range(0xE0100, 0xE01F0))
    marks = "".join(chr(code) for plane in planes for code in plane if unicodedata.category(chr(code)).startswith("M"))
    marks += "\u200c\u200d"
    letter = rf"(?:(?![{_KATAKANA}{_UNSPACED}])[\w{marks}])"
    return re.compile(
        rf"[{_KATAKANA}][{_KATAKANA}{marks}]*|[{_UNSPACED}][{marks}]*"
        rf"|{letter}+(?:(?:['\u2019]|(?<=\d)[.,](?=\d)){letter}+)*|.",
        re.DOTALL,
    )

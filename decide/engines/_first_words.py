"""The beginning of a long state: as much of it as a model that reads only so many tokens can see."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Final

# Each match holds at least one token of a WordPiece tokeniser, whatever its vocabulary: a punctuation mark or an
# ideograph stands alone, anything else with a letter or a digit in it ends at the latest before one of them or a blank.
_ALONE: Final = r"!-/:-@\[-`{-~\u3400-\u4dbf\u4e00-\u9fff"
_TOKENS: Final = re.compile(rf"[{_ALONE}]|[^\W_][^ \t\n\r{_ALONE}]*")


def first_words(state: object, tokens: int) -> str:
    """
    Return the beginning of *state* that holds at least its first *tokens* tokens; all of it when it has no more.

    A model that reads only those answers the same, without looking at the rest. A state that is no text is written as
    indented JSON, as sparrow-decider writes it.
    """
    text = state if isinstance(state, str) else json.dumps(state, indent=2, ensure_ascii=False)
    beyond = next(islice(_TOKENS.finditer(text), tokens, None), None)
    return text if beyond is None else text[: beyond.start()]

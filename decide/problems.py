"""What a validator has to say: one problem each, in our own words."""

from __future__ import annotations

from collections.abc import Collection

import attrs


@attrs.frozen
class Problem:
    """
    One thing that is wrong with a value.

    Attributes:
        text: What is wrong, naming positions and counts and never an id or a text of the caller's.
    """

    text: str

    def __str__(self) -> str:
        return self.text


def invalid_detail(problems: Collection[Problem]) -> str:
    """
    Say how many problems there are, and nothing else: fit for a trace.
    """
    return f"answer failed validation ({len(problems)} problem{'' if len(problems) == 1 else 's'})"

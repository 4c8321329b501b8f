"""What running one vector came to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

Doc = dict[str, Any]


@attrs.frozen(kw_only=True)
class Ran:
    """
    What the product did with the input of a vector.

    Attributes:
        actual: As the vector would write it.
        expect: What is to be compared of what a vector expects; the whole by default.
        exact: A member that is left out is not the same as one that is empty.
        refused: Something on the way could not be built.
    """

    actual: Any
    expect: Callable[[Any], Any] = lambda expected: expected
    exact: bool = False
    refused: bool = False


class RefusedError(Exception):
    """
    The input of a vector is something that this implementation does not build at all.
    """

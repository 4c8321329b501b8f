"""Durations as they are written on a command line: a number and a unit."""

from __future__ import annotations

import re
from typing import Final

import click

_DURATION: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m)")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0}


class Duration(click.ParamType[float]):
    """
    A number followed by `ms`, `s` or `m`, read as seconds.
    """

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """
        Return the seconds that *value* spells.
        """
        if isinstance(value, float):
            return value
        spelled = _DURATION.fullmatch(str(value))
        if spelled is None:
            self.fail(f"{value!r} is no duration: write a number and ms, s or m, such as 50ms or 1.5s", param, ctx)
        return float(spelled[1]) * _SECONDS[spelled[2]]

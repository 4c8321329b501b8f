"""The dialects that servers speak, chosen by name and never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from decide.engines._setup import SetupError
from decide.engines.dialects._dialect import AnotherDialectError, Dialect, UnreadableError
from decide.engines.dialects._gateways import AGENTCORE, CLOUDFLARE, DATABRICKS, PARALLEL, VERCEL
from decide.engines.dialects._openai import OPENAI
from decide.engines.dialects._systemone import CHALK, LITELLM, OPENROUTER, SYSTEM_ONE

__all__ = ["DIALECTS", "AnotherDialectError", "Dialect", "UnreadableError", "dialect_called"]

DIALECTS: Final[Mapping[str, Dialect]] = MappingProxyType(
    {
        one.name: one
        for one in (
            SYSTEM_ONE,
            CHALK,
            OPENROUTER,
            OPENAI,
            LITELLM,
            CLOUDFLARE,
            DATABRICKS,
            VERCEL,
            PARALLEL,
            AGENTCORE,
        )
    }
)
"""By name."""


def dialect_called(dialect: str | Dialect) -> Dialect:
    """
    Return the dialect of that name, or one that somebody made themselves.

    Raises:
        SetupError: If there is none, naming those that there are.
    """
    if isinstance(dialect, Dialect):
        return dialect
    found = DIALECTS.get(dialect)
    if found is None:
        raise SetupError(f"dialect: there is no {dialect!r}; there are {', '.join(DIALECTS)}")
    return found

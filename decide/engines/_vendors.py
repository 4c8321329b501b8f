"""Parts of a configuration that are known not to fit together, told before anything is sent."""

from __future__ import annotations

import re
from typing import Final

import attrs

from decide.engines._setup import SetupError


@attrs.frozen
class _Host:
    """
    What is known of a host.

    Attributes:
        dialects: What it speaks.
        models: What the ids of its models look like.
        example: One of them.
    """

    dialects: frozenset[str]
    models: re.Pattern[str]
    example: str


_REQUIRED: Final = re.compile(r"[^/~]+")
_PREFIXED: Final = re.compile(r"|~?[^/~]+/[^/]+")

_HOSTS: Final = {
    "api.typesafe.ai": _Host(frozenset({"systemone"}), _REQUIRED, "jev-latest"),
    "openrouter.ai": _Host(frozenset({"openrouter", "systemone"}), _PREFIXED, "typesafe/jev-1.13"),
    "api.openai.com": _Host(frozenset({"openai"}), _REQUIRED, "gpt-6-luna"),
    "ai-gateway.vercel.sh": _Host(frozenset({"vercel", "systemone"}), _PREFIXED, "typesafe/jev-1.13"),
}


def check_parts(host: str, dialect: str, model: str) -> None:
    """
    Refuse a dialect or a model that the vendor at *host* is known not to have; of others nothing is known.

    Raises:
        SetupError: Naming the part and what would fit.
    """
    known = _HOSTS.get(host)
    if known is None:
        return
    if dialect not in known.dialects:
        raise SetupError(f"dialect: {host} speaks {' or '.join(sorted(known.dialects))}, not {dialect}")
    if not known.models.fullmatch(model):
        what = f"has no {model!r}" if model else "needs one"
        raise SetupError(f"model: {host} {what}; its models are called like {known.example!r}")

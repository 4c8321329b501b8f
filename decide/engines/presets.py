"""What is known of the services and servers that people use, so that naming one is enough."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs

from decide.engines._endpoints import parsed
from decide.engines._http import CONCURRENCY
from decide.engines._late import Late, key_from
from decide.engines._setup import SetupError
from decide.engines._vendors import check_parts
from decide.engines.limits import NO_LIMITS, Limits
from decide.engines.prices import Price
from decide.engines.systemone import SystemOneEngine

HOSTED_CONCURRENCY: Final = 8
"""Requests at once to a hosted service: at 0.4 s each, the 1,200 a minute that the best known of them allows."""

_JEV = Limits(least_options=2, options=255, levels=10, state_tokens=32_000)


@attrs.frozen(kw_only=True)
class Preset:
    """
    A service or server.

    Attributes:
        name: What it is chosen by, and what traces call its engine.
        base_url: Where it is; empty when every user has their own.
        dialect: What it speaks.
        model: What it is asked for; empty leaves it to the server.
        key_variable: The environment variable that holds its key by custom; empty when it needs none, or when everybody
            has it at a place of their own, so that its key has to be given.
        limits: What it takes at most.
        price: What it charges, where that is published and not reported.
        concurrency: Requests at once that it bears.

    Raises:
        SetupError: If the parts contradict each other.
    """

    name: str
    base_url: str = ""
    dialect: str = "systemone"
    model: str = ""
    key_variable: str = ""
    limits: Limits = NO_LIMITS
    price: Price | None = None
    concurrency: int = CONCURRENCY

    def __attrs_post_init__(self) -> None:
        if self.base_url:
            check_parts(parsed(self.base_url).host, self.dialect, self.model)


def from_preset(
    preset: str | Preset, *, base_url: str = "", model: str | None = None, api_key: Late | None = None, **options: Any
) -> SystemOneEngine:
    """
    Return an engine for a service or server that is known.

    Args:
        preset: Its name, or a preset of your own.
        base_url: Where yours is, when that is somewhere else. The customary key of a service is never sent elsewhere,
            so that *api_key* has to be given then.
        model: Another model than the preset's.
        api_key: Another key than that of the customary variable, which is read at every call.
        options: Further arguments of `SystemOneEngine`.

    Raises:
        SetupError: If there is no such preset, or its parts and yours do not fit together.
    """
    known = _called(preset)
    if not (base_url or known.base_url):
        raise SetupError(f"base_url: where your {known.name} is, nobody else knows")
    return SystemOneEngine(
        base_url or known.base_url,
        **{
            "name": known.name,
            "dialect": known.dialect,
            "model": known.model if model is None else model,
            "api_key": _key(known, base_url) if api_key is None else api_key,
            "limits": known.limits,
            "price": known.price,
            "concurrency": known.concurrency,
            **options,
        },
    )


def _called(preset: str | Preset) -> Preset:
    if isinstance(preset, Preset):
        return preset
    if preset not in PRESETS:
        raise SetupError(f"preset: there is no {preset!r}; there are {', '.join(PRESETS)}")
    return PRESETS[preset]


def _key(known: Preset, base_url: str) -> Late | None:
    if not known.key_variable:
        return None
    if base_url and known.base_url and parsed(base_url).netloc != parsed(known.base_url).netloc:
        raise SetupError(f"api_key: {known.key_variable} is the key for {known.base_url}; give the one for your server")
    return key_from(known.key_variable)


PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        one.name: one
        for one in (
            Preset(
                name="typesafe",
                base_url="https://api.typesafe.ai",
                model="jev-latest",
                key_variable="TYPESAFE_API_KEY",
                limits=_JEV,
                price=Price("0.042"),
                concurrency=HOSTED_CONCURRENCY,
            ),
            Preset(
                name="openrouter",
                base_url="https://openrouter.ai/api",
                dialect="openrouter",
                model="typesafe/jev-1.13",
                key_variable="OPENROUTER_API_KEY",
                concurrency=HOSTED_CONCURRENCY,
            ),
            Preset(
                name="openai",
                base_url="https://api.openai.com",
                dialect="openai",
                model="gpt-6-luna",
                key_variable="OPENAI_API_KEY",
                concurrency=HOSTED_CONCURRENCY,
            ),
            Preset(
                name="fireworks",
                base_url="https://api.fireworks.ai/inference",
                key_variable="FIREWORKS_API_KEY",
                limits=Limits(least_options=2, options=208),
                concurrency=HOSTED_CONCURRENCY,
            ),
            Preset(
                name="parallel",
                base_url="https://api.parallel.ai",
                dialect="parallel",
                key_variable="PARALLEL_API_KEY",
                concurrency=HOSTED_CONCURRENCY,
            ),
            Preset(
                name="vercel",
                base_url="https://ai-gateway.vercel.sh",
                dialect="vercel",
                key_variable="AI_GATEWAY_API_KEY",
                concurrency=HOSTED_CONCURRENCY,
            ),
            Preset(
                name="cloudflare",
                dialect="cloudflare",
                concurrency=HOSTED_CONCURRENCY,
            ),
            Preset(
                name="databricks",
                dialect="databricks",
                concurrency=HOSTED_CONCURRENCY,
            ),
            Preset(name="agentcore", dialect="agentcore", limits=Limits(instructions=True), concurrency=1),
            Preset(
                name="litellm",
                base_url="http://127.0.0.1:4000",
                dialect="litellm",
                limits=Limits(options=255, levels=10, questions=128),
            ),
            Preset(
                name="strands-decider",
                base_url="http://127.0.0.1:8000",
                limits=Limits(least_options=2, options=255, levels=10, instructions=True),
                concurrency=1,
            ),
            Preset(
                name="chalk",
                base_url="http://127.0.0.1:8471",
                dialect="chalk",
                limits=Limits(questions=8),
                concurrency=1,
            ),
            Preset(
                name="laya",
                limits=Limits(
                    questions=64, least_options=2, options=100, all_options=512, levels=32, state_characters=50_000
                ),
                concurrency=16,
            ),
            Preset(
                name="opendecider",
                limits=Limits(
                    questions=64, least_options=2, options=256, state_characters=200_000, body_bytes=1024 * 1024
                ),
            ),
            Preset(
                name="llama-server",
                base_url="http://127.0.0.1:8080",
                limits=Limits(questions=4096, least_options=2, instructions=True),
            ),
            Preset(name="ollama", base_url="http://127.0.0.1:11434"),
            Preset(name="lm-studio", base_url="http://127.0.0.1:1234"),
            Preset(name="vllm", base_url="http://127.0.0.1:8000"),
            Preset(name="noulxp", base_url="http://127.0.0.1:8790", limits=Limits(body_bytes=1024 * 1024)),
            Preset(name="avrik"),
        )
    }
)
"""By name. Limits and prices are those of November 2026, and can change without notice."""

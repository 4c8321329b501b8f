"""Services that are known by name: where they are, what they are asked for, and which parts do not fit together."""

from typing import Any

import httpx2
import pytest

from decide.engines._setup import SetupError
from decide.engines.presets import PRESETS, Preset, from_preset
from decide.engines.systemone import SystemOneEngine
from decide.errors import MisconfiguredError
from tests.engines.wire import ANSWERED, asking, replying

NEED_A_PLACE = {"cloudflare", "databricks", "agentcore", "laya", "opendecider", "avrik"}


def test_every_preset_becomes_an_engine_under_its_name() -> None:
    for name, preset in PRESETS.items():
        place = "https://example.test" if name in NEED_A_PLACE else ""
        engine = from_preset(name, base_url=place, model=preset.model or "a/b", api_key="k" if place else None)

        assert engine.name == name
        assert engine.effective["dialect"] == preset.dialect
        assert engine.effective["concurrency"] == preset.concurrency


@pytest.mark.parametrize("name", sorted(NEED_A_PLACE))
def test_a_server_that_everyone_has_their_own_of_needs_its_place(name: str) -> None:
    with pytest.raises(SetupError, match="base_url"):
        from_preset(name)


@pytest.mark.parametrize(
    ("preset", "url", "key"),
    [
        ("typesafe", "https://api.typesafe.ai/v1/systemone", "TYPESAFE_API_KEY"),
        ("openrouter", "https://openrouter.ai/api/alpha/decisions", "OPENROUTER_API_KEY"),
        ("openai", "https://api.openai.com/v1/decisions", "OPENAI_API_KEY"),
        ("fireworks", "https://api.fireworks.ai/inference/v1/systemone", "FIREWORKS_API_KEY"),
    ],
)
def test_a_hosted_service_has_its_route_and_its_customary_key(preset: str, url: str, key: str) -> None:
    effective = from_preset(preset).effective

    assert effective["url"] == url
    assert effective["key"] == f"environment variable {key}"


def test_a_server_of_this_machine_is_sent_no_key() -> None:
    assert from_preset("strands-decider").effective["key"] == "none"
    assert from_preset("ollama").effective["key"] == "none"


@pytest.mark.parametrize(
    ("preset", "options", "what"),
    [
        ("openrouter", {"model": "jev-latest"}, "model"),
        ("typesafe", {"model": "typesafe/jev-1.13"}, "model"),
        ("typesafe", {"dialect": "openai"}, "dialect"),
        ("openai", {"dialect": "systemone"}, "dialect"),
        ("typesafe", {"base_url": "https://proxy.example.test"}, "TYPESAFE_API_KEY"),
        ("typesafe", {"base_url": "https://api.typesafe.ai:8443"}, "TYPESAFE_API_KEY"),
        ("nobody", {}, "typesafe, openrouter"),
    ],
)
def test_parts_that_contradict_each_other_are_refused_when_the_engine_is_built(
    preset: str, options: dict[str, Any], what: str
) -> None:
    with pytest.raises(SetupError, match=what):
        from_preset(preset, **options)


def test_a_known_bad_pair_is_refused_without_a_preset_too() -> None:
    with pytest.raises(SetupError, match="typesafe/jev"):
        SystemOneEngine("https://openrouter.ai/api/v1", dialect="openrouter", model="jev-latest")


def test_a_preset_of_ones_own_is_checked_when_it_is_written_down() -> None:
    with pytest.raises(SetupError, match="model"):
        Preset(name="mine", base_url="https://openrouter.ai/api", dialect="openrouter", model="jev-latest")

    mine = Preset(name="mine", base_url="http://127.0.0.1:9", model="m", key_variable="MINE")
    assert from_preset(mine).effective["key"] == "environment variable MINE"


async def test_the_key_of_another_vendor_is_never_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-other")

    with pytest.raises(MisconfiguredError, match="TYPESAFE_API_KEY"):
        await from_preset("typesafe").score(asking())


def test_a_key_given_by_hand_may_go_to_another_place() -> None:
    engine = from_preset("typesafe", base_url="https://proxy.example.test", api_key="k")

    assert engine.effective["key"] == "given"
    assert "k" not in {str(value) for value in engine.effective.values()}


async def test_a_published_price_tells_the_cost_that_the_server_leaves_out() -> None:
    usage = {"input_tokens": 1_000_000, "output_tokens": 5}
    reply = replying(200, {**ANSWERED, "usage": usage})
    engine = from_preset("typesafe", api_key="k", client=httpx2.AsyncClient(transport=httpx2.MockTransport(reply)))

    found = (await engine.score(asking())).usage

    assert found is not None
    assert str(found.cost) == "0.042"

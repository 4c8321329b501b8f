"""Random compositions: every combinator and wrapper, nested two or three deep, around engines that do anything."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import attrs

from decide import DURABLE, NARROWING, Chain, Observer, Provider, SelectionPolicy, StopPolicy
from decide.compose import FailureRate, Fallback, Hedged, Race, Retry, Single
from tests.soak.engines import TEMPERS, SoakEngine, TracedSoakEngine
from tests.soak.gates import WatchedBreaker, WatchedBudget, WatchedTurns

Gate = WatchedBreaker | WatchedBudget | WatchedTurns

_EXTRAS = ("abstained", "uncertain", "quota")
_USUAL = ("error", "timeout", "unavailable", "busy", "unsupported", "invalid", "rejected", "auth")


@attrs.define
class World:
    """
    One composition, and everybody in it.

    Attributes:
        chain: What is asked.
        engines: Every engine in it, by name; each stands in one place only.
        gates: Every breaker, budget and set of turns in it.
        retries: How many retries there are in it.
        keeps: The chain keeps answers that nobody may act on.
    """

    chain: Chain
    engines: dict[str, SoakEngine]
    gates: list[Gate]
    retries: int
    keeps: bool


def build(seed: str, observers: list[Observer]) -> World:
    """
    Return the world of *seed*.
    """
    return _Builder(seed).world(observers)


class _Builder:
    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._dice = random.Random(seed)
        self._engines: dict[str, SoakEngine] = {}
        self._gates: list[Gate] = []
        self._retries = 0

    def world(self, observers: list[Observer]) -> World:
        dice = self._dice
        keeps = dice.random() < 0.2
        chain = Chain(
            [self._tree(dice.choice((0, 1, 2, 2, 3))) for _ in range(dice.choice((1, 1, 2, 3)))],
            min_confidence=dice.choice((None, 0.7)),
            timeout=self._seconds(),
            policy=self._policy(),
            keep_non_selected=keeps,
            stop_on_quota=dice.choice(list(StopPolicy)),
            stop_on_misconfigured=dice.choice(list(StopPolicy)),
            observers=observers,
        )
        return World(chain, self._engines, self._gates, self._retries, keeps)

    def _tree(self, depth: int) -> Provider:
        """
        Return something to ask, so many combinators deep, with gates around it.
        """
        before = set(self._engines)
        engine = self._combined(depth - 1) if depth else self._leaf()
        for gate in self._dice.choices(
            (self._breaker, self._budget, self._turns, self._retry, self._retry), k=self._dice.choice((0, 0, 1, 1, 2))
        ):
            engine = gate(engine, [self._engines[name] for name in self._engines if name not in before])
        return engine

    def _combined(self, depth: int) -> Provider:
        dice = self._dice
        settings: dict[str, Any] = {"policy": self._policy(), "default_timeout": self._seconds()}
        fail_over = [*dice.sample(_USUAL, k=dice.randrange(4, 9)), *dice.sample(_EXTRAS, k=dice.randrange(3))]

        def below() -> Provider:
            return self._tree(dice.randrange(depth + 1))

        shape = dice.choice(("single", "fallback", "hedged", "hedged", "race"))
        if shape == "single":
            return Single(below(), name=self._name("single"), **settings)
        if shape == "hedged":
            delay = dice.choice((0.0, 0.1, 0.3, 0.6, 5.0))
            return Hedged(below(), below(), delay=delay, fail_over=fail_over, name=self._name("hedged"), **settings)
        several: Callable[..., Provider] = Fallback if shape == "fallback" else Race
        legs = [below() for _ in range(dice.randrange(1, 4))]
        return several(*legs, fail_over=fail_over, name=self._name(shape), **settings)

    def _leaf(self) -> Provider:
        dice = self._dice
        make = dice.choice((SoakEngine, SoakEngine, TracedSoakEngine))
        timeout = dice.choice((None, None, self._seconds()))
        name = f"engine{len(self._engines)}"
        engine = make(self._seed, name, dice.choice(TEMPERS), timeout=timeout, deterministic=dice.random() < 0.1)
        self._engines[name] = engine
        return engine

    def _breaker(self, engine: Provider, _: list[SoakEngine]) -> Provider:
        dice = self._dice
        breaker = WatchedBreaker(
            engine,
            threshold=dice.randrange(1, 6),
            window=dice.choice((1.0, 30.0)),
            cooldown=dice.choice((0.0, 0.5, 2.0, 30.0)),
            probe_timeout=dice.choice((0.2, 1.0, 10.0)),
            slow_threshold=dice.choice((None, 1, 3)),
            open_on_retry_after=dice.random() < 0.3,
            failure_rate=dice.choice((None, FailureRate(rate=dice.choice((0.2, 0.5)), least_calls=5, window=3.0))),
            probe_interval=dice.choice((0.0, 0.5)),
            max_cooldown=dice.choice((None, 5.0)),
            excluded=dice.choice(((), (ValueError,))),
        )
        self._gates.append(breaker)
        return breaker

    def _budget(self, engine: Provider, below: list[SoakEngine]) -> Provider:
        if getattr(engine, "_retries", False):
            return engine
        dice = self._dice
        budget = WatchedBudget(
            engine, below, max_calls=dice.choice((0, 5, 40, 1000, 1000, 1000)), per=dice.choice((None, None, 0.5, 5.0))
        )
        self._gates.append(budget)
        return budget

    def _turns(self, engine: Provider, _: list[SoakEngine]) -> Provider:
        turns = WatchedTurns(engine, at_once=self._dice.randrange(1, 4), wait=self._dice.choice((0.0, 0.3, 1.0, 20.0)))
        self._gates.append(turns)
        return turns

    def _retry(self, engine: Provider, _: list[SoakEngine]) -> Provider:
        self._retries += 1
        return Retry(engine, retries=self._dice.randrange(5), backoff=self._dice.choice((0.0, 0.1, 0.5)))

    def _policy(self) -> SelectionPolicy | None:
        return self._dice.choice((None, None, NARROWING, DURABLE))

    def _seconds(self) -> float:
        return self._dice.choice((0.3, 0.5, 1.0, 1.5, 3.0))

    def _name(self, shape: str) -> str:
        return f"{shape}{self._dice.randrange(10**9)}"

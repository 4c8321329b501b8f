"""The engines of a scenario, put together as it says."""

from __future__ import annotations

from typing import Any, Final

import anyio

from decide import AttemptOutcome, Breaker, Budget, Chain, Fallback, Hedged, Race, Single, Trace
from decide.compose._fail_over import FAIL_OVER
from tests.conformance.adapter import reading
from tests.conformance.adapter.engines import Scripted, scripted
from tests.conformance.adapter.numbers import milliseconds
from tests.conformance.adapter.outcome import RefusedError

Doc = dict[str, Any]

_TRIGGERS: Final = {
    "abstain": AttemptOutcome.ABSTAINED,
    "uncertain": AttemptOutcome.UNCERTAIN,
    "quota": AttemptOutcome.QUOTA,
}


class Plant:
    """
    Everything of a scenario that is asked or looked at.

    Attributes:
        engines: The scripted engines.
        breakers: Breakers by id.
        budgets: Budgets by id.
        transitions: Every change of a breaker's state so far.
        traces: Every trace that the chain's observer saw.
        root: What is asked to decide and to score.
        chain: What is asked by a chain.
    """

    def __init__(self, given: Doc) -> None:
        self._began = anyio.current_time()
        self.engines: list[Scripted] = []
        self.breakers: dict[str, Breaker] = {}
        self.budgets: dict[str, Budget] = {}
        self.transitions: list[Doc] = []
        self.traces: list[Trace] = []
        self.root: Any = self._build(given["root"]) if given.get("root") else None
        self.chain: Chain | None = self._chain(given["chain"]) if given.get("chain") else None

    def snapshot(self) -> Doc:
        """
        Write how often engines were called, and where breakers and budgets stand.
        """
        calls: dict[str, int] = {}
        for engine in self.engines:
            calls[engine.name] = calls.get(engine.name, 0) + engine.calls
        return {
            "calls": calls,
            "breakers": {
                name: _members(one.stats(), "state", "failures", "slow") for name, one in self.breakers.items()
            },
            "budgets": {name: _members(one.stats(), "used", "max", "refused") for name, one in self.budgets.items()},
        }

    def _build(self, node: Doc) -> Any:
        match node["kind"]:
            case "nil":
                raise RefusedError("there is no engine")
            case "provider":
                self.engines.append(scripted(node))
                return self.engines[-1]
            case "breaker":
                return self._breaker(node)
            case "budget":
                return self._budget(node)
            case kind:
                return self._combinator(kind, node)

    def _combinator(self, kind: str, node: Doc) -> Any:
        children = [self._build(child) for child in node.get("children") or ()]
        options: Doc = {"name": node.get("name") or "", "policy": reading.optional_policy(node.get("policy"))}
        if node.get("defaultTimeoutMs"):
            options["default_timeout"] = node["defaultTimeoutMs"] / 1000
        fail_over = FAIL_OVER | {_TRIGGERS[word] for word in node.get("fallbackOn") or ()}
        if len(children) != {"single": 1, "hedged": 2}.get(kind, len(children)):
            raise RefusedError(f"{kind} does not take {len(children)} engines")
        match kind:
            case "single":
                return Single(*children, **options)
            case "fallback":
                return Fallback(*children, fail_over=fail_over, **options)
            case "hedged":
                return Hedged(*children, delay=node.get("hedgeAfterMs", 0) / 1000, fail_over=fail_over, **options)
            case "race":
                return Race(*children, fail_over=fail_over, **options)
            case _:
                raise ValueError(f"no such node: {kind}")

    def _breaker(self, node: Doc) -> Breaker:
        def changed(engine: str, before: str, after: str) -> None:
            at = milliseconds(anyio.current_time() - self._began)
            self.transitions.append({"id": node["id"], "engine": engine, "from": before, "to": after, "atMs": at})

        seconds = {"windowMs": "window", "cooldownMs": "cooldown", "probeTimeoutMs": "probe_timeout"}
        options = {name: node[key] / 1000 for key, name in seconds.items() if node.get(key)}
        if node.get("threshold"):
            options["threshold"] = max(1, node["threshold"])
        breaker = Breaker(
            self._build(node["child"]),
            **options,
            slow_threshold=node.get("slowThreshold") or None,
            probe_interval=0,
            on_change=changed,
            clock=anyio.current_time,
        )
        self.breakers[node["id"]] = breaker
        return breaker

    def _budget(self, node: Doc) -> Budget:
        budget = Budget(
            self._build(node["child"]),
            max_calls=node.get("maxCalls", 0),
            per=node["perMs"] / 1000 if node.get("perMs") else None,
            clock=anyio.current_time,
        )
        self.budgets[node["id"]] = budget
        return budget

    def _chain(self, spec: Doc) -> Chain:
        options: Doc = {}
        if spec.get("timeoutMs"):
            options["timeout"] = spec["timeoutMs"] / 1000
        for key, name in (("stopOnQuota", "stop_on_quota"), ("stopOnMisconfigured", "stop_on_misconfigured")):
            if spec.get(key):
                options[name] = spec[key]
        return Chain(
            [self._build(provider) for provider in spec.get("providers") or ()],
            min_confidence=reading.floor(spec),
            policy=reading.optional_policy(spec.get("policy")),
            keep_non_selected=spec.get("keepNonSelected", False),
            observers=[self.traces.append],
            **options,
        )


def _members(stats: object, *names: str) -> Doc:
    return {name: getattr(stats, name) for name in names}

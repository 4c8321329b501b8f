"""Runs in the venv of one peer: measures its calls beside the hand-written ones and prints what it found as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import _floors
from _measuring import FULL, QUICK, AsyncioLoop, Call, Effort, bytes_in_flight, microseconds, over, per_cpu_second

# Peers are imported by name: they are absent wherever this file is checked, and one of them is called `decide` too.


@dataclass
class Peer:
    """
    What a peer can do: calls by the name of their row, and ways to make one from an engine.
    """

    calls: dict[str, Call] = field(default_factory=dict)
    hedged: Callable[[Call], Call] | None = None
    falling_back: Callable[[Call], Call] | None = None


class DownError(Exception):
    """
    What a failing engine raises.
    """


async def down() -> object:
    raise DownError


async def turn_then_answer() -> object:
    await asyncio.sleep(0)
    return 1


def turn_then_fail(error: Callable[[], Exception]) -> Call:
    async def fail() -> object:
        await asyncio.sleep(0)
        raise error()

    return fail


def refused(call: Call, error: type[Exception]) -> Call:
    """
    Return a call whose refusal is caught, as every caller of a breaker does.
    """

    async def caught() -> object:
        try:
            return await call()
        except error:
            return None

    return caught


async def opened(call: Call) -> Call:
    """
    Return *call*, whose refusal is caught, once it has failed so often that its breaker is open.
    """
    refusing = refused(call, Exception)
    for _ in range(20):
        await refusing()
    return refusing


async def nopanic() -> Peer:
    lib = import_module("nopanic")
    answer = _floors.answer
    breaker = lib.circuit_breaker()
    breaker.force_open()
    return Peer(
        calls={
            "under a timeout": lib.timeout(_floors.DELAY)(answer),
            "fallback answers": lib.fallback(backup, on=DownError)(answer),
            "fallback fails": lib.fallback(backup, on=DownError)(down),
            "hedged": lib.hedge(delay=_floors.DELAY)(answer),
            "breaker closed": lib.circuit_breaker()(answer),
            "breaker open": refused(breaker(answer), lib.CircuitOpen),
        },
        hedged=lib.hedge(delay=_floors.DELAY),
        falling_back=lambda engine: lib.fallback(lambda _: engine(), on=DownError)(turn_then_fail(DownError)),
    )


async def backup(_: object) -> object:
    return await _floors.answer()


async def grit() -> Peer:
    lib = import_module("grit")
    answer = _floors.answer
    return Peer(
        calls={
            "under a timeout": lib.timeout(_floors.DELAY)(answer),
            "fallback answers": lib.fallback(fn=backup, on=DownError)(answer),
            "fallback fails": lib.fallback(fn=backup, on=DownError)(down),
            "hedged": lib.hedge(_floors.DELAY)(answer),
            "breaker closed": lib.breaker()(answer),
            "breaker open": await opened(lib.breaker(reset_after=1e6)(down)),
        },
        hedged=lib.hedge(_floors.DELAY),
        falling_back=lambda engine: lib.fallback(fn=lambda _: engine(), on=DownError)(turn_then_fail(DownError)),
    )


async def hyx() -> Peer:
    falls = import_module("hyx.fallback").fallback
    breaks = import_module("hyx.circuitbreaker").consecutive_breaker
    answer = _floors.answer

    async def other(_: object, *__: object) -> object:
        return await answer()

    return Peer(
        calls={
            "under a timeout": import_module("hyx.timeout").timeout(_floors.DELAY)(answer),
            "fallback answers": falls(other, on=DownError)(answer),
            "fallback fails": falls(other, on=DownError)(down),
            "breaker closed": breaks()(answer),
            "breaker open": await opened(breaks(recovery_time_secs=10**6)(down)),
        },
        falling_back=lambda engine: falls(lambda *_: engine(), on=DownError)(turn_then_fail(DownError)),
    )


async def pyresilience() -> Peer:
    lib = import_module("pyresilience")
    answer = _floors.answer
    closed, tripped = lib.CircuitBreakerConfig(), lib.CircuitBreakerConfig(recovery_timeout=1e6)
    fallback = lib.FallbackConfig(handler=backup, fallback_on=(DownError,))

    def falling_back(engine: Call) -> Call:
        async def handle(_: object) -> object:
            return await engine()

        failing: Call = lib.resilient(fallback=lib.FallbackConfig(handler=handle))(turn_then_fail(DownError))
        return failing

    return Peer(
        calls={
            "under a timeout": lib.resilient(timeout=lib.TimeoutConfig(seconds=_floors.DELAY))(answer),
            "fallback answers": lib.resilient(fallback=fallback)(answer),
            "fallback fails": lib.resilient(fallback=fallback)(down),
            "breaker closed": lib.resilient(circuit_breaker=closed)(answer),
            "breaker open": await opened(lib.resilient(circuit_breaker=tripped)(down)),
        },
        falling_back=falling_back,
    )


async def interlock() -> Peer:
    lib = import_module("interlock")
    breaker = lib.CircuitBreaker(name="open")
    breaker.force_open()
    return Peer(
        calls={
            "breaker closed": lib.CircuitBreaker(name="closed")(_floors.answer),
            "breaker open": refused(breaker(_floors.answer), lib.CircuitOpenError),
        }
    )


async def pydecide() -> Peer:
    client, gate, types = import_module("decide.client"), import_module("decide.gate"), import_module("decide.types")
    base, errors = import_module("decide.backends.base"), import_module("decide.errors")
    questions = {"intent": types.Choice("Which intent?", ["show", "list"])}

    class Backend(base.BaseBackend):  # type: ignore[misc, name-defined]  # the peer is not here to be checked
        def __init__(self, name: str, ask: Call) -> None:
            self.name = name
            self._ask = ask

        async def _adecide(self, _: object) -> tuple[dict[str, object], None, None]:
            await self._ask()
            return {"intent": types.ChoiceAnswer("show", {"show": 0.94, "list": 0.06})}, None, None

    def asking(*engines: Call) -> Call:
        backends = [Backend(f"engine {at}", engine) for at, engine in enumerate(engines)]
        asked = client.AsyncClient(backends, policy=gate.Gate(0.5))

        async def call() -> object:
            return await asked.decide("show me the order", questions)

        return call

    def failure() -> Exception:
        failed: Exception = errors.BackendError("engine 0", "down")
        return failed

    async def fail() -> object:
        raise failure()

    return Peer(
        calls={
            "fallback answers": asking(_floors.answer, _floors.answer),
            "fallback fails": asking(fail, _floors.answer),
        },
        falling_back=lambda engine: asking(turn_then_fail(failure), engine),
    )


async def pydantic_ai() -> Peer:
    fallback, function = import_module("pydantic_ai.models.fallback"), import_module("pydantic_ai.models.function")
    messages, direct = import_module("pydantic_ai.messages"), import_module("pydantic_ai.direct")
    http_error = import_module("pydantic_ai.exceptions").ModelHTTPError
    history = [messages.ModelRequest(parts=[messages.UserPromptPart("show me the order")])]

    def asking(*engines: Call) -> Call:
        models = [function.FunctionModel(_spoken(engine), model_name=f"m{at}") for at, engine in enumerate(engines)]
        model = fallback.FallbackModel(*models)

        async def call() -> object:
            return await direct.model_request(model, history)

        return call

    def _spoken(engine: Call) -> Callable[[object, object], Any]:
        async def speak(_: object, __: object) -> object:
            await engine()
            return messages.ModelResponse(parts=[messages.TextPart("show")])

        return speak

    def failure() -> Exception:
        failed: Exception = http_error(503, "m0")
        return failed

    async def fail() -> object:
        raise failure()

    return Peer(
        calls={
            "fallback answers": asking(_floors.answer, _floors.answer),
            "fallback fails": asking(fail, _floors.answer),
        },
        falling_back=lambda engine: asking(turn_then_fail(failure), engine),
    )


async def litellm() -> Peer:
    lib: Any = import_module("litellm")
    failing = import_module("litellm.llms.custom_llm").CustomLLMError
    lib.suppress_debug_info = True
    said = {"message": {"role": "assistant", "content": "show"}}
    spoken = [{"role": "user", "content": "show me the order"}]

    class Model(lib.CustomLLM):  # type: ignore[misc]  # the peer is not here to be checked
        def __init__(self, ask: Call) -> None:
            super().__init__()
            self._ask = ask

        async def acompletion(self, *_: object, **__: object) -> object:
            await self._ask()
            return lib.ModelResponse(choices=[said], model="m")

    def failure() -> Exception:
        failed: Exception = failing(status_code=503, message="down")
        return failed

    async def fail() -> object:
        raise failure()

    def asking(**engines: Call) -> Call:
        lib.custom_provider_map += [{"provider": name, "custom_handler": Model(ask)} for name, ask in engines.items()]
        models = [{"model_name": name, "litellm_params": {"model": f"{name}/m"}} for name in engines]
        first, second = engines
        router = lib.Router(models, fallbacks=[{first: [second]}], num_retries=0, disable_cooldowns=True)

        async def call() -> object:
            return await router.acompletion(model=first, messages=spoken)

        return call

    return Peer(
        calls={
            "fallback answers": asking(answering=_floors.answer, spare=_floors.answer),
            "fallback fails": asking(failing=fail, helping=_floors.answer),
        },
        falling_back=lambda engine: asking(turning=turn_then_fail(failure), turned=engine),
    )


PEERS: Mapping[str, Callable[[], Awaitable[Peer]]] = {
    "nopanic": nopanic,
    "grit-toolkit": grit,
    "hyx": hyx,
    "pyresilience": pyresilience,
    "interlock-cb": interlock,
    "pydecide": pydecide,
    "pydantic-ai-slim": pydantic_ai,
    "litellm": litellm,
}


async def measured(name: str, effort: Effort) -> dict[str, object]:
    peer = await PEERS[name]()
    loop = AsyncioLoop()
    spent = await microseconds({"H": _floors.hedge, **peer.calls}, loop, effort, told=lambda _: None)
    found: dict[str, object] = {"H": {name: over(spent, name, "H") for name in peer.calls}}
    if peer.hedged is not None:
        bare = await bytes_in_flight(lambda engine: engine, loop, effort)
        found["bytes hedged"] = await bytes_in_flight(peer.hedged, loop, effort) - bare
    if peer.falling_back is not None:
        found["fallbacks per CPU second"] = await per_cpu_second(peer.falling_back(turn_then_answer), loop, effort)
    return found


def main(name: str, effort: str) -> None:
    print(json.dumps(asyncio.run(measured(name, QUICK if effort == "quick" else FULL))))


if __name__ == "__main__":
    main(*sys.argv[1:])

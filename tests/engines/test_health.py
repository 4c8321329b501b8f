"""A look at a server: what it says of itself, what it is asked when it says nothing, and what neither costs."""

import json
from typing import Any

import anyio
import httpx2
import pytest

from decide import time_budget
from decide.engines import health
from decide.engines.health import Health
from decide.engines.systemone import SystemOneEngine
from decide.errors import AuthError, MisconfiguredError
from tests.engines.servers import serving
from tests.engines.wire import cases, engine_over, response_of

OK = httpx2.Response(200, json={"status": "ok", "model": "m-1"})
NONE = httpx2.Response(404, json={"detail": "Not Found"})


def server(look: httpx2.Response, probe: httpx2.Response = NONE, **options: Any) -> tuple[SystemOneEngine, list[str]]:
    paths: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        paths.append(f"{request.method} {request.url.path}")
        return look if request.method == "GET" else probe

    return engine_over(answer, **options), paths


async def test_a_server_that_says_it_is_well_is_believed() -> None:
    engine, paths = server(OK)

    assert await engine.health() == Health(healthy=True, detail="http 200", model="m-1")
    assert paths == ["GET /health"]


@pytest.mark.parametrize(
    ("look", "detail"),
    [
        (httpx2.Response(200, json={"status": "loading"}), "http 200"),
        (httpx2.Response(200, json={}), "http 200"),
        (httpx2.Response(200, content=b"up"), "http 200"),
        (httpx2.Response(200, content=b"[]"), "http 200"),
        (httpx2.Response(200, json={"status": ["ok"]}), "http 200"),
        (httpx2.Response(201, json={"status": "ok"}), "http 201"),
        (httpx2.Response(503, json={"status": "ok"}), "http 503"),
        (httpx2.Response(302, headers={"location": "/well"}), "http 302"),
    ],
)
async def test_a_server_that_says_anything_else_is_unwell_and_not_asked(look: httpx2.Response, detail: str) -> None:
    engine, paths = server(look)

    assert await engine.health() == Health(healthy=False, detail=detail)
    assert paths == ["GET /health"]


@pytest.mark.parametrize("status", [404, 405])
@pytest.mark.parametrize(
    ("body", "healthy"),
    [
        ({"answers": {}}, True),
        ({"answers": {"health": {"type": "noul", "noul": 7}}}, True),
        ({"answers": []}, False),
        ({"model": "m"}, False),
    ],
)
async def test_a_server_without_such_a_route_is_well_when_it_answers_whatever_it_says(
    status: int, body: dict[str, object], healthy: bool
) -> None:
    engine, paths = server(httpx2.Response(status), httpx2.Response(200, json=body), api_key="k")

    found = await engine.health()

    assert (found.healthy, found.probed) == (healthy, True)
    assert paths == ["GET /health", "POST /v1/systemone"]


async def test_a_probe_asks_one_yes_or_no_question_called_health_with_the_key() -> None:
    sent: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(404 if request.method == "GET" else 200, json={"answers": {}})

    await engine_over(answer, dialect="chalk", api_key="k").health()

    body = json.loads(sent[1].content)
    assert [(key, question["type"]) for key, question in body["questions"].items()] == [("health", "noul")]
    assert body["protocol"] == 1
    assert [request.headers["authorization"] for request in sent] == ["Bearer k", "Bearer k"]


async def test_another_version_of_the_protocol_is_told_beside_its_health() -> None:
    engine, _ = server(NONE, httpx2.Response(200, json={"protocol": 2, "answers": {}}))

    assert await engine.health() == Health(healthy=True, detail="http 200", probed=True, same_protocol=False)


async def test_a_refused_probe_is_unwell() -> None:
    engine, _ = server(NONE, httpx2.Response(401))

    assert await engine.health() == Health(healthy=False, detail="http 401", probed=True)


@pytest.mark.real_time
async def test_nobody_there_is_unwell_and_not_asked() -> None:
    with serving("jevcompat.cli", "mock") as url:
        pass

    found = await SystemOneEngine(url).health()

    assert (found.healthy, found.probed, found.detail) == (False, False, "ConnectError")
    assert found.error is not None


@pytest.mark.real_time
async def test_servers_that_others_wrote_are_looked_at() -> None:
    with serving("sparrow_decider.cli", "serve") as sparrow, serving("jevcompat.cli", "mock") as mock:
        says = await SystemOneEngine(sparrow).health()
        answers = await SystemOneEngine(mock, model="jev-latest").health()
        models = await SystemOneEngine(mock).models()

    assert says == Health(healthy=True, detail="http 200", model="sparrow-nano-general-v1.1")
    assert (answers.healthy, answers.probed) == (True, True)
    assert "jev-latest" in models


async def test_a_look_takes_two_seconds_at_most_and_charges_no_time_budget() -> None:
    async def hang(request: httpx2.Request) -> httpx2.Response:
        await anyio.sleep(100)
        return OK

    engine = SystemOneEngine(
        "http://127.0.0.1:8000", client=httpx2.AsyncClient(transport=httpx2.MockTransport(hang)), decision_timeout=50
    )
    begun = anyio.current_time()

    with time_budget(1.0) as budget:
        found = await engine.health()

    assert found == Health(healthy=False, detail="no answer in time")
    assert anyio.current_time() - begun == health.PATIENCE
    assert budget.spent == 0


async def test_a_dialect_has_its_own_route_and_word_for_being_well() -> None:
    engine, paths = server(httpx2.Response(200, json={"status": "Healthy"}), dialect="agentcore")

    assert (await engine.health()).healthy
    assert paths == ["GET /ping"]


@pytest.mark.parametrize("stem", ["typesafe_models", "noulxp"])
async def test_models_are_listed_in_both_shapes(stem: str) -> None:
    case = next(case for case in cases(stem) if case["name"] == "models")
    engine, paths = server(response_of(case["response"]))

    assert await engine.models() == {"noulxp": ("pkg",), "typesafe_models": ("jev-latest", "jev-1.13.0")}[stem]
    assert paths == ["GET /v1/models"]


async def test_what_may_not_stand_in_a_trace_is_not_listed() -> None:
    engine, _ = server(httpx2.Response(200, json={"data": [{"id": "<b>"}, {"id": "ok"}, {"id": 7}, "x", {}]}))

    assert await engine.models() == ("ok",)


@pytest.mark.parametrize(("status", "kind"), [(404, MisconfiguredError), (401, AuthError)])
async def test_a_server_without_a_list_of_models_says_why(status: int, kind: type[Exception]) -> None:
    engine, _ = server(httpx2.Response(status))

    with pytest.raises(kind):
        await engine.models()


async def test_a_ready_route_that_is_not_ready_is_an_unwell_server() -> None:
    case = next(case for case in cases("opendecider") if case["name"] == "not_ready_503")
    engine, _ = server(response_of(case["response"]))

    assert not (await engine.health()).healthy

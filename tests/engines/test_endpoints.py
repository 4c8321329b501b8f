"""Base URLs as people type them, and which hosts are this machine."""

import json

import pytest

from decide.engines._endpoints import endpoint, is_loopback
from decide.engines._setup import SetupError
from decide.engines.systemone import SystemOneEngine
from decide.errors import MisconfiguredError
from tests.engines.wire import FIXTURES

LOOPBACK = [
    json.loads(line)
    for line in (FIXTURES / "loopback.jsonl").read_text(encoding="utf-8").splitlines()
    if "name" in line
]


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://h", "http://h/v1/systemone"),
        ("http://h/", "http://h/v1/systemone"),
        ("http://h//", "http://h/v1/systemone"),
        ("http://h/v1", "http://h/v1/systemone"),
        ("http://h/v1/", "http://h/v1/systemone"),
        ("http://h/v1/systemone", "http://h/v1/systemone"),
        ("http://h/v1/systemone/", "http://h/v1/systemone"),
        ("http://h/api/alpha", "http://h/api/alpha/v1/systemone"),
        ("https://h/api/v1", "https://h/api/v1/systemone"),
        ("HTTP://H", "http://h/v1/systemone"),
        (" http://h\n", "http://h/v1/systemone"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/systemone"),
        ("http://[::1]:8000/", "http://[::1]:8000/v1/systemone"),
    ],
)
def test_every_way_to_write_a_base_url_gives_one_route(base_url: str, url: str) -> None:
    assert str(endpoint(base_url).url) == url


@pytest.mark.parametrize(
    "base_url",
    [
        "h:8000",
        "h",
        "",
        "http://",
        "//h",
        "ftp://h",
        "http://h/v1?x=1",
        "http://h?",
        "http://h#there",
        "http://user:hunter2@h",
        "http://user@h",
        "http://h:99999",
        "http://evil.test\\@127.0.0.1/",
        "http://h/a b",
        "http://h/\x00",
    ],
)
def test_base_urls_that_cannot_be_meant_are_refused_when_the_engine_is_built(base_url: str) -> None:
    with pytest.raises(SetupError, match="base_url") as caught:
        endpoint(base_url)

    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("case", LOOPBACK, ids=lambda case: str(case["name"]))
def test_only_this_machine_counts_as_loopback(case: dict[str, dict[str, str | bool]]) -> None:
    try:
        loopback = endpoint(str(case["input"]["url"])).loopback
    except SetupError:
        loopback = False

    assert loopback is case["expected"]["local"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.2", "::1"])
def test_loopback_is_told_by_its_spelling(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["localhost.evil.test", "127.0.0.1.evil.test", "2130706433", "127.1", "0.0.0.0", "::ffff:127.0.0.1", "10.1.2.3"],
)
def test_what_only_looks_like_loopback_is_none(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "base_url",
    [
        "http://10.1.2.3:8000",
        "http://example.test",
        "http://localhost.evil.test",
        "http://127.0.0.1.evil.test",
        "http://2130706433",
    ],
)
def test_a_key_in_clear_text_to_another_machine_is_refused_before_anything_is_sent(base_url: str) -> None:
    with pytest.raises(SetupError, match="clear text") as caught:
        SystemOneEngine(base_url, api_key="sk-sentinel")

    assert "sk-sentinel" not in str(caught.value)
    assert isinstance(caught.value, MisconfiguredError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "base_url", ["http://127.0.0.1:8000", "http://[::1]", "http://localhost:1", "https://example.test"]
)
def test_a_key_may_go_to_this_machine_and_over_https(base_url: str) -> None:
    assert "sk-sentinel" not in repr(SystemOneEngine(base_url, api_key="sk-sentinel"))


def test_a_key_in_clear_text_can_be_allowed_by_name() -> None:
    engine = SystemOneEngine("http://example.test", api_key="sk-sentinel", allow_insecure=True)

    assert repr(engine) == "SystemOneEngine('http://example.test/v1/systemone', model='', name='systemone')"


@pytest.mark.parametrize(
    ("base_url", "route", "url"),
    [
        ("https://h/api", "/alpha/decisions", "https://h/api/alpha/decisions"),
        ("https://h/api/v1", "/alpha/decisions", "https://h/api/alpha/decisions"),
        ("https://h/api/alpha", "/alpha/decisions", "https://h/api/alpha/decisions"),
        ("https://h/api/alpha/decisions/", "/alpha/decisions", "https://h/api/alpha/decisions"),
        ("https://h/v4/ai", "/v4/ai/evaluation-model", "https://h/v4/ai/evaluation-model"),
        ("https://h/a", "/invocations", "https://h/a/invocations"),
        ("https://h/invocations", "/invocations", "https://h/invocations"),
    ],
)
def test_what_a_base_url_has_of_a_route_is_not_put_on_twice(base_url: str, route: str, url: str) -> None:
    place = endpoint(base_url, route)

    assert str(place.url) == url
    assert str(place.at(route)) == url

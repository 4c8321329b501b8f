"""Trust in servers on other machines: told by a parsed origin and whole segments of a path, and kept in a file."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.engines._setup import SetupError
from decide.engines.trust import Place, Trust, is_trusted, place_of

HOST = "https://d.example"


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("https://d.example/v1/systemone", "https://d.example"),
        ("https://d.example", "https://d.example/"),
        ("https://d.example:443/a", "https://d.example/a"),
        ("https://D.EXAMPLE/a/b", " https://d.example/a// "),
        ("http://[2001:db8::1]:8000/x", "http://[2001:DB8:0::1]:8000"),
        ("http://d.example:80", "HTTP://d.example"),
    ],
)
def test_a_place_covers_itself_and_what_is_below_it_however_it_is_written(url: str, line: str) -> None:
    assert is_trusted(url, [line])


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("https://d.example.org/v1", HOST),
        ("https://d.example:8443/v1", HOST),
        ("http://d.example/v1", HOST),
        ("https://a.d.example", HOST),
        ("https://d.example/ab", f"{HOST}/a"),
        ("https://d.example/A", f"{HOST}/a"),
        ("https://d.example", f"{HOST}/a"),
        ("https://d.example", f"# {HOST}"),
        ("https://d.example", ""),
        ("https://d.example", "*"),
        ("https://d.example", "https://"),
        ("https://d.example", f"{HOST}?"),
        ("https://d.example", f"user@{HOST}"),
        ("https://d.example/a", f"{HOST}/a/../b"),
        ("https://d.example/a", f"{HOST}/%2e"),
    ],
)
def test_what_only_looks_like_a_place_is_not_covered(url: str, line: str) -> None:
    assert not is_trusted(url, [line])


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000/a", "http://localhost", "https://[::1]", "http://[0:0::0:1]", "http://127.9.9.9"]
)
def test_this_machine_needs_no_trust(url: str) -> None:
    assert is_trusted(url, [])


@pytest.mark.parametrize(
    "url",
    [
        "http://evil.test?@127.0.0.1/",
        "http://evil.test#@127.0.0.1/",
        "http://evil.test\\@127.0.0.1/",
        "http://127.0.0.1\\@evil.test/",
        "http://user@127.0.0.1/",
        "http://localhost@evil.test",
        "http://h/a/../b",
        "http://h/a/%2E%2e/b",
        "http://h/./",
        "http://h/a b",
        "http://h/\x00",
        "http://127.999.1.1",
        "ftp://h",
        "h",
        "",
    ],
)
def test_urls_on_which_parsers_disagree_are_refused_and_never_trusted(url: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError):
        is_trusted(url, [url, "http://evil.test", "http://h"])
    with pytest.raises(SetupError):
        Trust(tmp_path / "trusted").add(url)


@pytest.mark.parametrize("url", ["http://0.0.0.0", "http://127.0.0.1.evil.test", "http://2130706433"])
def test_look_alikes_of_this_machine_need_trust_like_any_other(url: str) -> None:
    assert not is_trusted(url, [])
    assert is_trusted(url, [url])


def test_places_are_added_once_in_order_and_removed_one_by_one(tmp_path: Path) -> None:
    trust = Trust(tmp_path / "deep" / "trusted")
    assert (trust.places(), trust.covers(HOST)) == ((), False)

    assert [trust.add(url) for url in (f"{HOST}/", HOST, "https://e.example:443/a/")] == [True, False, True]
    assert trust.path.read_text() == "https://d.example\nhttps://e.example/a\n"
    assert trust.covers(f"{HOST}/v1/systemone")
    assert not trust.covers("https://e.example")

    assert [trust.remove(url) for url in ("https://e.example", "https://e.example/a", HOST)] == [False, True, True]
    assert not trust.path.exists()
    assert stat.S_IMODE(trust.path.parent.stat().st_mode) == 0o700


def test_this_machine_is_not_written_down(tmp_path: Path) -> None:
    trust = Trust(tmp_path / "trusted")

    assert not trust.add("http://127.0.0.1:8000")
    assert not trust.path.exists()


def test_comments_stay_and_lines_that_are_no_urls_stand_for_nothing(tmp_path: Path) -> None:
    trust = Trust(tmp_path / "trusted")
    trust.path.write_text(f"# mine\n\nnonsense\n  {HOST}/ \n")

    assert trust.places() == (Place("https", "d.example", 443),)
    assert trust.remove(HOST)
    assert trust.path.read_text() == "# mine\n\nnonsense\n"


def test_the_file_is_where_state_belongs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert Trust().path == tmp_path / "decide" / "trusted"

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for relative in ("", "not/absolute"):
        monkeypatch.setenv("XDG_STATE_HOME", relative)
        assert Trust().path == tmp_path / "home" / ".local" / "state" / "decide" / "trusted"


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_whatever_stands_in_the_file_covers_nothing_but_itself(line: str) -> None:
    try:
        named = place_of(line)
    except SetupError:
        named = None

    assert is_trusted("https://d.example/a", [line]) is (named is not None and named.covers(place_of(f"{HOST}/a")))


@pytest.mark.parametrize("url", ["https://d.example/a", "http://[::1]:8000", "https://d.example:8443", "http://h:443"])
def test_a_place_is_written_as_it_is_read(url: str) -> None:
    assert str(place_of(url)) == url
    assert place_of(str(place_of(url))) == place_of(url)

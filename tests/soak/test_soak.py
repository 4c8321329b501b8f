"""A short soak in the suite; `benchmarks/soak.py` runs long ones by hand."""

import pytest

from decide import Breaker
from tests.soak.soak import soak

CALLS = 3_000


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_thousands_of_random_calls_break_no_invariant(backend: str) -> None:
    report = soak(CALLS, seed=2026, backend=backend)

    assert report.problems == []
    assert report.calls == CALLS


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_soak_meets_every_ending(backend: str) -> None:
    tally = soak(CALLS, seed=7, backend=backend).tally

    for ending in ("decided", "undecided", "stopped", "cancelled", "fatal"):
        assert tally[f"calls: {ending}"]
    for outcome in ("decided", "abstained", "uncertain", "invalid", "error", "timeout", "unavailable", "busy"):
        assert tally[f"attempts: {outcome}"]
    assert tally["hedges fired"]
    assert tally["fallbacks fired"]
    assert tally["tries after the first"]


def test_a_soak_finds_a_breaker_that_loses_its_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Breaker, "_settle", lambda *_: None)

    assert soak(CALLS, seed=1, backend="asyncio").problems


def test_a_soak_repeats_with_its_seed() -> None:
    once, again = (soak(500, seed=3, backend="trio") for _ in range(2))

    assert once.tally == again.tally

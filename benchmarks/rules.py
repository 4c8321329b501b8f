"""Measures what a lookup costs among 10 and among 10,000 phrases, for each way to listen."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial

from decide.decisions import Decision
from decide.rules import Phrase, Rule, RuleTable, contains, exact, starts_with
from decide.rules.matching import PhraseIndex, Utterance

FEW, MANY, GOAL = 10, 10_000, 3.0
COMMAND = Decision(interaction="command")

# Every phrase shares words with many others, as the phrases of one product do.
SAYINGS: dict[str, tuple[Callable[[str], Phrase], str, str]] = {
    "exact": (exact, "please show me order {0} of client {1}", "Please show me order {0} of client {1}!"),
    "starts_with": (
        starts_with,
        "cancel order {0} of client {1}",
        "Cancel order {0} of client {1}, will you, it is late",
    ),
    "contains": (contains, "order {0} of client {1}", "Hello, I wonder where order {0} of client {1} is, it is late"),
    "pattern": (Phrase, "move {{what}} to bin {0} of hall {1}", "Move all the red boxes to bin {0} of hall {1}"),
}
MISS = "Hello, I wonder where the order of my best client is, since it should have been here on Monday"


def numbers(at: int) -> tuple[int, int]:
    return at, at % 97


def index_of(kind: str, size: int) -> PhraseIndex:
    listen, phrase, _ = SAYINGS[kind]
    rules = [Rule(f"rule {at}", [listen(phrase.format(*numbers(at)))], COMMAND) for at in range(size)]
    RuleTable(rules)  # a table that is refused would prove nothing
    return PhraseIndex({at: rule.wordings[0] for at, rule in enumerate(rules)})


def texts_for(kind: str, size: int) -> list[str]:
    """
    Return as many texts for a small table as for a large one, half of them unknown to it.
    """
    hits = [SAYINGS[kind][2].format(*numbers(at * size // 500)) for at in range(500)]
    return [text for hit in hits for text in (hit, MISS)]


def seconds_per_lookup(index: PhraseIndex, texts: list[str], found: int) -> float:
    begun = time.perf_counter()
    hits = sum(index.first(Utterance(text)) is not None for text in texts)
    spent = time.perf_counter() - begun
    if hits != found:
        raise RuntimeError(f"{hits} of {len(texts)} texts matched instead of {found}: this measures something else")
    return spent / len(texts)


def measure(kind: str, rounds: int) -> dict[str, float]:
    """
    Return the fastest of *rounds* for both sizes, in turns, so that a busy machine slows both.
    """
    runs = {}
    for size in (FEW, MANY):
        texts = texts_for(kind, size)
        runs[size] = partial(seconds_per_lookup, index_of(kind, size), texts, len(texts) // 2)
    spent = [(runs[FEW](), runs[MANY]()) for _ in range(rounds)]
    few, many = min(one for one, _ in spent), min(one for _, one in spent)
    return {"few_us": few * 1e6, "many_us": many * 1e6, "ratio": many / few}


def show(kinds: dict[str, dict[str, float]], *, holds: bool) -> None:
    print(f"{'phrases':<12}{f'{FEW:,}':>12}{f'{MANY:,}':>12}{'ratio':>8}")
    for kind, numbers_of_kind in kinds.items():
        few, many, ratio = (numbers_of_kind[key] for key in ("few_us", "many_us", "ratio"))
        print(f"{kind:<12}{few:>9.2f} us{many:>9.2f} us{ratio:>8.2f}")
    print(
        f"goal: a lookup among {MANY:,} costs at most {GOAL:g} times one among {FEW}: {'holds' if holds else 'MISSED'}"
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--rounds", type=int, default=30, help="how often to measure; the fastest round counts")
    options = parser.parse_args(arguments)
    kinds = {kind: measure(kind, options.rounds) for kind in SAYINGS}
    holds = all(one["ratio"] <= GOAL for one in kinds.values())
    if options.json:
        print(json.dumps({"few": FEW, "many": MANY, "goal": GOAL, "holds": holds, "kinds": kinds}))
    else:
        show(kinds, holds=holds)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

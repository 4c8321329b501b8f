"""Measures how often an engine is right on 100 labelled support messages, and whether its confidence means anything."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import anyio
from _progress import Progress, progress

from decide import (
    Answers,
    ChoiceAnswer,
    ChoiceQuestion,
    NoulAnswer,
    NoulQuestion,
    Question,
    ScoreAnswer,
    ScoredProvider,
    ScoreQuestion,
    ask_many,
    near_uniform,
)
from decide.engines.controls import shuffled
from decide.engines.local import LocalEngine
from decide.engines.systemone import SystemOneEngine

LABELLED = Path(__file__).parent / "labelled" / "support.jsonl"
SURE = 0.7
BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)
SEED = 1
PATIENCE = 30.0
"""Seconds for one message, so that a busy machine spoils no run."""

TEAM = "Which team should answer this message?"
ANGRY = "Is the customer angry?"
REFUND = "Does the customer ask for money back?"

DESCRIBED: dict[str, Question] = {
    "team": ChoiceQuestion(
        TEAM,
        {
            "billing": "charges, invoices, receipts, refunds and means of payment",
            "technical": "bugs, errors, outages, crashes and how the software or its API behaves",
            "sales": "prices, quotes, trials, demos and plans before buying",
            "account": "login, password, profile, members, roles, and opening or closing an account",
        },
    ),
    "angry": NoulQuestion(
        ANGRY,
        true="The customer is angry: reproaches, insults, sarcasm, shouting or threats.",
        false="The customer is calm, friendly, neutral or merely in a hurry.",
    ),
    "refund": NoulQuestion(
        REFUND,
        true="The customer wants a refund: money that was paid should be returned.",
        false="The customer does not ask for a refund or for money to be returned.",
    ),
    "urgency": ScoreQuestion(
        "How soon does this need an answer?",
        (
            "It can wait: no deadline, just a question, a wish or a remark.",
            "This week: a deadline within days, or work that is hindered.",
            "Today: an outage, a theft, a deadline within hours, or work that has stopped.",
        ),
    ),
}
BARE: dict[str, Question] = {
    "team": ChoiceQuestion(TEAM, ["billing", "technical", "sales", "account"]),
    "angry": NoulQuestion(ANGRY),
    "refund": NoulQuestion(REFUND),
}
# One wording, tried once after "described" had been measured: what a no looks like, without the words of a yes.
PLAIN: dict[str, Question] = {
    "refund": NoulQuestion(
        REFUND,
        true="The customer wants money back that was paid: a refund, a reversal, a repayment.",
        false="The customer asks a question, reports a fault, wants a price, or needs help with a login or an invoice.",
    ),
}


@dataclass(frozen=True)
class Said:
    """
    One answer beside its label: the pick, the probability of it, and what a policy's bar looks at.
    """

    label: object
    pick: object
    top: float
    sure: float
    error: float | None
    uniform: bool

    @property
    def right(self) -> bool:
        return self.pick == self.label


def said(answers: Answers, key: str, label: Any) -> Said | None:
    """
    Return what was answered, None when the engine declined.
    """
    answer = answers.result.answers[key]
    if answer.unknown:
        return None
    match answer:
        case ChoiceAnswer():
            shares = answer.probabilities
            top = max(shares.values(), default=0.0)
            return Said(label, answer.choice, top, answer.confidence or 0.0, None, near_uniform(shares))
        case NoulAnswer(noul=float(yes)):
            flat = near_uniform({"yes": yes, "no": 1.0 - yes})
            return Said(label, yes >= 0.5, answer.certainty, answer.certainty, None, flat)
        case ScoreAnswer():
            levels = {str(level): share for level, share in answer.probabilities.items()}
            pick = max(levels, key=levels.__getitem__, default=str(round(answer.score)))
            off = abs(answer.score - label)
            return Said(label, int(pick), levels.get(pick, 0.0), answer.confidence or 0.0, off, near_uniform(levels))
        case _:
            raise TypeError(f"{key}: no measure for {type(answer).__name__}")


def row_of(key: str, way: str, labels: Sequence[Any], answers: Sequence[Said | None]) -> dict[str, Any]:
    """
    Return every number of one question asked one way. An answer that is missing counts as wrong.
    """
    given = [one for one in answers if one is not None]
    sure = [one for one in given if one.sure >= SURE]
    errors = [one.error for one in given if one.error is not None]
    counts = Counter(labels)
    middle = sorted(labels)[len(labels) // 2]
    return {
        "question": key,
        "asked": way,
        "n": len(labels),
        "unanswered": len(labels) - len(given),
        "accuracy": sum(one.right for one in given) / len(labels),
        "majority": max(counts.values()) / len(labels),
        "recall": {
            str(label): sum(one.right for one in given if one.label == label) / of
            for label, of in sorted(counts.items())
        },
        "sure": {"share": len(sure) / len(labels), "accuracy": mean_right(sure)},
        "near_uniform": sum(one.uniform for one in given) / len(labels),
        "mean error": fmean(errors) if errors else None,
        "mean error of the middle": fmean(abs(label - middle) for label in labels) if errors else None,
        "reliability": list(reliability(given)),
    }


def mean_right(answers: Sequence[Said]) -> float | None:
    return fmean(one.right for one in answers) if answers else None


def reliability(answers: Sequence[Said]) -> Iterator[dict[str, Any]]:
    """
    Yield, by the probability of the pick, what was said and what was right. Where both agree, it is a probability.
    """
    for low, high in zip(BINS, (*BINS[1:], 1.0), strict=True):
        found = [one for one in answers if low <= one.top < high or one.top == high == 1.0]
        if found:
            said_so = fmean(one.top for one in found)
            yield {"from": low, "to": high, "n": len(found), "said": said_so, "accuracy": mean_right(found)}


async def measure(engine: ScoredProvider, messages: Sequence[Mapping[str, Any]], bar: Progress) -> list[dict[str, Any]]:
    """
    Ask everything in every way, and return a row for each question and way.
    """
    ways: dict[str, tuple[ScoredProvider, dict[str, Question]]] = {
        "described": (engine, DESCRIBED),
        "no negation": (engine, PLAIN),
        "bare": (engine, BARE),
        "shuffled": (shuffled(engine, SEED), DESCRIBED),
    }
    rows = []
    for way, (asked, questions) in ways.items():
        bar.stage(way)
        states = [message["text"] for message in messages]
        found = await ask_many(
            asked, states, questions, concurrency=4, on_progress=lambda done, of: bar.share(done / of)
        )
        for key in questions:
            labels = [message[key] for message in messages]
            answers = [said(answer, key, label) for answer, label in zip(found, labels, strict=True)]
            rows.append(row_of(key, way, labels, answers))
    return sorted(rows, key=lambda row: list(DESCRIBED).index(row["question"]))


def report(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """
    Yield three tables in Markdown: a line a question, a line a bin, and what was found of each label.
    """
    heads = ("question", "asked", "n", "right", "majority", f"sure (>= {SURE})", "right when sure", "near uniform")
    yield f"| {' | '.join(heads)} | mean error |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    yield from map(line, rows)
    described = [row for row in rows if row["asked"] in {"described", "no negation"}]
    yield ""
    yield "| question | asked | probability of the pick | n | said | right |"
    yield "| --- | --- | --- | ---: | ---: | ---: |"
    for row in described:
        for part in row["reliability"]:
            edges = f"{part['from']:.1f} to {part['to']:.1f}"
            shares = f"{percent(part['said'])} | {percent(part['accuracy'])}"
            yield f"| {row['question']} | {row['asked']} | {edges} | {part['n']} | {shares} |"
    yield ""
    yield "| question | asked | of those labelled, found |"
    yield "| --- | --- | --- |"
    for row in described:
        found = ", ".join(f"{label} {percent(share)}" for label, share in row["recall"].items())
        yield f"| {row['question']} | {row['asked']} | {found} |"
    declined = sum(row["unanswered"] for row in rows)
    if declined:
        yield f"\n{declined} answers are missing and count as wrong."


def line(row: Mapping[str, Any]) -> str:
    error, sure = row["mean error"], row["sure"]
    beside = "-" if error is None else f"{error:.2f} (the middle: {row['mean error of the middle']:.2f})"
    shares = map(percent, (row["accuracy"], row["majority"], sure["share"], sure["accuracy"], row["near_uniform"]))
    return f"| {' | '.join((row['question'], row['asked'], str(row['n']), *shares, beside))} |"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--engine", metavar="URL", help="a System One server on this machine, instead of LocalEngine")
    options = parser.parse_args(arguments)
    engine: ScoredProvider = LocalEngine(decision_timeout=PATIENCE)
    if options.engine:
        engine = SystemOneEngine(options.engine, decision_timeout=PATIENCE)
    messages = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    with progress() as bar:
        rows = anyio.run(partial(measure, engine, messages, bar))
    print(json.dumps({"engine": engine.name, "rows": rows}) if options.json else "\n".join(report(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

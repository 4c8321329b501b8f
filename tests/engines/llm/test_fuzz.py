"""Whatever a model says: an answer to what was asked or an invalid reply, and never an answer out of two."""

import contextlib
import json
import math
from typing import Any

import anyio
import hypothesis.strategies as st
import pytest
from hypothesis import assume, given

from decide.decisions import Decision, confidences_in_range
from decide.engines.chat import ChatReply, Probability, Profile, Token
from decide.engines.llm import LLMEngine
from decide.errors import InvalidAnswerError
from decide.policies import NARROWING
from decide.questions import ChoiceQuestion, NoulQuestion, Question, RelevanceQuestion, ScoreQuestion
from decide.results import validate_score_result
from tests.engines.llm.models import DECIDED, SAID, Saying, asking, request

QUESTIONS: dict[str, Question] = {
    "sad": NoulQuestion("?"),
    "team": ChoiceQuestion("?", ["a", "b", "none"], none_id="none"),
    "urgent": ScoreQuestion("?", ["low", "mid", "high"]),
    "topics": RelevanceQuestion("?", ["a", "b"]),
}
ANSWERED = {
    "answers": {
        "q0": {"verdict": True},
        "q1": {"probabilities": {"a": 0.5, "b": 0.25, "none": 0.25}},
        "q2": {"probabilities": {"0": 0.5, "1": 0.25, "2": 0.25}},
        "q3": {"probabilities": {"a": 0.9, "b": 0.1}},
    }
}
KEPT = DECIDED.replace("cancel", "keep")

odd_numbers = st.sampled_from([-1, 0, 1, 2, 0.5, 95, 1e308, -0.0, 10**400, math.nan, math.inf])
leaves = st.none() | st.booleans() | odd_numbers | st.floats() | st.sampled_from(["", "a", "0.7", "true", "yes", "q0"])
keys = st.sampled_from(
    ["answers", "module", "value", "confidence", "noul", "choice", "probabilities", "q0", "q1", "a", "0"]
)
documents = st.recursive(
    leaves, lambda below: st.lists(below, max_size=3) | st.dictionaries(keys, below, max_size=4), max_leaves=12
)
fragments = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        '"',
        "\\",
        "```json\n",
        "```",
        "<think>",
        "</think>",
        "\n",
        " ",
        "{a, b}",
        "NaN",
        "\ud800",
    ]
)
prose = st.lists(fragments | st.text(max_size=6), max_size=8).map("".join)
calm = st.text(alphabet=st.characters(exclude_characters='{}[],"\\<', exclude_categories=["Cs"]), max_size=20)


def written(document: object) -> str:
    return json.dumps(document)


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [path, *(place for key, member in below for place in places(member, (*path, key)))]


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[path[0]] = replaced(copy[path[0]], path[1:], value)
    return copy


@st.composite
def spoiled(draw: st.DrawFn, document: Any) -> str:
    """
    A good answer with one member replaced, or with a piece of its text cut out or put in.
    """
    if draw(st.booleans()):
        return written(replaced(document, draw(st.sampled_from(places(document))), draw(documents)))
    text = written(document)
    begin = draw(st.integers(0, len(text)))
    end = draw(st.integers(begin, min(len(text), begin + 12)))
    return text[:begin] + draw(fragments | st.just("")) + text[end:]


def decide(reply: ChatReply) -> Decision:
    decision = anyio.run(LLMEngine(Saying(reply), decision_timeout=None).decide, request())
    assert decision is not None
    return decision


def check_decision(reply: ChatReply) -> None:
    """
    Hold what comes of *reply* to what must be true of every decision.
    """
    with contextlib.suppress(InvalidAnswerError):
        decision = decide(reply)
        assert not decision.calibrated
        assert not decision.actionable
        judged, _ = NARROWING.judge(decision)
        assert confidences_in_range(judged) or not judged.actionable


def check_answers(reply: ChatReply, profile: Profile | None = None) -> None:
    """
    Hold what comes of *reply* to what must be true of all answers.
    """
    asked = asking(QUESTIONS)
    with contextlib.suppress(InvalidAnswerError):
        result = anyio.run(LLMEngine(Saying(reply), decision_timeout=None, profile=profile).score, asked)
        assert validate_score_result(asked, result) == ()
        assert list(result.answers) == list(QUESTIONS)
        assert profile is not None or not any(answer.calibrated for answer in result.answers.values())


@given(text=prose)
def test_prose_never_breaks_anything(text: str) -> None:
    check_decision(ChatReply(text=text))
    check_answers(ChatReply(text=text))


@given(document=documents, before=prose, after=prose)
def test_any_document_in_any_prose_never_breaks_anything(document: Any, before: str, after: str) -> None:
    reply = ChatReply(text=f"{before}{written(document)}{after}")

    check_decision(reply)
    check_answers(reply)


@given(document=documents)
def test_any_document_as_structured_output_never_breaks_anything(document: Any) -> None:
    for structured in (written(document), document if isinstance(document, dict) else "{}"):
        check_decision(ChatReply(structured=structured))
        check_answers(ChatReply(structured=structured))


@given(text=spoiled(SAID))
def test_a_spoiled_decision_is_invalid_or_harmless(text: str) -> None:
    check_decision(ChatReply(text=text))


@given(text=spoiled(ANSWERED))
def test_spoiled_answers_are_invalid_or_fit_the_questions(text: str) -> None:
    check_answers(ChatReply(text=text))


@given(end=st.integers(0, len(DECIDED) - 1), before=calm)
def test_no_beginning_of_an_answer_is_an_answer(end: int, before: str) -> None:
    with pytest.raises(InvalidAnswerError):
        decide(ChatReply(text=before + DECIDED[:end]))


@given(between=prose, before=prose, after=prose)
def test_two_answers_that_differ_are_never_one(between: str, before: str, after: str) -> None:
    assume("<" not in between + before + after)  # of what stands in front of the end of reasoning only the rest counts
    try:
        decision = decide(ChatReply(text=f"{before}{DECIDED}{between}{KEPT}{after}"))
    except InvalidAnswerError:
        return
    # Prose can turn one of the two into a part of a string or of an object that is no answer, but not into half of one.
    assert decision.intent.value in {"cancel", "keep"}
    assert {'"', "{"} & set(before + between)


@given(between=calm, before=calm, after=calm)
def test_two_answers_in_calm_prose_are_ambiguous(between: str, before: str, after: str) -> None:
    with pytest.raises(InvalidAnswerError):
        decide(ChatReply(text=f"{before}{DECIDED}{between}{KEPT}{after}"))


@given(before=calm, after=calm)
def test_an_answer_in_calm_prose_is_found(before: str, after: str) -> None:
    assert decide(ChatReply(text=f"{before}{DECIDED}{after}")).intent.value == "cancel"


tokens = st.builds(
    Token,
    st.sampled_from(["{", '"answers"', ":", " true", "false", "tr", "ue", "}", "", "x"]) | st.text(max_size=3),
    st.floats(),
    st.lists(st.tuples(st.sampled_from(["true", " false", "t", "", "x"]), st.floats()), max_size=3),
)


@given(spelling=st.lists(tokens, max_size=8), verdict=tokens)
def test_no_tokens_break_anything(spelling: list[Token], verdict: Token) -> None:
    text = written(ANSWERED)
    before, after = text.split("true")
    matching = [Token(before, 0.0), Token("true", verdict.logprob, verdict.top), Token(after, 0.0)]

    for found in (spelling, matching, [*matching, *spelling]):
        check_answers(ChatReply(text=text, tokens=found), Profile(probability=Probability.LOGPROBS))

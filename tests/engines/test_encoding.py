"""How questions are put: what gives a model nothing to go by is told once, and a cut shows."""

import json
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.engines.encoding import Caps, DegenerateCriteriaWarning, capped, cut, degenerate, share
from decide.questions import ChoiceQuestion, NoulQuestion, RelevanceQuestion, ScoreQuestion
from tests.engines.wire import ANSWERED, asking, engine_over, replying

EMPTY = ChoiceQuestion("?", {"sentinel": None, "b": ""})
SAID = ChoiceQuestion("?", {"a": "turns into traffic", "b": "turns onto the path"})


@pytest.fixture
def warned() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


@pytest.mark.parametrize(
    ("criteria", "reason"),
    [
        ({"l": "", "r": ""}, "all_empty"),
        ({"l": None, "r": None}, "all_empty"),
        ({"l": "l", "r": "r"}, "all_equal_key"),
        ({"l": "go", "r": "go"}, "all_identical"),
        ({"l": "", "r": "right"}, None),
        ({"l": "left", "r": "right"}, None),
        ({"l": "l", "r": "right"}, None),
        ({"l": ""}, None),
    ],
)
def test_options_that_are_not_told_apart_are_found(criteria: Mapping[str, str | None], reason: str | None) -> None:
    assert degenerate(ChoiceQuestion("?", criteria)) == reason


@pytest.mark.parametrize(
    "question", [NoulQuestion(""), ScoreQuestion("", ["a", "a"]), RelevanceQuestion("", ["a", "b"])]
)
def test_other_questions_are_never_found_so(question: Any) -> None:
    assert degenerate(question) is None


async def test_a_key_is_warned_of_once_and_its_question_asked_all_the_same(
    warned: list[warnings.WarningMessage],
) -> None:
    sent: list[Any] = []

    def answer(request: Any) -> Any:
        sent.append(json.loads(request.content))
        return replying(200, ANSWERED)(request)

    engine = engine_over(answer)
    for _ in range(3):
        await engine.score(asking({"n": NoulQuestion("?"), "sentinel": EMPTY, "fine": SAID}))
    await engine.score(asking({"other": EMPTY, "n": NoulQuestion("?")}))

    told = [one.message for one in warned if isinstance(one.message, DegenerateCriteriaWarning)]
    assert [(one.key, str(one.reason)) for one in told] == [("sentinel", "all_empty"), ("other", "all_empty")]
    assert str(told[0]) == "question 2: no option is described; describe every option by what picking it does"
    assert "sentinel" not in str(told[0])
    assert [list(body["questions"]) for body in sent] == [["n", "sentinel", "fine"]] * 3 + [["other", "n"]]


async def test_another_engine_warns_of_its_own(warned: list[warnings.WarningMessage]) -> None:
    for _ in range(2):
        await engine_over(replying(200, ANSWERED)).score(asking({"c": EMPTY, "n": NoulQuestion("?")}))

    assert len(warned) == 2


@pytest.mark.parametrize(
    ("text", "at_most", "expected"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abcd", 1, "…"), ("", 1, ""), ("äöü€", 3, "äö…")],
)
def test_a_cut_fits_and_ends_in_an_ellipsis(text: str, at_most: int, expected: str) -> None:
    assert cut(text, at_most) == expected


def test_room_that_a_short_text_leaves_goes_to_the_others() -> None:
    assert share(["a" * 10, "b", "c" * 10], 13) == ("aaaaa…", "b", "ccccc…")
    assert share(["a" * 9, "b" * 9], 18) == ("a" * 9, "b" * 9)
    assert share([], 0) == ()


@given(st.lists(st.text(max_size=30), max_size=8), st.integers(0, 100))
def test_shares_fit_together_and_nothing_is_cut_that_need_not_be(texts: list[str], at_most: int) -> None:
    if at_most < len(texts):
        with pytest.raises(ValueError, match="at_most"):
            share(texts, at_most)
        return

    shares = share(texts, at_most)

    assert sum(map(len, shares)) <= at_most
    if sum(map(len, texts)) <= at_most:
        assert shares == tuple(texts)
    for text, kept in zip(texts, shares, strict=True):
        assert kept == text or (kept.endswith("…") and text.startswith(kept[:-1]))


def test_a_request_is_cut_by_the_family_of_its_questions() -> None:
    request = asking(
        {
            "n": NoulQuestion("n" * 100, true="t" * 100),
            "c": ChoiceQuestion("c" * 4, {"x": "x" * 100, "y": None, "z": "z"}),
            "s": ScoreQuestion("s" * 100, ["low", "high"]),
            "r": RelevanceQuestion("r", {"x": "x" * 10}),
        },
        "state" * 100,
    )

    short = capped(request, Caps(state=6, noul=20, choice=11, score=17))

    assert short.text == "state…"
    assert short.questions == {
        "n": NoulQuestion(f"{'n' * 9}…", true=f"{'t' * 9}…"),
        "c": ChoiceQuestion("cccc", {"x": "xxxxx…", "y": None, "z": "z"}),
        "s": ScoreQuestion(f"{'s' * 9}…", ["low", "high"]),
        "r": request.questions["r"],
    }
    assert capped(request, Caps()) == request
    assert capped(asking(text={"a": "x" * 100}), Caps(state=5)).text == {"a": "x" * 100}


@pytest.mark.parametrize("at_most", [0, -1])
def test_no_room_at_all_is_refused(at_most: int) -> None:
    with pytest.raises(ValueError, match="at_most"):
        cut("", at_most)

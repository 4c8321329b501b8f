"""Answers that were recorded before, as an engine: no network, no key, and the same answer every time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path

import attrs

from decide._json import Node
from decide.answers import Answer, ChoiceAnswer, ScoreResult
from decide.decisions import Decision
from decide.engines._cassettes import Recording, read_cassette
from decide.engines._recorded_errors import read_error
from decide.engines._request_keys import Asked, essence_of, hashed, key_of
from decide.engines._setup import SetupError
from decide.errors import InvalidRequestError, ReplayMissError
from decide.questions import ChoiceQuestion, Question, ScoreRequest
from decide.requests import Request

Said = Decision | ScoreResult | Mapping[str, Answer] | None


class RecordedEngine:
    """
    Answer what was recorded, and nothing else.

    An answer is found by what was asked and about what: questions or taxonomy, state and model, in an order that does
    not matter. Another wording, state or model finds nothing, and nothing near is ever taken: the call fails with
    ReplayMissError, which stops a chain. The engine keeps no verdict of what was recorded, so that every answer is
    judged again, and none counts as a rule's.

    Args:
        corpus: Requests with their answers, or the path of a cassette. A Request has a Decision, or None to abstain; a
            ScoreRequest has a ScoreResult, or the answers by key. Where a request stands twice, its last answer counts;
            calls of a cassette that were cut off do not. The file is read here and now.
        name: What traces call the engine.
        model: The model that the answers are recorded under; by default the cassette's. Another one finds nothing.

    Raises:
        SetupError: If the cassette cannot be read, or an entry of the corpus cannot be one, by its index.
    """

    def __init__(
        self,
        corpus: Iterable[tuple[Asked, Said]] | str | PathLike[str],
        *,
        name: str = "recorded",
        model: str | None = None,
    ) -> None:
        self._name = name
        self._ignored: tuple[str, ...] = ()
        if isinstance(corpus, str | PathLike):
            cassette = read_cassette(Path(corpus))
            self._model = cassette.header.model if model is None else model
            self._ignored = cassette.header.ignored
            recordings: Iterable[Recording] = cassette.recordings
        else:
            self._model = model or ""
            recordings = self._entries(corpus)
        self._known = {one.key: one for one in recordings if not one.cut_off}

    def __repr__(self) -> str:
        return f"RecordedEngine({len(self._known)} requests, name={self._name!r})"

    @property
    def name(self) -> str:
        """
        What traces call the engine.
        """
        return self._name

    async def decide(self, request: Request, /) -> Decision | None:
        """
        Return the recorded decision; None if the engine abstained.

        Raises:
            ReplayMissError: If nothing was recorded for this request.
            DecideError: What the recorded call failed with.
        """
        return decided(self._find(request))

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        """
        Return the recorded answers; errors as in `decide`.
        """
        return scored(self._find(request), request, self._name)

    def _find(self, request: Asked) -> Recording:
        key = hashed(key_of(essence_of(request, self._ignored), self._model))
        if key not in self._known:
            raise missed(self._name)
        return self._known[key]

    def _entries(self, corpus: Iterable[tuple[Asked, Said]]) -> Iterator[Recording]:
        for index, (request, said) in enumerate(corpus):
            answer = ScoreResult(answers=said) if isinstance(said, Mapping) else said
            if not isinstance(answer, Decision | None if isinstance(request, Request) else ScoreResult):
                raise SetupError(f"corpus[{index}]: {type(said).__name__} is no answer to a {type(request).__name__}")
            problem = ""
            try:
                yield Recording(key=hashed(key_of(essence_of(request), self._model)), answer=answer)
            except InvalidRequestError as error:
                problem = str(error)
            if problem:
                raise SetupError(f"corpus[{index}]: {problem}")


def missed(name: str) -> ReplayMissError:
    """
    Return the error of the engine called *name* when nothing was recorded for a request.
    """
    return ReplayMissError(f"{name}: no recorded decision for this request and state", detail="not recorded")


def decided(recording: Recording) -> Decision | None:
    """
    Return a recorded decision as a new one, which nobody has judged; or raise what was recorded instead.
    """
    _raise_recorded(recording)
    return attrs.evolve(recording.answer) if isinstance(recording.answer, Decision) else None


def scored(recording: Recording, request: ScoreRequest, name: str) -> ScoreResult:
    """
    Return recorded answers in the order of the questions, or raise what was recorded instead.

    What is not sent to an engine is taken from the questions of now: which option of a choice is none of these.
    """
    _raise_recorded(recording)
    result = recording.answer
    if not isinstance(result, ScoreResult):
        raise missed(name)
    asked = {key: result.answers[key] for key in request.questions if key in result.answers}
    answers = {key: _bound(answer, request.questions.get(key)) for key, answer in {**asked, **result.answers}.items()}
    return attrs.evolve(result, engine=result.engine or name, answers=answers)


def _bound(answer: Answer, question: Question | None) -> Answer:
    if isinstance(answer, ChoiceAnswer) and isinstance(question, ChoiceQuestion):
        return attrs.evolve(answer, none_id=question.none_id)
    return answer


def _raise_recorded(recording: Recording) -> None:
    if recording.error is not None:
        raise read_error(Node(recording.error))

"""Hypothesis strategies for every value that travels."""

import datetime as dt
import unicodedata
from decimal import Decimal
from typing import Any

import hypothesis.strategies as st

from decide import (
    Answer,
    Attempt,
    ChoiceAnswer,
    ChoiceQuestion,
    Decision,
    EntityRef,
    ModuleSpec,
    NoulAnswer,
    NoulQuestion,
    Previous,
    Question,
    Reference,
    RelevanceAnswer,
    RelevanceQuestion,
    Report,
    Request,
    ScoreAnswer,
    Scored,
    ScoreQuestion,
    ScoreRequest,
    ScoreResult,
    Selection,
    SelectionPolicy,
    SessionState,
    Taxonomy,
    Trace,
    Usage,
)
from decide.distributions import Distribution

texts = st.text(max_size=12)
ids = st.text(min_size=1, max_size=12)
probabilities = st.floats(min_value=0.0, max_value=1.0)
numbers = st.floats(allow_nan=False, allow_infinity=False)
durations = st.floats(min_value=0.0, max_value=1e6)
counts = st.integers(min_value=0, max_value=10**9)
flags = st.booleans()


def tuples(members: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[Any]:
    """
    Tuples of up to *most* members.
    """
    return st.lists(members, max_size=most).map(tuple)


def by_id(members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """
    Mappings from ids that differ also after Unicode normalisation.
    """
    entries = st.tuples(ids, members)
    return st.lists(entries, max_size=4, unique_by=lambda entry: unicodedata.normalize("NFC", entry[0])).map(dict)


json_values = st.recursive(
    st.none() | flags | st.integers() | numbers | texts,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(texts, children, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)

zones = st.integers(min_value=-14 * 60, max_value=14 * 60).map(
    lambda minutes: dt.timezone(dt.timedelta(minutes=minutes))
)
times = st.datetimes(min_value=dt.datetime(1900, 1, 1), timezones=zones)  # noqa: DTZ001 - the zones come beside it

scoreds = st.builds(Scored, texts, numbers)
references = st.builds(Reference, kind=texts, expression=texts, pronoun=flags)
decisions = st.builds(
    Decision,
    module=scoreds,
    intent=scoreds,
    interaction=texts,
    interaction_confidence=numbers,
    interaction_scores=by_id(numbers),
    reference=st.none() | references,
    required_scopes=tuples(texts),
    required_data=tuples(texts),
    slots=by_id(texts),
    can_handle_deterministically=flags,
    needs_llm=flags,
    presentation=texts,
    scores=by_id(numbers),
    calibrated=flags,
    outcome=texts,
    model=texts,
    judged_by=texts,
)
modules = st.builds(ModuleSpec, name=texts, intents=tuples(texts), scopes=tuples(texts))
taxonomies = st.builds(
    Taxonomy,
    modules=tuples(modules),
    presentations=tuples(texts),
    data_kinds=tuples(texts),
    entity_types=tuples(texts),
    descriptions=by_id(texts),
)
entities = st.builds(EntityRef, type=texts, keys=json_values, title=texts)
states = st.builds(
    SessionState,
    focused=st.none() | entities,
    selection=tuples(entities),
    sidebar=tuples(entities),
    previous=st.none() | st.builds(Previous, kind=texts),
    pending=json_values,
    last_shown=json_values,
)
requests = st.builds(
    Request,
    text=texts,
    taxonomy=taxonomies,
    product=texts,
    interaction_id=texts,
    client_context=st.none() | json_objects,
    state=states,
    recent=tuples(texts),
    context=json_objects,
    now=st.none() | times,
    tz=texts,
)

costs = st.decimals(min_value=0, max_value=10**6, allow_nan=False, allow_infinity=False, places=None).map(Decimal)
usages = st.builds(Usage, input_tokens=counts, output_tokens=counts, cost=st.none() | costs)
attempts = st.builds(
    Attempt,
    provider=texts,
    outcome=texts,
    detail=texts,
    latency=durations,
    role=texts,
    usage=st.none() | usages,
    waited=durations,
    tries=counts,
    started=durations,
    dimension=texts,
    clipped=flags,
    malformed=counts,
    rule=texts,
)
reports = st.builds(
    Report,
    strategy=texts,
    engine=texts,
    attempts=tuples(attempts),
    fallback_fired=flags,
    hedge_fired=flags,
    model=texts,
)
traces = st.builds(
    Trace,
    decided_by=texts,
    attempts=tuples(attempts),
    engine=texts,
    strategy=texts,
    fallback_fired=flags,
    hedge_fired=flags,
    calibrated=flags,
    provenance=texts,
    outcome=texts,
    model=texts,
    stopped_by=texts,
    policy=texts,
    outage=flags,
    cancelled=flags,
    warnings=tuples(texts),
)

candidates = by_id(st.none() | texts).filter(bool)
noul_questions = st.builds(NoulQuestion, texts, true=st.none() | texts, false=st.none() | texts)
choice_questions = candidates.flatmap(
    lambda options: st.builds(
        ChoiceQuestion, texts, st.just(options), none_id=st.just("") | st.sampled_from(sorted(options))
    )
)
score_questions = st.builds(ScoreQuestion, texts, st.lists(texts, min_size=2, max_size=10))
relevance_questions = st.builds(RelevanceQuestion, texts, candidates)
questions: st.SearchStrategy[Question] = noul_questions | choice_questions | score_questions | relevance_questions
score_requests = st.builds(
    ScoreRequest,
    text=texts | json_objects | st.lists(json_values, max_size=3),
    questions=by_id(questions),
    context=json_objects,
    product=texts,
)

distributions = st.lists(st.tuples(ids, numbers), max_size=4).map(Distribution)
maybe_numbers = st.none() | numbers
noul_answers = st.builds(NoulAnswer, noul=maybe_numbers, unknown=flags, calibrated=flags)
choice_answers = st.builds(
    ChoiceAnswer,
    probabilities=distributions,
    choice=texts,
    confidence=maybe_numbers,
    reported_confidence=maybe_numbers,
    none_id=texts,
    unknown=flags,
    calibrated=flags,
)
score_answers = st.builds(
    ScoreAnswer,
    score=numbers,
    levels=tuples(texts),
    probabilities=st.dictionaries(st.integers(min_value=0, max_value=9), numbers, max_size=4),
    confidence=maybe_numbers,
    reported_confidence=maybe_numbers,
    unknown=flags,
    calibrated=flags,
)
relevance_answers = st.builds(
    RelevanceAnswer, probabilities=distributions, confidence=maybe_numbers, unknown=flags, calibrated=flags
)
answers: st.SearchStrategy[Answer] = noul_answers | choice_answers | score_answers | relevance_answers
score_results = st.builds(
    ScoreResult,
    engine=texts,
    model=texts,
    usage=st.none() | usages,
    answers=by_id(answers),
    report=st.none() | reports,
)


@st.composite
def policies(draw: st.DrawFn) -> SelectionPolicy:
    """
    Policies that can be built.
    """
    above_zero = st.floats(min_value=0.0, max_value=1.0, exclude_min=True)
    potential, least, strong = sorted([draw(probabilities), draw(above_zero), draw(above_zero)])
    return SelectionPolicy(
        name=draw(texts),
        min_confidence=draw(above_zero),
        min_gap=draw(probabilities),
        min_probability=max(least, 1e-9),
        strong_probability=max(strong, least, 1e-9),
        potential_probability=min(potential, least),
        max_picks=draw(st.none() | st.integers(min_value=1, max_value=100)),
        accept_uncalibrated_at=draw(st.none() | above_zero),
        accept_uncalibrated_side_effects=draw(flags),
        models=draw(st.none() | tuples(texts)),
    )


selections = st.builds(
    Selection,
    outcome=texts,
    picks=tuples(texts),
    proposals=tuples(texts),
    strong=tuples(texts),
    potential=tuples(texts),
    reason=texts,
)

travelling = st.one_of(
    scoreds,
    references,
    decisions,
    modules,
    taxonomies,
    entities,
    states,
    requests,
    usages,
    attempts,
    reports,
    traces,
    score_requests,
    score_results,
    policies(),
    selections,
)
"""Any value that travels."""

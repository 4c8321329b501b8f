"""The routing decision an engine makes, and whether it fits the taxonomy it was asked about."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Final

import attrs

from decide._converters import number_dict, str_dict, str_tuple
from decide._seal import Sealable, holds, seal_of
from decide.distributions import is_probability
from decide.outcomes import Provenance
from decide.problems import Problem
from decide.taxonomy import KNOWN_INTERACTIONS, Taxonomy, module_optional


@attrs.frozen
class Scored:
    """
    An id and how sure the engine is of it, from 0 to 1.
    """

    value: str = ""
    confidence: float = 0.0


@attrs.frozen(kw_only=True)
class Reference:
    """
    What the user points at, as they said it; resolving it is the product's job.

    Attributes:
        kind: The entity type.
        expression: The words.
        pronoun: Whether the words are a pronoun.
    """

    kind: str = ""
    expression: str = attrs.field(default="", repr=False)
    pronoun: bool = False


@attrs.frozen(kw_only=True)
class Decision(Sealable):
    """
    What an engine decided, and, once it was judged, whether a caller may act on it.

    Engines may build any nonsense; `validate` and the judges find it. Only a judge's verdict makes a decision
    actionable, and it binds every field: a changed,
    copied, pickled or decoded decision has to be judged again.

    Attributes:
        module: The module, and how sure.
        intent: The intent in it, and how sure; empty when the module has none.
        interaction: What the user is doing, see `Interaction`.
        interaction_confidence: How sure of that.
        interaction_scores: Probabilities by interaction, when the engine has them.
        reference: What the user points at.
        required_scopes: Data scopes needed to act.
        required_data: Kinds of data needed to act.
        slots: Values found in the text.
        can_handle_deterministically: The product needs no model to act.
        needs_llm: The product needs one.
        presentation: How to show the result.
        scores: Probabilities by `module/intent`.
        calibrated: The engine claims that its numbers are measured probabilities.
        outcome: What the last judge said; a claim until then.
        model: The model that answered.
        judged_by: The name of the policy that judged.
    """

    module: Scored = attrs.field(factory=Scored)
    intent: Scored = attrs.field(factory=Scored)
    interaction: str = ""
    interaction_confidence: float = 0.0
    interaction_scores: dict[str, float] = attrs.field(factory=dict, converter=number_dict)
    reference: Reference | None = None
    required_scopes: tuple[str, ...] = attrs.field(default=(), converter=str_tuple)
    required_data: tuple[str, ...] = attrs.field(default=(), converter=str_tuple)
    slots: dict[str, str] = attrs.field(factory=dict, converter=str_dict, repr=False)
    can_handle_deterministically: bool = False
    needs_llm: bool = False
    presentation: str = ""
    scores: dict[str, float] = attrs.field(factory=dict, converter=number_dict)
    calibrated: bool = False
    outcome: str = ""
    model: str = ""
    judged_by: str = ""

    def __init_subclass__(cls, **kwargs: object) -> None:
        raise TypeError("a Decision is sealed: it cannot be subclassed")

    @property
    def actionable(self) -> bool:
        """
        Whether a judge said that a caller may act on exactly this content.
        """
        return holds(seal_of(self), content_of(self))

    @property
    def provenance(self) -> Provenance:
        """
        Where the numbers come from: a rule, measured probabilities, or the engine's own say-so.
        """
        found = seal_of(self)
        if found is not None and found.deterministic:
            return Provenance.DETERMINISTIC
        return Provenance.CALIBRATED if self.calibrated else Provenance.SELF_REPORTED


_FIELDS: Final = tuple(field.name for field in attrs.fields(Decision))
_SCORED: Final = ("module", "intent")
_WRITERS: Final = tuple(getattr(Decision, name).__set__ for name in _FIELDS)
_read_fields = operator.attrgetter(*_FIELDS)
_read_content = operator.attrgetter(
    *(f"{name}.{part}" for name in _SCORED for part in ("value", "confidence")),
    *(name for name in _FIELDS if name not in _SCORED),
)


def content_of(decision: Decision) -> tuple[object, ...]:
    """
    Return everything in *decision*, live: what a verdict binds.
    """
    content: tuple[object, ...] = _read_content(decision)
    return content


def snapshot(decision: Decision) -> tuple[object, ...] | None:
    """
    Return a copy of the content that later edits do not reach, also not those in place of what it holds.

    None when a confidence is NaN, which equals nothing, or when something in it cannot be copied.
    """
    numbers = confidences(decision)
    if any(map(operator.ne, numbers, numbers)):
        return None
    try:
        return tuple([value if type(value) in _FIXED else _copied(value) for value in _read_content(decision)])
    except Exception:  # noqa: BLE001 - an engine may put anything at all into a decision
        return None


_FIXED: Final = frozenset({str, float, int, bool, type(None)})
"""Types that cannot be edited in place."""


def _copied(value: object) -> object:
    """
    Copy *value*, all the way down where an engine put something into it that can be edited.
    """
    if type(value) is dict and _all_fixed(value.values()):
        return value.copy()
    if type(value) is tuple and _all_fixed(value):
        return value
    if type(value) is Reference and _all_fixed((value.kind, value.expression, value.pronoun)):
        return attrs.evolve(value)
    return deepcopy(value)


def _all_fixed(parts: Iterable[object]) -> bool:
    return all(type(part) in _FIXED for part in parts)


def restated(decision: Decision, **changes: object) -> Decision:
    """
    Return a copy of *decision* with *changes*, and without its seal.

    What `attrs.evolve` does, at a third of its price, which every judged answer pays; all fields are converted already.
    """
    copy = object.__new__(Decision)
    for write, value in zip(_WRITERS, _read_fields(decision), strict=True):
        write(copy, value.copy() if type(value) is dict else value)
    for name, value in changes.items():
        object.__setattr__(copy, name, value)
    return copy


def confidences(decision: Decision) -> tuple[float, float, float]:
    """
    Return the confidences in module, intent and interaction.
    """
    return decision.module.confidence, decision.intent.confidence, decision.interaction_confidence


def confidences_in_range(decision: Decision) -> bool:
    """
    Say whether every confidence and every interaction score is a number from 0 to 1.
    """
    return all(map(is_probability, confidences(decision))) and all(
        map(is_probability, decision.interaction_scores.values())
    )


def validate(decision: Decision, taxonomy: Taxonomy) -> tuple[Problem, ...]:
    """
    Return everything in *decision* that *taxonomy* does not know or that is out of range; empty means fine.

    A module may be left out only together with the intent, and only by an interaction that can stand alone, as a bare
    "yes" does.
    """
    return tuple(Problem(text) for text in _problems(decision, taxonomy))


def _problems(decision: Decision, taxonomy: Taxonomy) -> Iterator[str]:
    if not decision.interaction:
        yield "interaction is required"
    elif decision.interaction not in KNOWN_INTERACTIONS:
        yield "unknown interaction"
    if not confidences_in_range(decision):
        yield "confidence out of range"
    yield from _module_problems(decision, taxonomy)
    if _unknown(decision.presentation, taxonomy.presentations):
        yield "unknown presentation"
    if decision.reference is not None and _unknown(decision.reference.kind, taxonomy.entity_types):
        yield "unknown reference kind"
    if taxonomy.data_kinds:
        for position, kind in enumerate(decision.required_data, start=1):
            if kind not in taxonomy.data_kinds:
                yield f"required data {position}: unknown kind"
    if decision.required_scopes:
        scopes = taxonomy.scopes()
        for position, scope in enumerate(decision.required_scopes, start=1):
            if scope not in scopes:
                yield f"required scope {position}: unknown scope"


def _unknown(name: str, known: tuple[str, ...]) -> bool:
    return bool(name) and bool(known) and name not in known


def _module_problems(decision: Decision, taxonomy: Taxonomy) -> Iterator[str]:
    module, intent = decision.module.value, decision.intent.value
    if not module and (intent or module_optional(decision.interaction)):
        if intent:
            yield "an intent without a module"
        return
    spec = taxonomy.module(module)
    if spec is None:
        yield "unknown module"
    elif intent and intent not in spec.intents:
        yield "unknown intent for the module"

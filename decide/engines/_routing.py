"""The questions that a taxonomy comes down to, so that an engine which only answers questions can decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from decide.errors import InvalidRequestError
from decide.questions import MAX_OPTIONS, ChoiceQuestion, NoulQuestion, Question, ScoreRequest
from decide.requests import EntityRef, Request, SessionState
from decide.taxonomy import Interaction, Taxonomy

INTENT: Final = "intent"
INTERACTION: Final = "interaction"
ENTITY: Final = "entity"
PRESENTATION: Final = "presentation"

_CHOOSE = "choose:"
_WHAT = "What is the message about?"
INTERACTIONS: Final[dict[str, str | None]] = {
    Interaction.COMMAND: "asks for something to be done",
    Interaction.QUESTION: "asks for information",
    Interaction.CONFIRMATION: "says yes to what was proposed",
    Interaction.REJECTION: "says no to what was proposed",
    Interaction.CORRECTION: "changes something that was said or done before",
    Interaction.CONTINUATION: "goes on with the same thing",
    Interaction.CANCELLATION: "stops something that is under way",
    Interaction.UNDO: "takes back something that was done",
    Interaction.CHAT: "makes small talk",
}


@attrs.frozen(kw_only=True)
class Route:
    """
    The questions about one request, and what each of their ids stands for.

    Attributes:
        asked: The questions.
        intents: Module and intent by option.
        other: The option for none of them; empty when there is none.
        scopes: The scope of each question about one.
        declared: The scopes that acting in a module can need, by module: its own name when it declares none.
        data: The kind of data of each question about one.
    """

    asked: ScoreRequest
    intents: dict[str, tuple[str, str]]
    other: str = ""
    scopes: dict[str, str] = attrs.field(factory=dict)
    declared: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    data: dict[str, str] = attrs.field(factory=dict)


def route_of(request: Request) -> Route:
    """
    Turn *request* into questions, all for one call.

    A taxonomy of a single module called `choose:…` is a plain choice between its intents: nothing else is asked, and
    there is no way out of it.

    Raises:
        InvalidRequestError: If the taxonomy has no modules, more intents than one choice can offer, or ids that cannot
            be told apart.
    """
    taxonomy = request.taxonomy
    if not taxonomy.modules:
        raise InvalidRequestError("the taxonomy has no modules", detail="no modules")
    chosen = _only_choice(taxonomy)
    intents = chosen or dict(_intents(taxonomy))
    other = "" if chosen else _free("other", intents)
    if len(intents) + bool(other) > MAX_OPTIONS:
        raise InvalidRequestError(
            f"{len(intents)} intents are more than one choice can offer", detail=f"{len(intents)} intents"
        )
    try:
        return _built(request, intents, other)
    except ValueError:
        # Raised below and not here, where it would keep an error that quotes an id as its context.
        pass
    raise InvalidRequestError("the taxonomy has ids that cannot be asked about", detail="ids in the taxonomy")


def _built(request: Request, intents: dict[str, tuple[str, str]], other: str) -> Route:
    taxonomy = request.taxonomy
    options = {option: _described(taxonomy, *intents[option]) for option in intents}
    if not other:
        return Route(asked=_asked(request, {INTENT: ChoiceQuestion(_WHAT, options)}), intents=intents)
    declared = _declared(taxonomy)
    scopes = _numbered("scope", [scope for names in declared.values() for scope in names])
    data = _numbered("data", taxonomy.data_kinds)
    questions: dict[str, Question] = {
        INTENT: ChoiceQuestion(_WHAT, {**options, other: "none of these fits"}, none_id=other),
        INTERACTION: ChoiceQuestion("What does the user do with the message?", INTERACTIONS),
        **{key: _need("Is access to this needed to act on the message?", scopes[key], taxonomy) for key in scopes},
        **{key: _need("Is this data needed to act on the message?", data[key], taxonomy) for key in data},
    }
    if taxonomy.entity_types:
        questions[ENTITY] = _pick("What kind of thing does the message point at?", taxonomy.entity_types, taxonomy)
    if taxonomy.presentations:
        questions[PRESENTATION] = _pick("How should the result be shown?", taxonomy.presentations, taxonomy)
    return Route(
        asked=_asked(request, questions), intents=intents, other=other, scopes=scopes, declared=declared, data=data
    )


def _asked(request: Request, questions: dict[str, Question]) -> ScoreRequest:
    return ScoreRequest(text=_state(request), questions=questions, product=request.product)


def _numbered(word: str, names: Iterable[str]) -> dict[str, str]:
    return {f"{word}{number}": name for number, name in enumerate(dict.fromkeys(names))}


def _only_choice(taxonomy: Taxonomy) -> dict[str, tuple[str, str]]:
    if len(taxonomy.modules) != 1 or not taxonomy.modules[0].name.startswith(_CHOOSE):
        return {}
    module = taxonomy.modules[0]
    return {intent: (module.name, intent) for intent in module.intents}


def _intents(taxonomy: Taxonomy) -> Iterator[tuple[str, tuple[str, str]]]:
    seen: set[str] = set()
    for module in taxonomy.modules:
        if module.name in seen:
            continue
        seen.add(module.name)
        for intent in module.intents or ("",):
            yield f"{module.name}/{intent}" if intent else module.name, (module.name, intent)


def _described(taxonomy: Taxonomy, module: str, intent: str) -> str | None:
    return taxonomy.descriptions.get(f"{module}/{intent}" if intent else module)


def _declared(taxonomy: Taxonomy) -> dict[str, tuple[str, ...]]:
    declared: dict[str, tuple[str, ...]] = {}
    for module in taxonomy.modules:
        declared.setdefault(module.name, module.scopes or (module.name,))
    return declared


def _need(text: str, name: str, taxonomy: Taxonomy) -> NoulQuestion:
    description = taxonomy.descriptions.get(name)
    return NoulQuestion(f"{text}\n{name}: {description}" if description else f"{text}\n{name}")


def _pick(text: str, ids: tuple[str, ...], taxonomy: Taxonomy) -> ChoiceQuestion:
    options = {name: taxonomy.descriptions.get(name) for name in ids}
    nothing = _free("none", options)
    return ChoiceQuestion(text, {**options, nothing: "nothing in particular"}, none_id=nothing)


def _free(name: str, taken: Mapping[str, object]) -> str:
    while name in taken:
        name += "_"
    return name


def _state(request: Request) -> dict[str, object]:
    parts: dict[str, object] = {
        "message": request.text,
        "recent": list(request.recent),
        **session(request.state),
        "context": request.context,
    }
    return {name: part for name, part in parts.items() if part or name == "message"}


def session(state: SessionState) -> dict[str, object]:
    """
    Describe where the user is; a part of it that is empty is falsy.
    """
    return {
        "focused": _reference(state.focused) if state.focused else None,
        "selection": [_reference(entity) for entity in state.selection],
        "sidebar": [_reference(entity) for entity in state.sidebar],
        "previous": {"kind": state.previous.kind} if state.previous else None,
    }


def _reference(entity: EntityRef) -> dict[str, str]:
    """
    Describe an entity by what the user sees of it; its keys are the product's own and stay here.
    """
    return {name: text for name, text in (("type", entity.type), ("title", entity.title)) if text}

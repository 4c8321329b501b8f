"""A decision out of the JSON that a model wrote: types are checked, labels stripped of blanks, nothing is believed."""

from __future__ import annotations

from collections.abc import Mapping

from decide._json import Node
from decide.decisions import Decision, Reference, Scored


def holds_decision(document: Mapping[str, object]) -> bool:
    """
    Say whether an object is meant as a decision.
    """
    return "module" in document


def read_decision(document: Mapping[str, object], *, model: str) -> Decision:
    """
    Read a decision that nobody has judged yet.

    Ids are taken as they are, known or not, and confidences too: a judge refuses what does not fit. What a model says
    about scores, calibration, outcome and its own name is ignored. Members that are null or left out are empty; only
    the module has to be there.

    Raises:
        DocumentError: If a member is of the wrong type.
    """
    node = Node(document)
    return Decision(
        module=_scored(node.need("module")),
        intent=_scored(intent) if (intent := _given(node, "intent")) else Scored(),
        interaction=_label(node, "interaction"),
        interaction_confidence=_number(node, "interactionConfidence"),
        reference=_reference(node),
        required_scopes=_labels(node, "requiredScopes"),
        required_data=_labels(node, "requiredData"),
        slots=_slots(node),
        can_handle_deterministically=_flag(node, "canHandleDeterministically"),
        needs_llm=_flag(node, "needsLLM"),
        presentation=_label(node, "presentation"),
        model=model,
    )


def _given(node: Node, key: str) -> Node | None:
    member = node.find(key)
    return None if member is None or member.value is None else member


def _scored(node: Node) -> Scored:
    return Scored(node.need("value").text().strip(), _number(node, "confidence"))


def _label(node: Node, key: str) -> str:
    member = _given(node, key)
    return member.text().strip() if member else ""


def _labels(node: Node, key: str) -> tuple[str, ...]:
    member = _given(node, key)
    return tuple(item.text().strip() for item in member.items()) if member else ()


def _number(node: Node, key: str) -> float:
    member = _given(node, key)
    return member.number() if member else 0.0


def _flag(node: Node, key: str) -> bool:
    member = _given(node, key)
    return member.flag() if member else False


def _reference(node: Node) -> Reference | None:
    member = _given(node, "reference")
    if member is None:
        return None
    kind, expression = _label(member, "kind"), _given(member, "expression")
    read = Reference(kind=kind, expression=expression.text() if expression else "", pronoun=_flag(member, "pronoun"))
    return read if kind else None


def _slots(node: Node) -> dict[str, str]:
    """
    Read the slots: a list, because a schema that allows no further members cannot have names that are not known before.

    A slot without a name says nothing; of two with one name the later counts.
    """
    member = _given(node, "slots")
    pairs = [(_label(slot, "name"), slot.find("value")) for slot in member.items()] if member else []
    return {name: value.text() if value else "" for name, value in pairs if name}

"""What can be decided: modules, their intents and scopes, and the kinds of interaction."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import attrs

from decide._converters import str_dict, str_tuple


class Interaction(StrEnum):
    """What the speaker is doing. Values carry plain strings, since an engine may say anything."""

    COMMAND = "command"
    QUESTION = "question"
    CONFIRMATION = "confirmation"
    REJECTION = "rejection"
    CORRECTION = "correction"
    CONTINUATION = "continuation"
    CANCELLATION = "cancellation"
    UNDO = "undo"
    CHAT = "chat"


KNOWN_INTERACTIONS: Final = frozenset(Interaction)

_SIDE_EFFECTFUL = frozenset(
    {
        Interaction.CONFIRMATION,
        Interaction.REJECTION,
        Interaction.CORRECTION,
        Interaction.CANCELLATION,
        Interaction.UNDO,
    }
)
_MODULE_OPTIONAL = frozenset(
    {Interaction.CONFIRMATION, Interaction.REJECTION, Interaction.CANCELLATION, Interaction.UNDO, Interaction.CHAT}
)


def side_effectful(interaction: str) -> bool:
    """
    Say whether acting on *interaction* changes something that was there before.

    Such decisions are held to a stricter bar than the rest; an unknown interaction is not side-effectful, because it
    never validates.
    """
    return interaction in _SIDE_EFFECTFUL


def module_optional(interaction: str) -> bool:
    """
    Say whether *interaction* may stand without a module, as a bare "yes" does.
    """
    return interaction in _MODULE_OPTIONAL


@attrs.frozen(kw_only=True)
class ModuleSpec:
    """
    One module, the intents it handles and the data scopes it declares.

    Attributes:
        name: The module's id.
        intents: Intent ids; empty when the module has none.
        scopes: Scopes a decision may require besides the module's own name.
    """

    name: str
    intents: tuple[str, ...] = attrs.field(default=(), converter=str_tuple)
    scopes: tuple[str, ...] = attrs.field(default=(), converter=str_tuple)


def _modules(modules: Iterable[ModuleSpec]) -> tuple[ModuleSpec, ...]:
    return tuple(modules)


@attrs.frozen(kw_only=True)
class Taxonomy:
    """
    Everything an engine may name in a decision.

    Attributes:
        modules: The modules; where two share a name the first one counts.
        presentations: Presentation ids; empty accepts any.
        data_kinds: Kinds of data a decision may require; empty accepts any.
        entity_types: Kinds a reference may have; empty accepts any.
        descriptions: Text for engines, by module, `module/intent`, scope or kind.
    """

    modules: tuple[ModuleSpec, ...] = attrs.field(default=(), converter=_modules)
    presentations: tuple[str, ...] = attrs.field(default=(), converter=str_tuple)
    data_kinds: tuple[str, ...] = attrs.field(default=(), converter=str_tuple)
    entity_types: tuple[str, ...] = attrs.field(default=(), converter=str_tuple)
    descriptions: dict[str, str] = attrs.field(factory=dict, converter=str_dict)

    def module(self, name: str) -> ModuleSpec | None:
        """
        Return the first module called *name*, or None.
        """
        return next((module for module in self.modules if module.name == name), None)

    def scopes(self) -> frozenset[str]:
        """
        Return every scope a decision may require: module names and declared scopes.
        """
        return frozenset(scope for module in self.modules for scope in (module.name, *module.scopes))

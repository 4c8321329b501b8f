"""States and choices as a caller would write them by hand, built from what a program already has."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any, Final

from decide.questions import ChoiceQuestion

Named = Mapping[Any, str | None] | Iterable[tuple[str | enum.Enum, str | None]]

_DATA: Final = "data"


class State(dict[str, object]):
    """
    The state of somebody in a role: `{"role": ..., **data}`.

    A role says on whose behalf a question is judged. It belongs beside the facts and never into the instructions, so
    that one question serves every role. An ordinary dict from then on.

    Args:
        role: Who is looking. It wins over a `role` in *data*.
        data: The facts: the members of a mapping stand beside the role, anything else under `data`, None nowhere.
    """

    def __init__(self, role: str, data: object = None) -> None:
        super().__init__(role=role)
        if isinstance(data, Mapping):
            self.update({key: fact for key, fact in data.items() if key != "role"})
        elif data is not None:
            self[_DATA] = data


class MessageState(dict[str, object]):
    """
    The state of a message and what it was said in: `{"context": ..., "message": ..., **extra}`.

    Args:
        context: Where the message stands: text, or any JSON.
        message: The message to judge.
        extra: Further facts. *context* and *message* win over members of the same name.
    """

    def __init__(self, context: object, message: str, extra: Mapping[str, object] | None = None) -> None:
        super().__init__(context=context, message=message)
        self.update({key: fact for key, fact in (extra or {}).items() if key not in self})


def choice_over(instructions: str, pairs: Named) -> ChoiceQuestion:
    """
    Ask for one of the things that *pairs* name and describe, such as tools, queues or agents.

    Args:
        instructions: The question.
        pairs: Names and descriptions, in the order to offer them. A string, of a StrEnum too, stands for itself; a
            member of any other enum for its name, whatever its value.

    Raises:
        TypeError: If a name is neither.
        ValueError: If a name is empty or stands twice, or there are not 1 to 255 of them.
    """
    named = pairs.items() if isinstance(pairs, Mapping) else pairs
    return ChoiceQuestion(instructions, [(_name(name), description) for name, description in named])


def _name(name: object) -> str:
    if isinstance(name, str):
        return str(name.value) if isinstance(name, enum.Enum) else name
    if isinstance(name, enum.Enum):
        return name.name
    raise TypeError(f"an option's name is a string or an enum member, got {type(name).__name__}")

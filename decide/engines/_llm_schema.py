"""What a model may answer, as a JSON schema that strict decoders take: every member required, no further ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from decide.questions import ChoiceQuestion, NoulQuestion, Question, RelevanceQuestion, ScoreQuestion
from decide.taxonomy import Interaction, Taxonomy

Schema = dict[str, object]

NUMBER: Final[Schema] = {"type": "number", "minimum": 0, "maximum": 1}

_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}


def decision_schema(taxonomy: Taxonomy) -> Schema:
    """
    Return the schema of a decision over *taxonomy*.

    The module and the intent may be empty, and what the taxonomy leaves open is open here.
    """
    modules = [module.name for module in taxonomy.modules]
    intents = [intent for module in taxonomy.modules for intent in module.intents]
    scopes = [*modules, *(scope for module in taxonomy.modules for scope in module.scopes)]
    reference = _object({"kind": _one_of(taxonomy.entity_types), "expression": _TEXT, "pronoun": _FLAG})
    slot = _object({"name": _TEXT, "value": _TEXT})
    return _object(
        {
            "module": _scored([*modules, ""]),
            "intent": _scored([*intents, ""]),
            "interaction": _one_of(list(Interaction)),
            "interactionConfidence": NUMBER,
            "reference": _or_null(reference),
            "requiredScopes": _list_of(_one_of(scopes)),
            "requiredData": _list_of(_one_of(taxonomy.data_kinds)),
            "slots": _list_of(slot),
            "canHandleDeterministically": _FLAG,
            "needsLLM": _FLAG,
            "presentation": _or_null(_one_of(taxonomy.presentations)),
        }
    )


def answers_schema(questions: Mapping[str, Question], *, verdicts: bool) -> Schema:
    """
    Return the schema of the answers to *questions*, by the names that the model is given.

    Of a choice and of a score only the probabilities are asked, so that no answer can contradict itself.

    Args:
        questions: The questions by name.
        verdicts: Ask yes/no questions for a bare true or false.
    """
    entries = {name: _answer(question, verdicts=verdicts) for name, question in questions.items()}
    return _object({"answers": _object(entries)})


def _answer(question: Question, *, verdicts: bool) -> Schema:
    match question:
        case NoulQuestion():
            return _object({"verdict": _FLAG} if verdicts else {"noul": NUMBER})
        case ChoiceQuestion() | RelevanceQuestion():
            return _object({"probabilities": _object(dict.fromkeys(question.candidates, NUMBER))})
        case ScoreQuestion():
            levels = map(str, range(len(question.levels)))
            return _object({"probabilities": _object(dict.fromkeys(levels, NUMBER))})


def _object(members: Mapping[str, object]) -> Schema:
    return {
        "type": "object",
        "properties": dict(members),
        "required": list(members),
        "additionalProperties": False,
    }


def _scored(ids: Sequence[str]) -> Schema:
    return _object({"value": _one_of(ids), "confidence": NUMBER})


def _one_of(ids: Iterable[str]) -> Schema:
    distinct = list(dict.fromkeys(map(str, ids)))
    return {"type": "string", "enum": distinct} if distinct else _TEXT


def _list_of(entry: Schema) -> Schema:
    return {"type": "array", "items": entry}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}

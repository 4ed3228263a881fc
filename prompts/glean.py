"""Extract the names in a text that were missed, if any (GraphRAG, gleaning)."""

from ramify.prompts._worked_examples import example
from ramify.prompts.extract import (
    BRIDGE,
    EMPTY_REPLY,
    EXAMPLE_TYPES,
    LINE_FORM,
    MADE,
    NAMES,
    ONE_NAME_A_LINE,
    RIVER,
    SPANS,
    TEXT,
    TROUT,
    Extracted,
)
from ramify.prompts.prompt import Prompt

GLEAN = Prompt(
    name="glean",
    task=(
        "Somebody listed the names of these types in the text: {kinds}; MANY may have been missed. Give those that are not in the list, and the "
        f"relations that are missing; empty lists if all were found, and nothing twice. {ONE_NAME_A_LINE} Write descriptions in the language of the text. "
        f"{LINE_FORM} Use nothing but the text."
    ),
    template=TEXT + "\n\nFound already:\n{found}",
    reply=Extracted,
    examples=(
        example({"entities": [RIVER], "relations": [SPANS]}, **EXAMPLE_TYPES, **BRIDGE, found=[*NAMES, MADE]),
        example(EMPTY_REPLY, **EXAMPLE_TYPES, **BRIDGE, found=[*NAMES, RIVER, MADE, SPANS]),
        example(EMPTY_REPLY, **EXAMPLE_TYPES, **TROUT, found=[]),
    ),
)

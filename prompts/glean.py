"""Extract the names in a text that were missed, if any (GraphRAG, gleaning)."""

from ramify.prompts.extract import BRIDGE, EACH, KINDS, LINES, MADE, NAMES, NOTHING, RIVER, SPANS, TEXT, TROUT, Extracted
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example

GLEAN = Prompt(
    name="glean",
    task=(
        "Somebody listed the names of these types in the text: {kinds}; MANY may have been missed. Give those that are not in the list, and the "
        f"relations that are missing; empty lists if all were found, and nothing twice. {EACH} Write descriptions in the language of the text. "
        f"{LINES} Use nothing but the text."
    ),
    template=TEXT + "\n\nFound already:\n{found}",
    reply=Extracted,
    examples=(
        example({"entities": [RIVER], "relations": [SPANS]}, **KINDS, **BRIDGE, found=[*NAMES, MADE]),
        example(NOTHING, **KINDS, **BRIDGE, found=[*NAMES, RIVER, MADE, SPANS]),
        example(NOTHING, **KINDS, **TROUT, found=[]),
    ),
)

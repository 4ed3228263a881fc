"""Find the names of a text that were missed (GraphRAG, gleaning)."""

from ramify.prompts.extract import BRIDGE, KINDS, LINES, MADE, NAMES, NOTHING, RIVER, SPANS, TEXT, TROUT, Extracted
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example

GLEAN = Prompt(
    name="glean",
    task=(
        "MANY names were missed in the last extraction. Add those that are not in the list, of these types: {kinds}, and the relations that "
        f"are missing. {LINES} Write descriptions in the language of the text, and use nothing but it."
    ),
    template=TEXT + "\n\nFound already:\n{found}",
    reply=Extracted,
    examples=(
        example({"entities": [RIVER], "relations": [SPANS]}, **KINDS, **BRIDGE, found=[*NAMES, MADE]),
        example(NOTHING, **KINDS, **TROUT, found=[]),
    ),
)

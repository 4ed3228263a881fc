"""Condense what a search found (reason-in-documents, Search-o1)."""

from ramify.prompts._worked_examples import HOLLIN, OSKEL, example, finding, passage
from ramify.prompts.prompt import Prompt
from ramify.prompts.summarize import EntitySummary

CONDENSE = Prompt(
    name="condense",
    task=(
        "Read the passages that a search found and say what they give for the main question beyond what is known: the facts alone, names and "
        "dates as written. Use nothing but the passages. If they give nothing, say Unknown."
    ),
    template="Passages:\n{passages}\n\nKnown so far:\n{history}\n\nSearched: {query}\nMain question: {question}",
    reply=EntitySummary,
    examples=(
        example(
            {"answer": "Edda Rask, who designed Hollin Bridge, was born in Tarnholm.", "confidence": 0.95, "citations": [2]},
            passages=[OSKEL, passage("Edda Rask", "The engineer was born in Tarnholm and trained at Vane.")],
            history=[finding("0.0", "Hollin Bridge designer", "Hollin Bridge was designed by Edda Rask.", 0.97)],
            query="Edda Rask birthplace",
            question=HOLLIN,
        ),
        example(
            {"answer": "Unknown", "confidence": 0.9, "citations": []},
            passages=[passage("Vane", "Trout live in the Oskel near Vane.")],
            history=[],
            query="Hollin Bridge designer",
            question=HOLLIN,
        ),
    ),
)

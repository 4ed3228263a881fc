"""Write docs/prompts.md: what each prompt is for, what it costs in tokens and how long its reply can be. `python docs/prompts.py`"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage

import ramify.prompts as prompts
from ramify.nodes.settings import Settings
from ramify.prompts import Prompt
from ramify.prompts.decompose import DECOMPOSE_SEARCHED
from ramify.tools.models.structured_call import json_schema
from ramify.tools.models.tokens import passage_length

PAGE = Path(__file__).with_name("prompts.md")
SHOTS = Settings().shots
WORDS = "The old mill at the end of the lane was rebuilt by two brothers from the north in the spring of 1862. "
"""Ordinary text to fill a reply with."""
HEAD = f"""# Prompts

What a call says beside its passages, findings and question, in tokens: the *system* text, which tells the task and the fields of the
reply, and up to {SHOTS} worked *examples*, which are turns of their own. Every text and list of a reply is bounded, so that a grammar ends
it: the *longest reply* fills all its bounds with ordinary text, and fits into `num_predict`.

What decides something is asked for one short sentence of thought first (`thought`); `shots` is the number of examples. Each is one
setting: `ramify ask … --set thought=false --set shots=0`, or to compare, `ramify eval … --sweep shots=0,2 --sweep thought=true,false`.
Instructions and examples together have at most 500 tokens, so `decide`, whose reply has the most fields, has one example only.
Examples are left out where they would take the room of a passage, or of the last tokens of a budget. Where sub-questions may not depend
on each other (`dependent=false`), those that do are replaced by others; an ablation leaves out the
examples of a behaviour that it disables.

To read one as a model gets it:

```python
from ramify.prompts import ANSWER

passage = {{"title": "Ulm", "source": "ulm.txt", "text": "Ulm lies on the Danube."}}
for message in ANSWER.told_with(thought=True, shots=1).render({{"passages": [passage], "question": "On which river is Ulm?"}}):
    print(message.type, message.text, sep=": ")
```

Tokens are counted with the embedded encoder's tokenizer (all-MiniLM-L6-v2), which is at hand everywhere.
"`decompose`, searched" is told where a question has been searched before it is split (`informed`): in PruneRAG's staged wiring, and below
the root of ToR-RAG. *Before* is what instructions and examples came to with three short examples, when the limits of a reply were not told.

What is the same in every call (task, rules, fields, examples) comes first, and passages and question last, so that a server's prefix
cache holds all of it.

"""
COLUMNS = [
    "system",
    "examples",
    "together",
    "before",
    "without thought",
    "without examples",
    "without either",
    "longest reply",
    "without thought",
]


BEFORE = {
    "aggregate": 514,
    "answer": 437,
    "claims": 280,
    "closed_book": 224,
    "compress": 495,
    "contextualize": 328,
    "decide": 821,
    "decompose": 456,
    "decompose, searched": 617,
    "describe": 209,
    "entities": 236,
    "extract": 366,
    "filter": 535,
    "finalize": 878,
    "glean": 392,
    "judge": 473,
    "map_report": 422,
    "next_question": 423,
    "plan": 308,
    "prefer": 713,
    "reduce": 500,
    "report": 396,
    "rubric": 322,
    "summarize_cluster": 282,
    "summarize": 359,
    "support": 321,
}
"""What they came to with three short examples, before the limits of a reply were told."""


class Cost(NamedTuple):
    """Tokens of a prompt as it is told."""

    system: int
    examples: int
    longest: int


def longest(schema: dict[str, Any]) -> Any:
    """Make the longest value that a schema's bounds allow."""
    if "properties" in schema:
        return {name: longest(field) for name, field in schema["properties"].items()}
    if "enum" in schema or "const" in schema:
        return max(schema.get("enum", [schema.get("const")]), key=len)
    if schema["type"] == "array":
        return [longest(schema["items"])] * schema["maxItems"]
    if schema["type"] == "string":
        return (WORDS * schema["maxLength"])[: schema["maxLength"]]
    return {"integer": schema.get("maximum"), "number": 0.95, "boolean": False}[schema["type"]]


def cost(prompt: Prompt[Any], thought: bool = True, shots: int = SHOTS) -> Cost:
    """Count what a prompt costs where its slots are empty."""
    told = prompt.told_with(thought, shots)
    slots = {name: True if name == "dependent" else "" for name in told.slots}
    system, *examples, _ = map(_tokens, told.render(slots))
    return Cost(system, sum(examples), passage_length(json.dumps(longest(json_schema(told.reply)))))


def page() -> str:
    """Write the page."""
    rows = {prompt.name: prompt for prompt in vars(prompts).values() if isinstance(prompt, Prompt)}
    rows["decompose, searched"] = DECOMPOSE_SEARCHED
    head = f"| prompt | what it is for | {' | '.join(COLUMNS)} |\n|---|---|{'---:|' * len(COLUMNS)}\n"
    return HEAD + head + "".join(_row(label, rows[label]) for label in sorted(rows))


def _row(label: str, prompt: Prompt[Any]) -> str:
    told, plain, bare, neither = (cost(prompt, thought, shots) for shots in (SHOTS, 0) for thought in (True, False))
    purpose = str(import_module(f"ramify.prompts.{prompt.name}").__doc__).partition("\n")[0].rstrip(".")
    together, *fewer = (sum(one[:2]) for one in (told, plain, bare, neither))
    figures = (told.system, told.examples, together, BEFORE.get(label, ""), *fewer, told.longest, plain.longest)
    name, *variant = label.split(",")
    return f"| {','.join((f'`{name}`', *variant))} | {purpose} | {' | '.join(map(str, figures))} |\n"


def _tokens(message: BaseMessage) -> int:
    return passage_length(message.text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")

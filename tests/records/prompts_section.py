"""The prompts in docs/reference.md: the purpose of each prompt, its tokens and the tokens of its longest reply."""

import json
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage

from ramify.nodes.settings import Settings
from ramify.prompts import Prompt
from ramify.prompts.decompose import DECOMPOSE_SEARCHED
from ramify.prompts.prompt import SLOT
from ramify.tools.models.structured_call import json_schema
from ramify.tools.models.tokens import passage_length
from tests.records.samples import ALL

SHOTS = Settings().shots
WORDS = "The old mill at the end of the lane was rebuilt by two brothers from the north in the spring of 1862. "
"""Ordinary text to fill a reply with."""
HEAD = f"""## Prompts

A prompt consists of *instructions* (one system message for all prompts, and the task with the fields of the reply), up to {SHOTS}
*examples* (few-shot), and the passages, findings and question of the call. The table counts the tokens of the first two, and of the
longest possible reply.

* `thought` asks for one short sentence of reasoning before a decision. `shots` is the number of examples. Both are settings:
  `ramify ask … --set thought=false --set shots=0`, or to compare them, `ramify eval … --sweep shots=0,2 --sweep thought=true,false`.
* Every text and list of a reply has a maximum length, so that a reply that follows the schema always ends. The *longest reply* fills all
  of them with ordinary text, and fits into `num_predict`. The lists of `extract`, `glean`, `claims` and `map_report`, and the answer of
  `reduce`, may be longer than the table says: as long as `num_predict` has room for.
* Instructions and examples together have at most 500 tokens. So prompts with long replies have short examples, or only one.
* Examples are left out if they would take the room of a passage, or the last tokens of a budget.
* If sub-questions must not depend on each other (`dependent=false`), examples with dependent ones are replaced. An ablation leaves out the
  examples of the behaviour that it disables.
* The first message is the same for all prompts. The last one begins with the passages; task, rules, fields and question follow, so that a
  server that has read the passages for one task need not read them for the next.

To print a prompt as a model receives it:

```python
from ramify.prompts import ANSWER

passage = {{"title": "Ulm", "source": "ulm.txt", "text": "Ulm lies on the Danube."}}
for message in ANSWER.with_options(thought=True, shots=1).render({{"passages": [passage], "question": "On which river is Ulm?"}}):
    print(message.type, message.text, sep=": ")
```

Tokens are counted with the tokenizer of the embedded encoder (all-MiniLM-L6-v2).
*"`decompose`, searched"* is the prompt for a question that was searched before it is split (`informed`): in PruneRAG's staged graph, and
below the root of ToR-RAG.

"""
COLUMNS = [
    "instructions",
    "examples",
    "together",
    "without thought",
    "without examples",
    "without either",
    "longest reply",
    "without thought",
]


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
    if bound := {"array": "maxItems", "string": "maxLength"}.get(schema["type"]):
        assert bound in schema, f"a field of a reply has no bound ({schema}): give its type AtMost(…), so that a reply ends"
    if schema["type"] == "array":
        return [longest(schema["items"])] * schema["maxItems"]
    if schema["type"] == "string":
        return (WORDS * schema["maxLength"])[: schema["maxLength"]]
    return {"integer": schema.get("maximum"), "number": 0.95, "boolean": False}[schema["type"]]


def cost(prompt: Prompt[Any], thought: bool = True, shots: int = SHOTS) -> Cost:
    """Count what a prompt costs where its slots are empty."""
    told = prompt.with_options(thought, shots)
    slots = {name: True if name == "dependent" else "" for name in told.slots}
    head, *examples, task = map(_tokens, told.render(slots))
    labels = passage_length(SLOT.sub("", told.template))  # they belong to what is asked, as the slots do
    return Cost(head + task - labels, sum(examples), passage_length(json.dumps(longest(json_schema(told.reply)))))


def section() -> str:
    """Write the section."""
    rows = {prompt.name: prompt for prompt in ALL}
    rows["decompose, searched"] = DECOMPOSE_SEARCHED
    head = f"| prompt | what it is for | {' | '.join(COLUMNS)} |\n|---|---|{'---:|' * len(COLUMNS)}\n"
    return HEAD + head + "".join(_row(label, rows[label]) for label in sorted(rows))


def _row(label: str, prompt: Prompt[Any]) -> str:
    told, plain, bare, neither = (cost(prompt, thought, shots) for shots in (SHOTS, 0) for thought in (True, False))
    together, *fewer = (sum(one[:2]) for one in (told, plain, bare, neither))
    figures = (told.system, told.examples, together, *fewer, told.longest, plain.longest)
    name, *variant = label.split(",")
    return f"| {','.join((f'`{name}`', *variant))} | {prompt.purpose} | {' | '.join(map(str, figures))} |\n"


def _tokens(message: BaseMessage) -> int:
    return passage_length(message.text)

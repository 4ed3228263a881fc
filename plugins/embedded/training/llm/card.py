"""Write the model card of an adapter from its file, its examples and measured figures.

python -m plugins.embedded.training.llm.card ADAPTER.gguf EXAMPLES.jsonl README.md [--figures FIGURES.json]

FIGURES.json is a list of rows, such as [{"strategy": "split", "questions": 60, "EM": 38.3}].
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import gguf

from plugins.embedded.training.llm.licences import UNKNOWN, data_set
from plugins.embedded.training.llm.metadata import Metadata
from plugins.embedded.training.llm.rows import Example, read_examples

TAGS: Final = ("lora", "gguf", "llama-cpp", "question-answering", "multi-hop", "retrieval-augmented-generation")
TEMPLATE: Final = """\
# {name}

A LoRA adapter of {base}, trained on examples in the prompts of Ramify (`ramify-rag`), a toolkit that answers \
multi-hop questions from documents. With it the model splits questions, decides what to ask next, and answers from passages, each as a \
JSON object.

## The file

{file}

## Training

{training}

Examples by prompt:

{prompts}

Examples by data set:

{sources}

{licences}

## Figures

{figures}

## Intended use

Questions about documents of one's own, in English, with Ramify's prompts: whatever else is asked, the adapter was not trained for. \
In Ramify: `--model gguf:MODEL --set adapter=PATH`, where MODEL is the file, or the name of the download, that it was trained on.

## Limits

* It is a small model: read the passages that an answer names.
* It was trained on questions over encyclopedias, manuals and office documents in English. Other languages and other text were not measured.
* It was trained on the weights as they are in the quantised file. On other weights of the same model its effect is close, not equal.
* Examples do not state a confidence. Where a prompt asks for one, what the model states has not been learned.
* Thoughts in the replies were made by rule. They are no account of how the model comes to an answer.
"""


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as a table in Markdown, with the columns of all of them."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines: list[Sequence[object]] = [columns, ["---"] * len(columns), *([row.get(column, "") for column in columns] for row in rows)]
    return "\n".join("| " + " | ".join(_cell(value) for value in line) + " |" for line in lines)


def _cell(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return " ".join(text.replace("|", r"\|").split())


def front_matter(metadata: Metadata, sources: Iterable[str]) -> str:
    """Return the head of a card that model hubs read, in YAML (of which JSON is a part)."""
    head: dict[str, Any] = {
        "license": metadata.licence or UNKNOWN,
        "base_model": metadata.base or UNKNOWN,
        "base_model_relation": "adapter",
        "library_name": "peft",
        "pipeline_tag": "text-generation",
        "language": ["en"],
        "tags": TAGS,
        "datasets": sorted({known.name.replace(" ", "-") for known in map(data_set, sources) if known.published}),
    }
    return "\n".join(["---", *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()), "---"])


def describe_file(adapter: Path, reader: gguf.GGUFReader) -> str:
    """Return the table of an adapter's file: its size, rank and hash."""
    ranks = {int(tensor.shape[-1]) for tensor in reader.tensors if tensor.name.endswith(".lora_a")}
    rows = {
        "bytes": adapter.stat().st_size,
        "SHA-256": f"`{hashlib.sha256(adapter.read_bytes()).hexdigest()}`",
        "rank": ", ".join(map(str, sorted(ranks))),
        "parameters": sum(int(tensor.n_elements) for tensor in reader.tensors),
    }
    return table([{"file": key, f"`{adapter.name}`": value} for key, value in rows.items()])


def describe_training(run: str, examples: Path) -> str:
    """Return the options of a run as a table, and whether the examples are those of the run."""
    options = json.loads(run or "{}")
    if not options:
        return "The file does not tell how it was trained."
    same = options.get("examples") == hashlib.sha256(examples.read_bytes()).hexdigest()
    told = "The examples below are those of the run." if same else "**The examples below are not those of the run**: their hash differs."
    return table([{"option": key, "value": f"`{value}`"} for key, value in options.items()]) + "\n\n" + told


def describe_sources(examples: Iterable[Example]) -> tuple[str, str]:
    """Return how many examples are of which data set, and what follows from their licences."""
    counts = Counter(data_set(example["source"]) for example in examples)
    rows = [{"data set": known.name, "examples": count, "licence": known.licence} for known, count in counts.most_common()]
    if unknown := sorted(known.name for known in counts if known.licence == UNKNOWN):
        return table(rows), f"**The licence of {', '.join(unknown)} is unknown**: find it out before you publish the adapter."
    return table(rows), "The licences are those that the publishers of the data sets state."


def write_card(adapter: Path, examples: Path, out: Path, figures: Sequence[Mapping[str, object]]) -> None:
    """Write the card of an adapter."""
    reader, told = gguf.GGUFReader(adapter), read_examples(examples)
    metadata = Metadata.read(reader)
    sources, licences = describe_sources(told)
    counts = Counter(example["prompt"] for example in told).most_common()
    prompts = table([{"prompt": name, "examples": count} for name, count in counts])
    text = TEMPLATE.format(
        name=metadata.name or adapter.stem, base=metadata.base or "a model that the file does not tell", prompts=prompts, sources=sources,
        licences=licences, file=describe_file(adapter, reader), training=describe_training(metadata.run, examples),
        figures=table(figures) if figures else "None were measured.",
    )  # fmt: skip
    out.write_text(f"{front_matter(metadata, {example['source'] for example in told})}\n\n{text}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the card."""
    parser = argparse.ArgumentParser(description="Write the model card of an adapter.")
    parser.add_argument("adapter", type=Path, help="GGUF file of the adapter")
    parser.add_argument("examples", type=Path, help="the examples that it was trained on")
    parser.add_argument("out", type=Path)
    parser.add_argument("--figures", type=Path, help="JSON file with a list of rows that were measured")
    given = parser.parse_args(arguments)
    figures = json.loads(given.figures.read_text(encoding="utf-8")) if given.figures else []
    write_card(given.adapter, given.examples, given.out, figures)
    print(given.out)


if __name__ == "__main__":
    main()

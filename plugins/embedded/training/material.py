"""Load all training material, and divide it into the parts for training, model selection and measuring.

python -m plugins.embedded.training.material DATA
"""

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from plugins.embedded.training import technical
from plugins.embedded.training.cloze import cloze_examples
from plugins.embedded.training.example import Example, Part, assign_part
from plugins.embedded.training.public_sets import (
    linked_hop_examples,
    paper_examples,
    relevance_examples,
    span_examples,
    squad_span_examples,
    whole_question_examples,
    wiki_hop_examples,
    yes_no_examples,
)
from plugins.embedded.training.records import record_examples
from plugins.embedded.training.relations import agreement_examples, claim_examples, relation_examples
from plugins.embedded.training.source import Document, Folder, load_data_folder
from ramify.tools.errors import InputError

Maker = Callable[[], Iterator[Example]]
FOLDERS: Final = (
    "squad_dev", "covidqa_200423", "boolq_dev", "condaqa_dev_test", "strategyqa", "pubmedqa_labelled",
    "2wikimultihopqa_train", "hotpotqa_train", "musique_train", "squadshifts", "fairytaleqa", "nq_oracle_dev", "qed_dev", "tatqa_text",
    "boolq_train", "techdocs_faq", "selqa_ass", "squad_du_test", *technical.FOLDERS,
)  # fmt: skip
_MAX_CONTEXT_CHARS = 2200
_RECORDS = 6000


def load_material(data: Path, among: Collection[str] | None = None) -> Iterator[Example]:
    """Yield every example of the folders under a path, or those of the sources in `among`, in a fixed order."""
    for name, make in _example_makers(data):
        if among is None or any(source == name or source.startswith(f"{name}_") for source in among):
            yield from (_with_relevance(example) for example in make() if _fits(example) and (among is None or example.source in among))


def _fits(example: Example) -> bool:
    return len(example.context) <= _MAX_CONTEXT_CHARS or example.kind != "span"


def _with_relevance(example: Example) -> Example:
    """Return an example with `bears` set if it follows from its kind or source."""
    if example.bears is not None:
        return example
    return replace(example, bears=False if example.source.endswith("_other") else True if example.kind in ("span", "yes", "no") else None)


def _load_with_corpus(path: Path) -> Folder:
    """Load a folder; InputError where it has no documents."""
    if not (folder := load_data_folder(path)).documents:
        raise InputError(f"the data set {folder.name!r} has no corpus.jsonl.gz", "copy the folder whole")
    return folder


def _example_makers(data: Path) -> Iterator[tuple[str, Maker]]:
    """Yield functions that load examples, each with the prefix of its sources' names: `hops` yields hops and hops_step."""

    def of(make: Callable[[Folder], Iterator[Example]], name: str) -> Maker:
        return lambda: make(_load_with_corpus(data / name))

    def of_documents(make: Callable[[list[Document], str], Iterator[Example]], source: str, *names: str) -> Maker:
        return lambda: make([document for name in names for document in _load_with_corpus(data / name).documents.values()], source)

    yield from ((name, of(span_examples, name)) for name in ("squadshifts", "fairytaleqa", "nq_oracle_dev", "qed_dev", "tatqa_text"))
    yield from ((name, of(relevance_examples, name)) for name in ("techdocs_faq", "selqa_ass", "squad_du_test"))
    yield "squad", of(squad_span_examples, "squad_dev")
    yield "papers", of(paper_examples, "covidqa_200423")
    yield from (
        (name, of(yes_no_examples, name)) for name in ("boolq_dev", "boolq_train", "condaqa_dev_test", "strategyqa", "pubmedqa_labelled")
    )
    yield "hops", of(wiki_hop_examples, "2wikimultihopqa_train")
    yield "linked", of(linked_hop_examples, "musique_train")
    yield "whole", of(whole_question_examples, "hotpotqa_train")
    encyclopedic = "2wikimultihopqa_train", "hotpotqa_train", "musique_train"
    yield "relation", of_documents(partial(relation_examples, wordings=2), "relation", *encyclopedic)
    yield "claim", of_documents(claim_examples, "claim", *encyclopedic)
    yield "agreement", of_documents(agreement_examples, "agreement", *encyclopedic)
    yield "cloze", of_documents(cloze_examples, "cloze", *encyclopedic)
    yield "cloze", of_documents(cloze_examples, "cloze", "boolq_dev")
    yield from ((name, of(technical.technical_examples, name)) for name in technical.FOLDERS)
    yield "records", lambda: record_examples(_RECORDS)


def part_of_example(example: Example) -> Part:
    """Return the part of an example, by its document, so that no text is in two parts."""
    return assign_part(example.group)


def main() -> None:
    """Count the material."""
    counts = Counter((example.source, example.kind, part_of_example(example)) for example in load_material(Path(sys.argv[1])))
    for (source, kind, where), count in sorted(counts.items()):
        print(f"{source:24} {kind:5} {where:8} {count:6}")
    print(sum(counts.values()))


if __name__ == "__main__":
    main()

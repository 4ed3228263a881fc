"""All training material, and which part of it trains, which chooses, and which is only measured.

python -m training.material DATA
"""

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from ramify.tools.errors import InputError
from training import technical
from training.cloze import cloze
from training.example import Example, Part, dealt
from training.public_sets import linked_hops, papers, ranked, spans, squad, whole, wiki_hops, yes_no
from training.records import records
from training.relations import agreements, asked, claims
from training.source import Document, Folder, load

Maker = Callable[[], Iterator[Example]]
FOLDERS: Final = (
    "squad_dev", "covidqa_200423", "boolq_dev", "condaqa_dev_test", "strategyqa", "pubmedqa_labelled",
    "2wikimultihopqa_train", "hotpotqa_train", "musique_train", "squadshifts", "fairytaleqa", "nq_oracle_dev", "qed_dev", "tatqa_text",
    "boolq_train", "techdocs_faq", "selqa_ass", "squad_du_test", *technical.FOLDERS,
)  # fmt: skip
_LONGEST = 2200
_RECORDS = 6000


def material(data: Path, among: Collection[str] | None = None) -> Iterator[Example]:
    """Make every example of the folders under a path, or those of some sources, in one fixed order."""
    for name, make in _makers(data):
        if among is None or any(source == name or source.startswith(f"{name}_") for source in among):
            yield from (_ranked(example) for example in make() if _fits(example) and (among is None or example.source in among))


def _fits(example: Example) -> bool:
    return len(example.context) <= _LONGEST or example.kind != "span"


def _ranked(example: Example) -> Example:
    """Say whether a context bears on its question where that follows: it holds the answer, or is another than the one it is asked of."""
    if example.bears is not None:
        return example
    return replace(example, bears=False if example.source.endswith("_other") else True if example.kind in ("span", "yes", "no") else None)


def _whole(path: Path) -> Folder:
    """Load a folder; InputError where it has no documents."""
    if not (folder := load(path)).documents:
        raise InputError(f"the data set {folder.name!r} has no corpus.jsonl.gz", "copy the folder whole")
    return folder


def _makers(data: Path) -> Iterator[tuple[str, Maker]]:
    """Give what makes examples, each with the name of its sources, which may have something behind it: `hops` makes hops and hops_step."""

    def of(make: Callable[[Folder], Iterator[Example]], name: str) -> Maker:
        return lambda: make(_whole(data / name))

    def of_documents(make: Callable[[list[Document], str], Iterator[Example]], source: str, *names: str) -> Maker:
        return lambda: make([document for name in names for document in _whole(data / name).documents.values()], source)

    yield from ((name, of(spans, name)) for name in ("squadshifts", "fairytaleqa", "nq_oracle_dev", "qed_dev", "tatqa_text"))
    yield from ((name, of(ranked, name)) for name in ("techdocs_faq", "selqa_ass", "squad_du_test"))
    yield "squad", of(squad, "squad_dev")
    yield "papers", of(papers, "covidqa_200423")
    yield from ((name, of(yes_no, name)) for name in ("boolq_dev", "boolq_train", "condaqa_dev_test", "strategyqa", "pubmedqa_labelled"))
    yield "hops", of(wiki_hops, "2wikimultihopqa_train")
    yield "linked", of(linked_hops, "musique_train")
    yield "whole", of(whole, "hotpotqa_train")
    encyclopedic = "2wikimultihopqa_train", "hotpotqa_train", "musique_train"
    yield "relation", of_documents(partial(asked, wordings=2), "relation", *encyclopedic)
    yield "claim", of_documents(claims, "claim", *encyclopedic)
    yield "agreement", of_documents(agreements, "agreement", *encyclopedic)
    yield "cloze", of_documents(cloze, "cloze", *encyclopedic)
    yield "cloze", of_documents(cloze, "cloze", "boolq_dev")
    yield from ((name, of(technical.technical, name)) for name in technical.FOLDERS)
    yield "records", lambda: records(_RECORDS)


def part(example: Example) -> Part:
    """Tell what an example is for: by its document, so that a text is never on two sides."""
    return dealt(example.group)


def main() -> None:
    """Count the material."""
    counts = Counter((example.source, example.kind, part(example)) for example in material(Path(sys.argv[1])))
    for (source, kind, where), count in sorted(counts.items()):
        print(f"{source:24} {kind:5} {where:8} {count:6}")
    print(sum(counts.values()))


if __name__ == "__main__":
    main()

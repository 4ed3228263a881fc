"""Questions with the steps that lead to their answers, each with the document that tells it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from plugins.embedded.training.example import occurrences, seeded_random
from plugins.embedded.training.llm.rendered import sentence
from plugins.embedded.training.llm.shown import quoted_text
from plugins.embedded.training.llm.statements import missing_fact, statement, wanted
from plugins.embedded.training.public_sets import answer_forms
from plugins.embedded.training.relations import WORDINGS
from plugins.embedded.training.source import Document, Folder, load_data_folder, supporting_documents
from plugins.embedded.training.technical import FOLDERS
from plugins.embedded.training.writing.decomposed import cleaned
from plugins.embedded.training.writing.written import ask, fold
from ramify.tools.english import strip_disambiguation

MULTI_HOP: Final = ("musique_train", "2wikimultihopqa_train", "hotpotqa_train", *FOLDERS)
COMPARED: Final = "Two facts are compared."
_KINDS: Final = {"film": ("film", "movie"), "song": ("song",)}
_REFERENCE = re.compile(r"#(\d)")


@dataclass(frozen=True)
class Hop:
    """A step: its question, also with `{1}` for the answer of an earlier step, its answer and its document."""

    question: str
    template: str
    answer: str
    document: Document
    reworded: str = ""
    """The question in other words, if there are any."""


@dataclass(frozen=True)
class Hops:
    """A question, its answer, the documents it rests on, and its steps, if they are known."""

    source: str
    question: str
    answer: str
    documents: tuple[Document, ...]
    steps: tuple[Hop, ...] = ()

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the question, the documents and the questions of its steps, by which it is dealt."""
        documents = (fold(document.title or document.id) for document in self.documents)
        return fold(self.question), *documents, *(fold(step.question) for step in self.steps)

    @property
    def in_turn(self) -> bool:
        """Return whether it has two steps, the second of which needs the answer of the first."""
        return len(self.steps) == 2 and "{1}" in self.steps[1].template

    @property
    def apart(self) -> bool:
        """Return whether it has two steps, neither of which needs the other."""
        return len(self.steps) == 2 and not any("{" in step.template for step in self.steps)


def summary(known: Sequence[Hop], missing: Sequence[str]) -> str:
    """Return the thought about a question: what is known of it, and what is asked for next."""
    told = [statement(hop.question, hop.answer) or f"{hop.question.rstrip('?')}: {hop.answer}" for hop in known]
    left = [missing_fact(question) for question in missing]
    return sentence("; ".join([*told, *dict.fromkeys(left)]))


def single_fact(question: str) -> str:
    """Return the thought about a question that needs no split."""
    asked = wanted(question)
    return sentence(f"It asks for one fact, {asked}" if asked else "It asks for one fact")


def first_needed(first: str) -> str:
    """Return the thought about a question whose first part has to be known before the second."""
    return sentence(f"{wanted(first) or 'the answer to one part'} has to be known first")


def folders(data: Path, names: Iterable[str]) -> Iterator[Folder]:
    """Yield the folders of these names that are there."""
    yield from (load_data_folder(data / name) for name in names if (data / name / "questions.jsonl.gz").exists())


def multi_hop(folder: Folder) -> Iterator[Hops]:
    """Yield the multi-hop questions of a folder, without steps where these are not known."""
    by_title = {fold(document.title or ""): document for document in folder.documents.values()}
    names = Counter(fold(strip_disambiguation(document.title or "")) for document in folder.documents.values())
    for item in folder.questions:
        documents = tuple(supporting_documents(folder, item))
        if len(documents) < 2 or not item["answer"] or (folder.name in FOLDERS and item["metadata"]["kind"] != "two_hop"):
            continue
        answer = item["answer"].capitalize() if fold(item["answer"]) in ("yes", "no") else item["answer"]
        steps = _of_evidences(item, by_title, names, documents) if "evidences" in item else _of_steps(item, folder)
        yield Hops(folder.name, ask(cleaned(item["question"])), " ".join(answer.split()), documents, steps or ())


def _of_evidences(
    item: dict[str, Any], by_title: dict[str, Document], names: Counter[str], documents: Sequence[Document]
) -> tuple[Hop, ...] | None:
    """Return the steps that the evidences of 2WikiMultihopQA make, in one of the wordings of each relation; None if one is not told."""
    steps: list[Hop] = []
    for subject, relation, answer in item["evidences"]:
        bare = strip_disambiguation(subject)
        name = bare if names[fold(bare)] < 2 else subject  # of several of one name, it has to be told which
        document = by_title.get(fold(subject)) or next(
            (shown for shown in documents if fold(strip_disambiguation(shown.title or "")) == fold(bare)), None
        )
        said = _as_told(answer, document)
        if document is None or said is None or relation not in WORDINGS:
            return None
        wordings = spoken(relation, item["question"])
        wording, *others = seeded_random(item["id"], relation).sample(wordings, min(2, len(wordings)))
        before = next((n for n, step in enumerate(steps, 1) if fold(step.answer) in (fold(name), fold(bare))), None)
        template = wording.format(s=name if before is None else f"{{{before}}}")
        steps.append(Hop(wording.format(s=name), template, said, document, others[0].format(s=name) if others else ""))
    return tuple(steps)


def spoken(relation: str, question: str) -> list[str]:
    """Return the wordings in which a person asks for a relation, without those that call a thing what the question does not."""
    kinds = [kind for kind, words in _KINDS.items() if not any(word in question.casefold() for word in words)]
    return [wording for wording in WORDINGS[relation] if ">>" not in wording and not any(f"the {kind} " in wording for kind in kinds)]


def _of_steps(item: dict[str, Any], folder: Folder) -> tuple[Hop, ...] | None:
    """Return the steps of MuSiQue (`#1` is an answer) and of the written questions (`{1}`); None if one is not told, or not a question."""
    steps: list[Hop] = []
    for given in (item["decomposition"] or {}).get("steps", ()):
        document = folder.documents.get(given.get("doc_id") or "")
        said = _as_told(given["answer"], document)
        subject, arrow, relation = _REFERENCE.sub(r"{\1}", given["question"]).partition(" >> ")
        if document is None or said is None or (arrow and relation.strip() not in WORDINGS):
            return None
        asked = WORDINGS[relation.strip()][0].format(s=subject.strip()) if arrow else cleaned(subject)
        template = asked[:1].upper() + asked[1:].rstrip("? ") + "?"
        filled = template
        for number, earlier in enumerate(steps, 1):
            filled = filled.replace(f"{{{number}}}", earlier.answer)
        steps.append(Hop(filled, template, said, document))
    return tuple(steps)


def _as_told(answer: str, document: Document | None) -> str | None:
    """Return an answer in the form in which a prompt shows it in a document; None if it does not."""
    text = quoted_text(document) if document else ""
    for form in answer_forms(answer):
        for begin, end in occurrences(form, text):
            return " ".join(text[begin:end].split())
    return None

"""Questions with the passages that a search would bring: what confidence has to be right on."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from ramify.tools.reader.reading import in_context
from training import technical
from training.example import Example, seeded
from training.lookalike import Lookalikes
from training.material import Part, material, part
from training.source import Folder, gold, load

FOLDERS: Final = {
    "squad": "squad_dev",
    "squad_other": "squad_dev",
    "hops": "2wikimultihopqa_train",
    "hops_step": "2wikimultihopqa_train",
    "relation": "2wikimultihopqa_train",
    "linked": "musique_train",
    "boolq_dev": "boolq_dev",
    "condaqa_dev_test": "condaqa_dev_test",
    "squadshifts": "squadshifts",
    "nq_oracle_dev": "nq_oracle_dev",
    "nq_oracle_dev_other": "nq_oracle_dev",
    "tatqa_text": "tatqa_text",
    "techdocs_faq_other": "techdocs_faq",
    **{f"{name}_{kind}": name for name in technical.FOLDERS for kind in ("span", "field", "yes", "no", "none", "step")},
}
"""Where the passages of each source's questions are searched."""
WHOLE: Final = ("2wikimultihopqa_train", "hotpotqa_train", "musique_train")
"""Whose whole questions are asked as well, with the paragraphs of all their hops."""
PASSAGES: Final = 5
MISSED: Final = 0.25
"""The share of technical questions whose passage the search does not bring: of the manuals' questions, one in four."""
_LONGEST = 1200
"""Characters of a passage that is only near."""
_ALSO: Final = ("techdocs_faq", "whole", "hops_both")
"""Sources that tell which passage is right, and which whole questions were trained on."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class Searched:
    """A question with its passages; its answers are empty where none of them holds one, or yes, or no."""

    source: str
    question: str
    contexts: tuple[str, ...]
    answers: tuple[str, ...]


class Questions:
    """Questions of all sources; they are made once, for all parts."""

    def __init__(self, data: Path) -> None:
        """Make them."""
        self._of_source: dict[tuple[str, Part], list[Example]] = defaultdict(list)
        self._right: dict[str, list[Example]] = defaultdict(list)
        for example in material(data, {*FOLDERS, *_ALSO}):
            self._of_source[example.source, part(example)].append(example)
            if example.bears:
                self._right[example.question].append(example)
        self._trained = {example.question for (_, where), some in self._of_source.items() if where == "train" for example in some}
        self._folders = {name: load(data / name) for name in dict.fromkeys((*FOLDERS.values(), *WHOLE))}
        self._found = {name: Lookalikes(folder.documents.values()) for name, folder in self._folders.items()}

    def searched(self, wanted: Part, most: int) -> Iterator[Searched]:
        """Give questions of a part, at most so many of a source, with the passage they are about and others that look alike."""
        for source, name in FOLDERS.items():
            for example in _some(source, self._of_source[source, wanted], most):
                yield _with_passages(example, self._right[example.question], self._found[name])
        for name in WHOLE:
            folder = self._folders[name]
            for item in _some(name, self._whole(folder, wanted), most):
                yield _with_every_hop(item, folder, self._found[name])

    def _whole(self, folder: Folder, wanted: Part) -> list[dict[str, Any]]:
        """Deal whole questions that were not trained on in halves: few as they are, most of their paragraphs were read for single hops."""
        untrained = [item for item in folder.questions if item["question"] not in self._trained]
        return [item for item in untrained if (seeded(item["id"], "whole").random() < 0.5) == (wanted == "choose")]


def _some(source: str, items: Sequence[Item], most: int) -> list[Item]:
    return random.Random(source).sample(items, min(most, len(items)))


def _with_passages(example: Example, right: Sequence[Example], documents: Lookalikes) -> Searched:
    answers = [] if example.kind in ("yes", "no") else [answer for one in right for answer in _answers(one)]
    known = {example.group, *(one.group for one in right)}
    choose = random.Random(example.question)
    if example.source.endswith("_none"):  # another passage may answer it
        return Searched(example.source, example.question, (example.context,), ())
    near = _near(example.question, answers, known, documents, example.context)
    if example.source.startswith(technical.FOLDERS):  # as a search in manuals and office documents brings them
        if choose.random() < MISSED and len(near) > 1:
            return Searched(example.source, example.question, tuple(choose.sample(near, len(near))), ())
        contexts = [*dict.fromkeys((example.context, *near))][:PASSAGES]
    else:  # what is read may be one passage or many, and confidence has to be right for both
        contexts = [*dict.fromkeys((example.context, *near))][: choose.choice((1, PASSAGES))]
    return Searched(example.source, example.question, tuple(choose.sample(contexts, len(contexts))), _answers(example))


def _with_every_hop(item: dict[str, Any], folder: Folder, documents: Lookalikes) -> Searched:
    question, answers, hops = item["question"], (item["answer"], *item["answer_aliases"]), gold(folder, item)
    held = [] if answers[0].casefold() in ("yes", "no") else answers
    near = _near(question, held, {document.id for document in hops}, documents)
    contexts = [*(in_context(document.title, document.text[:_LONGEST]) for document in hops), *near][: max(PASSAGES, len(hops))]
    return Searched(f"{folder.name}, whole", question, tuple(random.Random(question).sample(contexts, len(contexts))), answers)


def _near(question: str, answers: Sequence[str], known: set[str], documents: Lookalikes, right: str = "") -> list[str]:
    """Give the nearest passages that are not known to be right and do not hold an answer."""
    near = [
        document
        for document in documents.nearest(question, 2 * PASSAGES)
        if document.id not in known and not technical.is_from(right, document)
    ]
    texts = dict.fromkeys(in_context(document.title, document.text[:_LONGEST]) for document in near)
    return [text for text in texts if not any(answer.casefold() in text.casefold() for answer in answers)][:PASSAGES]


def _answers(example: Example) -> tuple[str, ...]:
    if example.kind in ("yes", "no"):
        return (example.kind,)
    return tuple(example.context[start:end] for start, end in example.spans)

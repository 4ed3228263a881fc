"""Questions with the passages that a search would bring: what confidence has to be right on."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ramify.tools.reader.pairs import in_context
from training.example import Example
from training.lookalike import Lookalikes
from training.material import Part, material, part
from training.source import gold, load

FOLDERS = {
    "squad": "squad_dev",
    "squad_other": "squad_dev",
    "hops": "2wikimultihopqa_train",
    "hops_step": "2wikimultihopqa_train",
    "relation": "2wikimultihopqa_train",
    "linked": "musique_train",
    "boolq_dev": "boolq_dev",
    "condaqa_dev_test": "condaqa_dev_test",
    "claim": "2wikimultihopqa_train",
}
"""Where the passages of each source's questions are searched."""
WHOLE = ("2wikimultihopqa_train", "musique_train")
"""Folders whose questions are also asked as a whole, as they never are in training: what the reader cannot know must not sound sure."""
PASSAGES = 5
_MOST = 250


@dataclass(frozen=True)
class Searched:
    """A question with its passages; its answers are empty where none of them holds one, or yes, or no."""

    source: str
    question: str
    contexts: tuple[str, ...]
    answers: tuple[str, ...]


def searched(data: Path, wanted: Part) -> Iterator[Searched]:
    """Give questions of a part, at most some hundreds of a source, with the passage they are about and others that look alike."""
    examples = [example for example in material(data) if example.source in FOLDERS and part(example) == wanted]
    found = {name: Lookalikes(load(data / name).documents.values()) for name in dict.fromkeys(FOLDERS.values())}
    for source, folder in FOLDERS.items():
        some = [example for example in examples if example.source == source]
        for example in random.Random(source).sample(some, min(_MOST, len(some))):
            yield _with_passages(example, found[folder])


def whole_searched(data: Path) -> Iterator[Searched]:
    """Give questions of several hops with what a search brings first; yes/no questions, which are trained on as a whole, are left out."""
    for name in WHOLE:
        folder = load(data / name)
        documents = Lookalikes(folder.documents.values())
        some = [item for item in folder.questions if item["answer"].casefold() not in ("yes", "no")]
        for item in random.Random(name).sample(some, min(_MOST, len(some))):
            right = [in_context(document.title, document.text) for document in gold(folder, item)]
            near = [in_context(document.title, document.text) for document in documents.nearest(item["question"], PASSAGES)]
            yield Searched(name, item["question"], _shown(item["question"], right, near), (item["answer"], *item["answer_aliases"]))


def _with_passages(example: Example, documents: Lookalikes) -> Searched:
    near = [in_context(document.title, document.text) for document in documents.nearest(example.question, PASSAGES)]
    others = [context for context in near if not _holds(context, example)]
    return Searched(example.source, example.question, _shown(example.question, [example.context], others), _answers(example))


def _shown(question: str, right: Sequence[str], near: Sequence[str]) -> tuple[str, ...]:
    """Line passages up: what is read may be the right ones alone or among others, and confidence has to be right for both."""
    choose = random.Random(question)
    count = choose.choice((len(right), PASSAGES))
    contexts = tuple(dict.fromkeys([*right, *near]))[:count]
    return tuple(choose.sample(contexts, len(contexts)))


def _answers(example: Example) -> tuple[str, ...]:
    if example.kind in ("yes", "no"):
        return (example.kind,)
    return tuple(example.context[start:end] for start, end in example.spans)


def _holds(context: str, example: Example) -> bool:
    """Tell whether a passage holds the answer to a question that is to have none in what was found."""
    answers: Sequence[str] = _answers(example) if example.kind == "span" else ()
    return context != example.context and any(answer.casefold() in context.casefold() for answer in answers)

"""Questions with the passages that a search would bring: what confidence has to be right on."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ramify.tools.reader.pairs import in_context
from training.example import Example
from training.lookalike import Lookalikes
from training.material import Part, material, part
from training.source import load

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


def _with_passages(example: Example, documents: Lookalikes) -> Searched:
    near = [in_context(document.title, document.text) for document in documents.nearest(example.question, PASSAGES)]
    choose = random.Random(example.question)
    # What is read may be one passage or many, and confidence has to be right for both.
    count = choose.choice((1, PASSAGES))
    contexts = tuple(dict.fromkeys([example.context, *(context for context in near if not _holds(context, example))]))[:count]
    order = choose.sample(contexts, len(contexts))
    return Searched(example.source, example.question, tuple(order), _answers(example))


def _answers(example: Example) -> tuple[str, ...]:
    if example.kind in ("yes", "no"):
        return (example.kind,)
    return tuple(example.context[start:end] for start, end in example.spans)


def _holds(context: str, example: Example) -> bool:
    """Tell whether a passage holds the answer to a question that is to have none in what was found."""
    answers: Sequence[str] = _answers(example) if example.kind == "span" else ()
    return context != example.context and any(answer.casefold() in context.casefold() for answer in answers)

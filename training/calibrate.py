"""Fit how the network's probabilities become confidences, on questions kept back for choosing.

    python -m training.calibrate DATA [--most 120] [--trunk e5-multilingual | all-mpnet-base-v2]

Each question has the passages that a search would bring. It prints the constants of tools/reader/calibration.py, or of multilingual.py or
large.py beside it, how far confidence is from being right on the same questions and on those kept back for measuring, the best threshold
for giving an answer, and one for looking no further.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from ramify.evaluation.metrics import exact_match, expected_calibration_error, token_f1
from ramify.tools.reader.calibration import TAU, Constants, Evidence, confidence
from ramify.tools.reader.reading import LARGE, MULTILINGUAL, SMALL, Reader, in_context
from ramify.tools.reader.short_answers import ReadAnswer, weigh
from training import technical
from training.example import Example, Part, seeded
from training.material import material, part
from training.source import Folder, Lookalikes, gold, load

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


THRESHOLDS: Final = tuple(number / 20 for number in range(1, 11))
SURE_ENOUGH: Final = 0.85
"""The share of answers that are to be right where nothing further is looked up."""


class Told(NamedTuple):
    """What the network says to a question."""

    item: Searched
    found: ReadAnswer
    evidence: Evidence

    @property
    def right(self) -> float:
        """Tell whether it is the answer."""
        return exact_match(self.found.answer, self.item.answers or ("",))


class Rated(NamedTuple):
    """What the network says, and how sure it is."""

    told: Told
    sure: float


def rated(some: Iterable[Told], constants: Mapping[bool, Constants]) -> list[Rated]:
    """Say how sure the reader is of what it told."""
    return [Rated(one, confidence(one.evidence, constants[one.found.verdict])) for one in some]


def least(some: Sequence[Rated]) -> str:
    """Say which answers to withhold."""
    worths = {least: worth(some, least) for least in THRESHOLDS}
    best = max(worths, key=lambda least: worths[least])
    return (
        f"LEAST = {best}: token F1 is best where answers below are withheld ({', '.join(f'{at:g}: {f1:.3f}' for at, f1 in worths.items())})"
    )


def worth(some: Sequence[Rated], least: float) -> float:
    """Give the mean token F1 where unsure answers are withheld, which is right where there is no answer (as in SQuAD 2.0)."""
    given = [(one.told.found.answer if one.sure >= least else "", one.told.item.answers or ("",)) for one in some]
    return sum(token_f1(answer, golds) for answer, golds in given) / len(some)


def tau(some: Sequence[Rated]) -> str:
    """Say above which confidence answers are right often enough to look no further."""
    enough = [at / 100 for at in range(100) if above(some, at / 100) and share_right(above(some, at / 100)) >= SURE_ENOUGH]
    if not enough:
        return f"TAU: nowhere are {SURE_ENOUGH:.0%} of the answers right"
    return f"TAU = {enough[0]}: the least above which {SURE_ENOUGH:.0%} of the answers are right ({accepted(some, enough[0])})"


def above(some: Sequence[Rated], sure: float) -> list[Rated]:
    """Give the answers that are surer."""
    return [one for one in some if one.sure > sure]


def share_right(some: Sequence[Rated]) -> float:
    """Give how many of the answers are right."""
    return sum(one.told.right for one in some) / len(some)


def accepted(some: Sequence[Rated], sure: float) -> str:
    """Tell how many answers are surer, and how many of those are right."""
    found = above(some, sure)
    return f"{len(found) / len(some):.0%} accepted" + (f", {share_right(found):.0%} of them right" if found else "")


PARTS: Final[tuple[Part, Part]] = ("choose", "measure")
_DRAWN = 0.001
_READERS: Final = {reader.encoder.name: reader for reader in (SMALL, MULTILINGUAL, LARGE)}


def main() -> None:
    """Fit the confidences of spans and those of yes and no."""
    parser = argparse.ArgumentParser(description="Fit the reader's confidence.")
    parser.add_argument("data", type=Path, help="folder with the training sets")
    parser.add_argument("--most", type=int, default=120, help="questions of a source and part")
    parser.add_argument("--trunk", choices=_READERS, default=SMALL.encoder.name, help="which reader")
    given = parser.parse_args()
    questions, reader = Questions(given.data), _READERS[given.trunk]
    chosen, measured = (list(told(questions.searched(part, given.most), reader)) for part in PARTS)
    constants = {verdict: fitted([one for one in chosen if one.found.verdict == verdict]) for verdict in (False, True)}
    for verdict, name in ((False, "SPANS"), (True, "VERDICTS")):
        print(f"{name} = ({', '.join(f'{value:.3f}' for value in constants[verdict])})")
    some, others = rated(chosen, constants), rated(measured, constants)
    report("fitted on these", some)
    report("kept back for measuring", others)
    print(least(some), tau(some), f"above the TAU = {TAU} in force: {accepted(others, TAU)}, of those kept back", sep="\n")


def told(items: Iterable[Searched], reader: Reader = SMALL) -> Iterator[Told]:
    """Read questions with a reader, be they in English for the multilingual one."""
    for item in items:
        found, evidence = weigh(item.question, item.contexts, reader)
        if found:
            yield Told(item, found, evidence)


def fitted(some: Sequence[Told]) -> Constants:
    """Fit the constants to what was told."""
    return fit([one.evidence.features() for one in some], [one.right for one in some])


def report(name: str, some: Sequence[Rated]) -> None:
    """Print how far confidence is from being right: of spans, of yes and no, and of each source."""
    print(f"{name}:")
    kinds = {kind: [one for one in some if one.told.found.verdict == verdict] for kind, verdict in (("spans", False), ("yes or no", True))}
    sources = {name: [one for one in some if one.told.item.source == name] for name in dict.fromkeys(one.told.item.source for one in some)}
    for group, ones in (kinds | sources).items():
        if ones:
            right, sure = [one.told.right for one in ones], [one.sure for one in ones]
            means = f"right {sum(right) / len(ones):.2f}, sure {sum(sure) / len(ones):.2f}"
            print(f"  {group:32} {len(ones):5}  ECE {expected_calibration_error(sure, right):.3f}  {means}")


def fit(features: Sequence[Sequence[float]], right: Sequence[float]) -> Constants:
    """Fit a logistic regression of being right (Platt 1999), slightly drawn to the log odds as they are."""
    inputs, wanted = torch.tensor(features, dtype=torch.float64), torch.tensor(right, dtype=torch.float64)
    plain = torch.zeros(inputs.shape[1] + 1, dtype=torch.float64)
    plain[0] = 1.0
    weights = plain.clone().requires_grad_()
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        wrong = binary_cross_entropy_with_logits(inputs @ weights[:-1] + weights[-1], wanted) + _DRAWN * ((weights - plain) ** 2).sum()
        wrong.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
        return wrong

    optimizer.step(step)  # type: ignore[no-untyped-call]  # as above
    return tuple(weights.tolist())


if __name__ == "__main__":
    main()

"""Fit the calibration weights that turn the network's probabilities into confidences, on held-out questions.

    python -m plugins.embedded.training.calibrate DATA [--most 120] [--trunk e5-multilingual | all-mpnet-base-v2]

Each question has the passages that a search would return. It prints the weights for plugins/embedded/reader/calibration.py (or
multilingual.py,
large.py), the calibration error on these questions and on those held out for measuring, the best threshold for giving an answer, and one
for accepting it without further search.
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

from plugins.embedded.training import technical
from plugins.embedded.training.example import Example, Part, seeded_random
from plugins.embedded.training.material import load_material, part_of_example
from plugins.embedded.training.source import Folder, WordIndex, load_data_folder, supporting_documents
from ramify.embedded.reader.calibration import TAU, CalibrationWeights, Evidence, confidence
from ramify.embedded.reader.reading import LARGE, MULTILINGUAL, SMALL, Reader, add_title
from ramify.embedded.reader.short_answers import AnswerCandidate, choose_answer
from ramify.lab.metrics import exact_match, expected_calibration_error, token_f1

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
"""The folder in which passages for each source's questions are searched."""
WHOLE_QUESTION_SETS: Final = ("2wikimultihopqa_train", "hotpotqa_train", "musique_train")
"""Data sets whose multi-hop questions are also used, with the paragraphs of all hops."""
PASSAGES: Final = 5
MISSED_SHARE: Final = 0.25
"""Share of technical questions whose passage the search does not find: one in four of the manuals' questions."""
_MAX_PASSAGE_CHARS = 1200
"""Most characters of a similar passage."""
_EXTRA_SOURCES: Final = ("techdocs_faq", "whole", "hops_both")
"""Sources that show which passages are right, and which multi-hop questions were trained on."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class QuestionCase:
    """A question with its passages and answers (or yes, or no); without answers if no passage contains one."""

    source: str
    question: str
    contexts: tuple[str, ...]
    answers: tuple[str, ...]


class Questions:
    """The questions of all sources, loaded once for all parts."""

    def __init__(self, data: Path) -> None:
        """Load all sources below a folder."""
        self._of_source: dict[tuple[str, Part], list[Example]] = defaultdict(list)
        self._right: dict[str, list[Example]] = defaultdict(list)
        for example in load_material(data, {*FOLDERS, *_EXTRA_SOURCES}):
            self._of_source[example.source, part_of_example(example)].append(example)
            if example.bears:
                self._right[example.question].append(example)
        self._trained = {example.question for (_, where), some in self._of_source.items() if where == "train" for example in some}
        self._folders = {name: load_data_folder(data / name) for name in dict.fromkeys((*FOLDERS.values(), *WHOLE_QUESTION_SETS))}
        self._found = {name: WordIndex(folder.documents.values()) for name, folder in self._folders.items()}

    def cases(self, wanted: Part, most: int) -> Iterator[QuestionCase]:
        """Yield questions of a part, at most `most` of a source, with their passage and similar ones."""
        for source, name in FOLDERS.items():
            for example in _sample(source, self._of_source[source, wanted], most):
                yield _with_passages(example, self._right[example.question], self._found[name])
        for name in WHOLE_QUESTION_SETS:
            folder = self._folders[name]
            for item in _sample(name, self._whole(folder, wanted), most):
                yield _with_every_hop(item, folder, self._found[name])

    def _whole(self, folder: Folder, wanted: Part) -> list[dict[str, Any]]:
        """Return the half of the multi-hop questions for a part, of those that were not trained on."""
        untrained = [item for item in folder.questions if item["question"] not in self._trained]
        return [item for item in untrained if (seeded_random(item["id"], "whole").random() < 0.5) == (wanted == "choose")]


def _sample(source: str, items: Sequence[Item], most: int) -> list[Item]:
    return random.Random(source).sample(items, min(most, len(items)))


def _with_passages(example: Example, right: Sequence[Example], documents: WordIndex) -> QuestionCase:
    answers = [] if example.kind in ("yes", "no") else [answer for answered in right for answer in _answers(answered)]
    known = {example.group, *(answered.group for answered in right)}
    choose = random.Random(example.question)
    if example.source.endswith("_none"):  # another passage may answer it
        return QuestionCase(example.source, example.question, (example.context,), ())
    near = _nearest_passages(example.question, answers, known, documents, example.context)
    if example.source.startswith(technical.FOLDERS):  # as a search in manuals and office documents returns them
        if choose.random() < MISSED_SHARE and len(near) > 1:
            return QuestionCase(example.source, example.question, tuple(choose.sample(near, len(near))), ())
        contexts = [*dict.fromkeys((example.context, *near))][:PASSAGES]
    else:  # calibrated for one passage and for several
        contexts = [*dict.fromkeys((example.context, *near))][: choose.choice((1, PASSAGES))]
    return QuestionCase(example.source, example.question, tuple(choose.sample(contexts, len(contexts))), _answers(example))


def _with_every_hop(item: dict[str, Any], folder: Folder, documents: WordIndex) -> QuestionCase:
    question, answers, hops = item["question"], (item["answer"], *item["answer_aliases"]), supporting_documents(folder, item)
    golds = [] if answers[0].casefold() in ("yes", "no") else answers
    near = _nearest_passages(question, golds, {document.id for document in hops}, documents)
    contexts = [*(add_title(document.title, document.text[:_MAX_PASSAGE_CHARS]) for document in hops), *near][: max(PASSAGES, len(hops))]
    return QuestionCase(f"{folder.name}, whole", question, tuple(random.Random(question).sample(contexts, len(contexts))), answers)


def _nearest_passages(question: str, answers: Sequence[str], known: set[str], documents: WordIndex, right: str = "") -> list[str]:
    """Return the most similar passages that are not known to be right and do not contain an answer."""
    near = [
        document
        for document in documents.nearest(question, 2 * PASSAGES)
        if document.id not in known and not technical.is_from(right, document)
    ]
    texts = dict.fromkeys(add_title(document.title, document.text[:_MAX_PASSAGE_CHARS]) for document in near)
    return [text for text in texts if not any(answer.casefold() in text.casefold() for answer in answers)][:PASSAGES]


def _answers(example: Example) -> tuple[str, ...]:
    if example.kind in ("yes", "no"):
        return (example.kind,)
    return tuple(example.context[start:end] for start, end in example.spans)


THRESHOLDS: Final = tuple(number / 20 for number in range(1, 11))
MIN_ACCURACY: Final = 0.85
"""Least share of right answers among those accepted without further search."""


class ReadCase(NamedTuple):
    """A question with the reader's answer and its evidence."""

    item: QuestionCase
    found: AnswerCandidate
    evidence: Evidence

    @property
    def right(self) -> float:
        """Return whether the answer is right, as 0 or 1."""
        return exact_match(self.found.answer, self.item.answers or ("",))


class RatedCase(NamedTuple):
    """A read question with the confidence of its answer."""

    read: ReadCase
    sure: float


def rate_cases(some: Iterable[ReadCase], constants: Mapping[bool, CalibrationWeights]) -> list[RatedCase]:
    """Return the cases with the reader's confidence."""
    return [RatedCase(case, confidence(case.evidence, constants[case.found.is_yes_no])) for case in some]


def describe_min_confidence(some: Sequence[RatedCase]) -> str:
    """Return a line with the best threshold below which answers are withheld."""
    worths = {least: mean_f1(some, least) for least in THRESHOLDS}
    best = max(worths, key=lambda least: worths[least])
    scores = ", ".join(f"{at:g}: {f1:.3f}" for at, f1 in worths.items())
    return f"MIN_CONFIDENCE = {best}: token F1 is best where answers below are withheld ({scores})"


def mean_f1(some: Sequence[RatedCase], least: float) -> float:
    """Return the mean token F1 if answers below `least` are withheld, which is right if there is no answer (as in SQuAD 2.0)."""
    given = [(case.read.found.answer if case.sure >= least else "", case.read.item.answers or ("",)) for case in some]
    return sum(token_f1(answer, golds) for answer, golds in given) / len(some)


def describe_tau(some: Sequence[RatedCase]) -> str:
    """Return a line with the threshold above which answers are accepted."""
    enough = [at / 100 for at in range(100) if cases_above(some, at / 100) and share_right(cases_above(some, at / 100)) >= MIN_ACCURACY]
    if not enough:
        return f"TAU: no threshold with {MIN_ACCURACY:.0%} of the answers right"
    return f"TAU = {enough[0]}: the least above which {MIN_ACCURACY:.0%} of the answers are right ({describe_accepted(some, enough[0])})"


def cases_above(some: Sequence[RatedCase], threshold: float) -> list[RatedCase]:
    """Return the cases with a higher confidence."""
    return [case for case in some if case.sure > threshold]


def share_right(some: Sequence[RatedCase]) -> float:
    """Return the share of right answers."""
    return sum(case.read.right for case in some) / len(some)


def describe_accepted(some: Sequence[RatedCase], threshold: float) -> str:
    """Return a text with the share of answers above a confidence, and the share of those that are right."""
    accepted = cases_above(some, threshold)
    return f"{len(accepted) / len(some):.0%} accepted" + (f", {share_right(accepted):.0%} of them right" if accepted else "")


PARTS: Final[tuple[Part, Part]] = ("choose", "measure")
_REGULARIZATION = 0.001
_READERS: Final = {reader.encoder.name: reader for reader in (SMALL, MULTILINGUAL, LARGE)}


def main() -> None:
    """Fit the confidences of spans and those of yes and no."""
    parser = argparse.ArgumentParser(description="Fit the reader's confidence.")
    parser.add_argument("data", type=Path, help="folder with the training sets")
    parser.add_argument("--most", type=int, default=120, help="questions of a source and part")
    parser.add_argument("--trunk", choices=_READERS, default=SMALL.encoder.name, help="which reader")
    given = parser.parse_args()
    questions, reader = Questions(given.data), _READERS[given.trunk]
    chosen, measured = (list(read_cases(questions.cases(part, given.most), reader)) for part in PARTS)
    constants = {verdict: fit_weights([case for case in chosen if case.found.is_yes_no == verdict]) for verdict in (False, True)}
    for verdict, name in ((False, "SPAN_WEIGHTS"), (True, "YES_NO_WEIGHTS")):
        print(f"{name} = ({', '.join(f'{value:.3f}' for value in constants[verdict])})")
    some, others = rate_cases(chosen, constants), rate_cases(measured, constants)
    report("fitted on these", some)
    report("kept back for measuring", others)
    print(
        describe_min_confidence(some),
        describe_tau(some),
        f"above the TAU = {TAU} in force: {describe_accepted(others, TAU)}, of those kept back",
        sep="\n",
    )


def read_cases(items: Iterable[QuestionCase], reader: Reader = SMALL) -> Iterator[ReadCase]:
    """Yield questions with a reader's answer; those without any are skipped."""
    for item in items:
        candidate, evidence = choose_answer(item.question, item.contexts, reader)
        if candidate:
            yield ReadCase(item, candidate, evidence)


def fit_weights(some: Sequence[ReadCase]) -> CalibrationWeights:
    """Return the calibration weights fitted to the cases."""
    return fit_logistic([case.evidence.features() for case in some], [case.right for case in some])


def report(name: str, some: Sequence[RatedCase]) -> None:
    """Print the calibration error of spans, of yes/no answers, and of each source."""
    print(f"{name}:")
    kinds = {
        kind: [case for case in some if case.read.found.is_yes_no == verdict] for kind, verdict in (("spans", False), ("yes or no", True))
    }
    sources = {
        name: [case for case in some if case.read.item.source == name] for name in dict.fromkeys(case.read.item.source for case in some)
    }
    for group, ones in (kinds | sources).items():
        if ones:
            right, confidences = [case.read.right for case in ones], [case.sure for case in ones]
            means = f"right {sum(right) / len(ones):.2f}, sure {sum(confidences) / len(ones):.2f}"
            print(f"  {group:32} {len(ones):5}  ECE {expected_calibration_error(confidences, right):.3f}  {means}")


def fit_logistic(features: Sequence[Sequence[float]], right: Sequence[float]) -> CalibrationWeights:
    """Fit a logistic regression (Platt 1999), slightly regularised towards the uncalibrated log odds."""
    inputs, wanted = torch.tensor(features, dtype=torch.float64), torch.tensor(right, dtype=torch.float64)
    plain = torch.zeros(inputs.shape[1] + 1, dtype=torch.float64)
    plain[0] = 1.0
    weights = plain.clone().requires_grad_()
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        wrong = (
            binary_cross_entropy_with_logits(inputs @ weights[:-1] + weights[-1], wanted) + _REGULARIZATION * ((weights - plain) ** 2).sum()
        )
        wrong.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
        return wrong

    optimizer.step(step)  # type: ignore[no-untyped-call]  # as above
    return tuple(weights.tolist())


if __name__ == "__main__":
    main()

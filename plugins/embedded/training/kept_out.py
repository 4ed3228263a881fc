"""Measure readers on held-out hand-written questions: `python -m plugins.embedded.training.kept_out DATA [OUT ...] [--part measure]`.

Each question is read in its own passage and the four of its folder that share most words with it, in an order dealt by the question; a
question that has no answer in its passage is right where nothing is answered with a confidence of
MIN_CONFIDENCE. Printed by kind of question, for
the shipped weights and for those of each OUT: the share that is right with its 95 % interval,
token F1, the share that is wrong with a confidence of .5 and more, and how far confidence is from being right (ECE).
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from safetensors.torch import load_file

from plugins.embedded.training.example import Part, seeded_random
from plugins.embedded.training.material import part_of_example
from plugins.embedded.training.network import WEIGHTS, merge_low_rank, new_network
from plugins.embedded.training.source import WordIndex, load_data_folder
from plugins.embedded.training.technical import FOLDERS, first_window, is_from, technical_examples
from ramify.embedded.reader.calibration import MIN_CONFIDENCE, CalibrationWeights, Evidence, confidence
from ramify.embedded.reader.network import Network
from ramify.embedded.reader.reading import LARGE, SMALL, encode_pairs, read_pairs
from ramify.embedded.reader.short_answers import choose_likeliest, find_spans, find_yes_no, single_fact_probability
from ramify.lab.metrics import bootstrap_interval, exact_match, expected_calibration_error, token_f1
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM, Pretrained

PASSAGES: Final = 5


class Case(NamedTuple):
    """A question, its passages, and the right answer: a text, yes, no, or empty."""

    kind: str
    question: str
    contexts: tuple[str, ...]
    right: str


class Outcome(NamedTuple):
    """A reader's answer, its confidence, exact match and token F1."""

    answer: str
    sure: float
    exact: float
    f1: float


def load_cases(data: Path, wanted: Part) -> Iterator[Case]:
    """Yield the questions of a part, each with its passages."""
    for name in FOLDERS:
        folder = load_data_folder(data / name)
        lookalikes = WordIndex(folder.documents.values())
        for example in technical_examples(folder):
            kind = example.source.removeprefix(f"{name}_")
            if kind.endswith("_other") or not example.kind or part_of_example(example) != wanted:
                continue
            golds = [example.context[start:end] for start, end in example.spans]
            known = {document.id for document in folder.documents.values() if is_from(example.context, document)}
            contexts = [example.context]
            for number in range(0 if example.kind == "none" else PASSAGES - 1):
                near = lookalikes.of(example.question, golds, known, seeded_random(example.question, number), among=1)
                if near is not None:
                    known.add(near.id)
                    contexts.append(first_window(near))
            order = seeded_random(example.question, "order").sample(contexts, len(contexts))
            yield Case(kind, example.question, tuple(order), golds[0] if golds else "" if example.kind == "none" else example.kind)


def answer_case(
    network: Network, case: Case, constants: tuple[CalibrationWeights, CalibrationWeights], trunk: Pretrained = PACKAGED_MINILM
) -> Outcome:
    """Return the outcome of one question, answered as by the reader."""
    readings = [read_pairs(network, encode_pairs([case.question], [context], trunk))[0] for context in case.contexts]
    best, (place, rival) = choose_likeliest(
        [*find_spans(case.question, readings, case.contexts, [0] * len(readings)), *find_yes_no(readings)]
    )
    if best is None:
        return Outcome("", 0.0, float(not case.right), float(not case.right))
    evidence = Evidence(place, rival, len(case.question.split()), single_fact_probability(case.question))
    certainty = confidence(evidence, constants[best.is_yes_no])
    answer = best.answer if certainty >= MIN_CONFIDENCE or case.right else ""
    if not case.right:
        return Outcome(answer, certainty, float(not answer), float(not answer))
    return Outcome(answer, certainty, float(exact_match(answer, [case.right])), token_f1(answer, [case.right]))


def format_figures(outcomes: Sequence[tuple[Case, Outcome]]) -> Iterator[str]:
    """Yield lines with the figures of each kind, and of all."""
    yield f"  {'kind':12} {'n':>5} {'right':>6} {'95 %':>13} {'F1':>6} {'sure, wrong':>12} {'ECE':>6}"
    for kind in (*sorted({case.kind for case, _ in outcomes}), "all"):
        some = [outcome for case, outcome in outcomes if kind in (case.kind, "all")]
        exact = [outcome.exact for outcome in some]
        low, high = bootstrap_interval(exact)
        answered = [outcome for outcome in some if outcome.answer]
        wrong = sum(outcome.sure >= 0.5 and not outcome.exact and outcome.f1 < 0.5 for outcome in answered)
        ece = (
            expected_calibration_error([outcome.sure for outcome in answered], [outcome.exact for outcome in answered]) if answered else 0.0
        )
        yield (
            f"  {kind:12} {len(some):5} {100 * sum(exact) / len(some):6.1f} {100 * low:6.1f}–{100 * high:.1f} "
            f"{100 * sum(outcome.f1 for outcome in some) / len(some):6.1f} {100 * wrong / len(some):12.1f} {ece:6.3f}"
        )


def main() -> None:
    """Print the figures of the shipped weights and of others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with the training sets")
    parser.add_argument("out", type=Path, nargs="*", help="folders that training wrote")
    parser.add_argument("--part", choices=("choose", "measure"), default="measure")
    parser.add_argument(
        "--trunk", choices=(SMALL.encoder.name, LARGE.encoder.name), default=SMALL.encoder.name, help="encoder that the reader is put on"
    )
    given = parser.parse_args()
    some, reader = list(load_cases(given.data, given.part)), LARGE if given.trunk == LARGE.encoder.name else SMALL
    constants = reader.span_weights, reader.yes_no_weights
    for folder in (None, *given.out):
        network = new_network(reader.encoder) if folder else reader.load()
        if folder:
            network.load_state_dict(merge_low_rank(load_file(folder / WEIGHTS)))
        print(folder or "shipped")
        for line in format_figures([(case, answer_case(network.eval(), case, constants, reader.encoder)) for case in some]):
            print(line, flush=True)


if __name__ == "__main__":
    main()

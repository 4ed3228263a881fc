"""Train the classifier of `ramify.embedded.extractive.questions`: the kind of answer that a question asks for.

    python -m plugins.embedded.training.kinds DATA

The data are hand-written questions (`plugins/embedded/training/written/open.jsonl`, and those on manuals and office documents, with their
kinds) and factual
questions from public data sets. A tenth is held out.
"""

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression

from plugins.embedded.training.pack import write_hash
from plugins.embedded.training.technical import FOLDERS
from ramify.embedded.extractive.questions import KIND_WEIGHTS_FILE, MIN_OPEN_PROBABILITY, QUESTION_KINDS, QuestionKind, question_features
from ramify.lab.load.records import read_records

CODE: Final = Path(__file__).parents[1] / "extractive" / "questions.py"
OPEN: Final = Path(__file__).parent / "written" / "open.jsonl"
NAMES: Final[dict[str, QuestionKind]] = {"how_to": "how to", "list": "list", "explain": "explain"}
FACTS: Final = ("squad_dev", "nq_oracle_dev", "squadshifts", "hotpotqa_train", "boolq_dev", "2wikimultihopqa_train")
"""Folders of factual questions, of which _MAX_FACT_QUESTIONS each are used."""
_MAX_FACT_QUESTIONS: Final = 700
_WRITTEN_QUESTION_WEIGHT: Final = 6.0
"""Sample weight of questions written for this classifier."""


def main() -> None:
    """Train, print the accuracy on the held-out tenth, and write the weights and their hash into the package."""
    parser = argparse.ArgumentParser(description="Train the classifier of questions.")
    parser.add_argument("data", type=Path, help="the folder of data sets")
    asked = sorted(set(load_examples(parser.parse_args().data)))
    own = {json.loads(line)["question"] for line in OPEN.read_text(encoding="utf-8").splitlines()}
    random.Random(0).shuffle(asked)
    features = question_features([question for question, _ in asked])
    labels = np.array([QUESTION_KINDS.index(kind) for _, kind in asked])
    worth = np.array([_WRITTEN_QUESTION_WEIGHT if question in own else 1.0 for question, _ in asked])
    kept = len(asked) // 10
    model = LogisticRegression(max_iter=5000, class_weight="balanced").fit(features[kept:], labels[kept:], sample_weight=worth[kept:])
    likely = model.predict_proba(features[:kept])
    predicted = np.where(likely[:, 1:].sum(axis=1) < MIN_OPEN_PROBABILITY, 0, 1 + likely[:, 1:].argmax(axis=1))
    for number, kind in enumerate(QUESTION_KINDS):
        some = labels[:kept] == number
        print(f"{kind or 'fact':8} {some.sum():4} kept out, {100 * (predicted[some] == number).mean():.0f} % classified correctly")
    target = CODE.with_name(KIND_WEIGHTS_FILE)
    save_file({"weight": np.ascontiguousarray(model.coef_, dtype=np.float32), "bias": model.intercept_.astype(np.float32)}, target)
    write_hash(CODE, target)


def load_examples(data: Path) -> Iterator[tuple[str, QuestionKind]]:
    """Yield questions with their kinds."""
    for line in OPEN.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        yield record["question"], NAMES.get(record["kind"], "")
    for folder in FOLDERS:
        for _, record in read_records(data / folder / "questions.jsonl.gz"):
            yield str(record["question"]), NAMES.get(str(record["metadata"]["kind"]), "")
    for folder in FACTS:
        questions = [str(entry["question"]) for _, entry in read_records(data / folder / "questions.jsonl.gz")]
        for question in random.Random(folder).sample(questions, min(_MAX_FACT_QUESTIONS, len(questions))):
            yield question, ""


if __name__ == "__main__":
    main()

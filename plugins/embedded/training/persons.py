"""Train the classifier of `ramify.tools.english`: whether a phrase names a person.

python -m plugins.embedded.training.persons DATA [--most 2000]

The answers of questions with "who" are persons, those of questions with "what", "where", "when" or "how many" are not; likewise the things
that such questions describe ("the head of sales", "the capital of France"). A logistic regression on the packaged encoder's vectors.
"""

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from plugins.embedded.training.pack import write_hash
from ramify.lab.load.records import read_records
from ramify.tools.embeddings import load_encoder
from ramify.tools.english import PERSON_WEIGHTS_FILE
from ramify.tools.no_answer import is_unknown

FOLDERS = (
    "2wikimultihopqa_train", "canard_dev", "disflqa", "fairytaleqa", "hotpotqa_train", "musique_train", "nq_oracle_dev", "office_spans",
    "qed_dev", "selqa_ass", "squad_dev", "squad_du_test", "squadshifts", "techdocs_faq", "techdocs_spans",
)  # fmt: skip
CODE = Path(__file__).parents[3] / "tools" / "english.py"
_ASKS = re.compile(
    r"(?:and |so )?(?:(?P<person>who|whom)|where|when|what|how (?:many|much|long|old|far|tall)|in (?:what|which) \w+)\b", re.I
)
_DESCRIBES = re.compile(r"(?:who|what|where) (?:is|was|were|are) ((?:the|an?|his|her|their|its) .{3,70}?)\??$", re.I)
_CLAUSE = re.compile(r" (?:did|do|does|was|is|are|were|who|that|which|born|called|named|located|used|made)\b", re.I)
_MAX_ANSWER_CHARS = 60
_MAX_ANSWER_WORDS = 8
_MIN_AGREEMENT = 0.7


def main() -> None:
    """Train, print the scores on the held-out tenth, and write the weights and their hash into the package."""
    parser = argparse.ArgumentParser(description="Train the classifier of persons.")
    parser.add_argument("data", type=Path, help="the folder of data sets")
    parser.add_argument("--most", type=int, default=2000, help="answers that are persons, and as many descriptions")
    given = parser.parse_args()
    phrases, labels = load_phrases(given.data, given.most)
    vectors = load_encoder("minilm").encode_documents(phrases)
    kept = len(phrases) // 10
    model = LogisticRegression(max_iter=2000).fit(vectors[kept:], labels[kept:])
    likely = model.predict_proba(vectors[:kept])[:, 1]
    right = ((likely >= 0.5) == labels[:kept]).mean()
    print(
        f"{len(phrases):,} phrases, {sum(labels):,} of persons; kept out: AUC {roc_auc_score(labels[:kept], likely):.3f}, right {right:.3f}"
    )
    target = CODE.with_name(PERSON_WEIGHTS_FILE)
    save_file({"weight": model.coef_[0].astype(np.float32), "bias": model.intercept_.astype(np.float32)}, target)
    write_hash(CODE, target)


def load_phrases(data: Path, most: int) -> "tuple[list[str], np.ndarray[tuple[int], np.dtype[np.int64]]]":
    """Return phrases in a random but fixed order, and 1 for each that names or describes a person, 0 for others."""
    answers: defaultdict[str, list[int]] = defaultdict(list)
    descriptions: defaultdict[str, list[int]] = defaultdict(list)
    for folder in FOLDERS:
        for _, line in read_records(data / folder / "questions.jsonl.gz"):
            question, answer = str(line.get("question") or "").strip(), str(line.get("answer") or "").strip(" .")
            if (asked := _ASKS.match(question)) is None:
                continue
            person = int(asked["person"] is not None)
            if 1 < len(answer) <= _MAX_ANSWER_CHARS and len(answer.split()) <= _MAX_ANSWER_WORDS and not is_unknown(answer):
                answers[answer].append(person)
            if (described := _DESCRIBES.match(question)) and not _CLAUSE.search(described[1]):
                descriptions[described[1]].append(person)
    deal = random.Random(0)
    chosen = [*sample_phrases(answers, deal, most, most * 5 // 3), *sample_phrases(descriptions, deal, most, most)]
    deal.shuffle(chosen)
    return [phrase for phrase, _ in chosen], np.array([label for _, label in chosen])


def sample_phrases(votes: Mapping[str, Sequence[int]], deal: random.Random, persons: int, others: int) -> list[tuple[str, int]]:
    """Return a sample of phrases with their labels, among those on which the questions agree."""
    means = {phrase: sum(labels) / len(labels) for phrase, labels in votes.items()}
    sides = (
        [phrase for phrase, mean in means.items() if mean <= 1 - _MIN_AGREEMENT],
        [phrase for phrase, mean in means.items() if mean >= _MIN_AGREEMENT],
    )
    counts = (others, persons)
    return [(phrase, label) for label in (0, 1) for phrase in deal.sample(sides[label], min(counts[label], len(sides[label])))]


if __name__ == "__main__":
    main()

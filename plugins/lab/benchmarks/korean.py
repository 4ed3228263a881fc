"""Measure Korean: what is found, what is read, and what is answered, on the questions of KorQuAD 1.0's development half.

    RAMIFY_DATA=… python plugins/lab/benchmarks/korean.py {search,reading,answers} [--limit N] [--work DIR]

`search` compares the embeddings, alone and with words; `reading` gives the gold paragraph among five that the multilingual embedding finds;
`answers` asks from beginning to end (`naive`, `extractive`). All but the lexical search need `ramify download e5-multilingual`.
"""

import argparse
import gzip
import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

import ramify.graphs as graphs
from ramify.embedded.encoders.e5 import E5
from ramify.embedded.reader.reading import PassageText
from ramify.embedded.reader.short_answers import read_answer
from ramify.lab.metrics import bootstrap_interval
from ramify.studio.console.progress_bar import progress_bar
from ramify.tools.embeddings.pretrained import MINILM
from ramify.tools.index import Index
from ramify.tools.no_answer import is_unknown

DATASET: Final = "korquad_v1_dev"
FOUND: Final = 5
WAYS: Final[dict[str, dict[str, Any]]] = {"vectors": {"hybrid": False}, "words": {"dense": False}, "both": {}}
_MARKS = re.compile(r"['\"《》<>〈〉()‘’“”,.?!~·:;\[\]{}/_-]")


class Question(NamedTuple):
    """A question, its paragraph and its answers."""

    text: str
    paragraph: str
    answers: tuple[str, ...]


def questions(folder: Path, limit: int) -> list[Question]:
    """Return `limit` questions drawn with a fixed seed."""
    with gzip.open(folder / "questions.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = list(map(json.loads, lines))
    some = random.Random(0).sample(records, min(limit, len(records)))
    return [Question(row["question"], row["supporting"][0]["doc_id"], (row["answer"], *row["answer_aliases"])) for row in some]


def index(folder: Path, work: Path, embedding: str) -> Index:
    """Build an index, or open the one that is there."""
    with progress_bar() as progress:
        Index.build([folder / "corpus.jsonl.gz"], work / embedding, embedding, progress=progress)
    return Index.open(work / embedding)


def normalize_answer(text: str) -> str:
    """Write an answer as KorQuAD's script compares it: without punctuation, in lower case."""
    return " ".join(_MARKS.sub(" ", text).casefold().split())


def exact_match(answer: str, golds: Sequence[str]) -> float:
    """Return whether an answer is a gold."""
    return float(normalize_answer(answer) in map(normalize_answer, golds))


def character_f1(answer: str, golds: Sequence[str]) -> float:
    """Return the F1 of the characters, as KorQuAD's script does: words would count a particle as an error of the whole word."""

    def shared(gold: str) -> float:
        given, wanted = Counter(normalize_answer(answer).replace(" ", "")), Counter(normalize_answer(gold).replace(" ", ""))
        both = (given & wanted).total()
        return 2 * both / (given.total() + wanted.total()) if both else 0.0

    return max(map(shared, golds))


def share(values: Sequence[float]) -> str:
    """Return a mean in percent with its 95 % interval."""
    low, high = bootstrap_interval(values)
    return f"{100 * fmean(values):.1f} ({100 * low:.1f} to {100 * high:.1f})"


def search(folder: Path, work: Path, limit: int) -> Iterator[str]:
    """Yield the rows of a table: the share of questions whose paragraph is among the first found."""
    questions_asked = questions(folder, limit)
    yield f"| search | embedding | recall@{FOUND}, n = {len(questions_asked)} |\n|---|---|--:|"
    for embedding in (MINILM, E5):
        found_in = index(folder, work, embedding)
        for way, options in WAYS.items():
            rankings = found_in.search([question.text for question in questions_asked], k=FOUND, **options)
            paragraphs = [{paragraph_of(hit.id) for hit in hits} for hits in rankings]
            recalls = [float(question.paragraph in own) for question, own in zip(questions_asked, paragraphs, strict=True)]
            yield f"| {way} | {embedding} | {share(recalls)} |"


def paragraph_of(passage: object) -> str:
    """Return the id of the document that a passage is of."""
    return str(passage).partition("~")[0]


def reading(folder: Path, work: Path, limit: int) -> Iterator[str]:
    """Yield the scores of reading the gold paragraph and four retrieved ones, in random order."""
    questions_asked = questions(folder, limit)
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = {
            record["id"]: PassageText(title=record["title"] or "", source="", text=record["text"]) for record in map(json.loads, lines)
        }
    rankings = index(folder, work, E5).search([asked.text for asked in questions_asked], k=FOUND)
    given = []
    for question, hits in zip(questions_asked, rankings, strict=True):
        others = [key for hit in hits if (key := paragraph_of(hit.id)) != question.paragraph]
        passages = [texts[key] for key in dict.fromkeys((question.paragraph, *others))][:FOUND]
        given.append(read_answer(question.text, random.Random(question.text).sample(passages, len(passages))))
    yield from scores("gold paragraph among five", questions_asked, [span.answer for span in given], [span.confidence for span in given])


def answers(folder: Path, work: Path, limit: int) -> Iterator[str]:
    """Yield the scores of answers with search and reading."""
    questions_asked, opened_index = questions(folder, limit), index(folder, work, E5)
    given = [graphs.ask(question.text, "naive", model="extractive", index=opened_index) for question in questions_asked]
    texts = ["" if is_unknown(result.answer or "") else result.answer or "" for result in given]
    yield from scores("naive, from beginning to end", questions_asked, texts, [result.confidence or 0.0 for result in given])


def scores(what: str, question_list: Sequence[Question], texts: Sequence[str], confidences: Sequence[float]) -> Iterator[str]:
    """Yield the rows of a table of scores."""
    right = [exact_match(text, question.answers) for text, question in zip(texts, question_list, strict=True)]
    near = [character_f1(text, question.answers) for text, question in zip(texts, question_list, strict=True)]
    yield f"| n = {len(question_list)} | exact match | F1 of characters | answered | mean confidence |\n|---|--:|--:|--:|--:|"
    yield f"| {what} | {share(right)} | {share(near)} | {share([float(bool(text)) for text in texts])} | {fmean(confidences):.2f} |"


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("search", "reading", "answers"))
    parser.add_argument("--limit", type=int, default=500, help="questions (default: 500)")
    parser.add_argument("--work", type=Path, default=Path("build/korean"), metavar="DIR", help="default: build/korean")
    arguments = parser.parse_args()
    folder = Path(os.environ["RAMIFY_DATA"]) / DATASET
    for line in {"search": search, "reading": reading, "answers": answers}[arguments.what](folder, arguments.work, arguments.limit):
        print(line, flush=True)


if __name__ == "__main__":
    main()

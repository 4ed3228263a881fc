"""Make a data set of 45 questions about two manuals: pages of Debian's vim-doc 9.0 and octave-doc 7.3, as passages.

    apt-get download vim-doc octave-doc && for package in *.deb; do dpkg -x $package manuals; done
    python plugins/lab/benchmarks/manual_questions/make_set.py manuals/usr/share/doc --out build/manuals
    ramify eval build/manuals --strategy naive,prune --model extractive --out RUN

The pages that the questions need are in it, and others drawn by chance. Answers are short; five questions have none in the manuals, and
four of the others need two facts or are answered by yes or no.
"""

import argparse
import gzip
import json
import random
import tempfile
from collections.abc import Iterable
from pathlib import Path
from shutil import copy
from typing import Any

from ramify.tools.index import Index

QUESTIONS = Path(__file__).with_name("questions.jsonl")
FOLDERS = {"vim": "vim/html", "octave": "octave/octave.html"}
MIN_BYTES = 4000
"""Size of a page that is more than a reference to another one."""


def main() -> None:
    """Write the data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manuals", type=Path, help="the folder /usr/share/doc of the packages")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--others", type=int, default=40, help="pages of each manual that no question needs")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    draw = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as place:
        chosen, index = Path(place) / "pages", Path(place) / "index"
        for manual, folder in FOLDERS.items():
            needed = {question["pages"][0] for question in questions if question["manual"] == manual and question["pages"]}
            pages = sorted(
                page for page in (given.manuals / folder).glob("*.html") if page.stat().st_size > MIN_BYTES and page.name not in needed
            )
            (chosen / manual).mkdir(parents=True)
            for page in [*(given.manuals / folder / name for name in sorted(needed)), *draw.sample(pages, min(given.others, len(pages)))]:
                copy(page, chosen / manual)
        Index.build([chosen], index)
        opened = Index.open(index)
        passages = opened.get_by_ids(opened.ids())
    given.out.mkdir(parents=True, exist_ok=True)
    corpus = [
        {
            "id": str(passage.id).replace("~", "-"),
            "title": str(passage.metadata.get("title", "")),
            "text": passage.page_content,
            "metadata": {},
        }
        for passage in passages
    ]
    write(given.out / "corpus.jsonl.gz", corpus)
    write(given.out / "questions.jsonl.gz", (row(number, question) for number, question in enumerate(questions)))
    print(f"{given.out}: {len(questions)} questions, {len(corpus)} passages")


def row(number: int, question: dict[str, Any]) -> dict[str, Any]:
    """Return a question in the form of the data sets; without an answer it is unanswerable."""
    answer, *aliases = question["answers"] or [""]
    return {
        "id": f"{question['manual']}-{number}",
        "question": question["question"],
        "answer": answer,
        "answer_aliases": aliases,
        "type": "unanswerable" if not answer else question["manual"],
        "supporting": [],
        "metadata": {"unanswerable": not answer},
    }


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as compressed lines of JSON."""
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(each, ensure_ascii=False) + "\n" for each in rows)


if __name__ == "__main__":
    main()

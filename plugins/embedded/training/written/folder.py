"""Make a data folder of the written questions: `python -m plugins.embedded.training.written.folder OUT PASSAGES...`

PASSAGES are files of passages, one object a line (id, title, text, source): what `plugins.embedded.training.written.passages` writes,
after the corpus of
`techdocs_spans` where that is at hand. The invented office documents are in this folder. OUT gets `corpus.jsonl.gz` and
`questions.jsonl.gz`, as the README of the training describes them. A question whose passage is not there, or whose answer does not stand
in it, is left out and counted.
"""

import gzip
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from plugins.embedded.training.convert.folder import Gathered, fingerprint, write

HERE: Final = Path(__file__).parent
QUESTIONS: Final = HERE / "questions.jsonl"
OFFICE: Final = HERE / "office.jsonl"
NEIGHBOURS: Final = 3
"""Every so many of the passages that nobody was asked about are taken in too: others that look alike are drawn from them."""

Line = dict[str, Any]


def read(path: Path) -> Iterator[Line]:
    """Yield the records of a file of lines, packed or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def place(part: str, text: str) -> tuple[str, int] | None:
    """Return where words stand in a text, whatever space is between them: as they stand there, and from which character on."""
    match = re.search(r"\s+".join(map(re.escape, part.split())), text) if part.split() else None
    return (match[0], match.start()) if match else None


class Passages:
    """Passages by id, and by the words in them where another cut gave other ids."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.by_id = {line["id"]: {"source": line.get("metadata", {}).get("source", ""), **line} for line in lines}
        self._plain: dict[str, list[tuple[str, Line]]] = {}

    def of(self, asked: Line) -> list[Line | None]:
        """Return the passages of a question; None in the place of one that is not found."""
        begins = asked.get("begins") or [""] * len(asked["passages"])
        wanted = [(asked.get("quote"),), (asked.get("answer"),)] if asked["kind"] != "two_hop" else [(asked["bridge"],), (asked["answer"],)]
        return [
            self.by_id.get(key) or self._holding(key.partition("-")[0], [begin, *filter(None, words)])
            for key, begin, words in zip(asked["passages"], begins, wanted, strict=False)
        ]

    def _holding(self, source: str, parts: Sequence[str]) -> Line | None:
        if source not in self._plain:
            some = (line for line in self.by_id.values() if line["source"] == source)
            self._plain[source] = [(_plain(line["text"]), line) for line in some]
        wanted = [_plain(part) for part in parts if part]
        return next((line for text, line in self._plain[source] if all(part in text for part in wanted)), None)


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def converted(asked: Line, passages: Passages) -> Line | None:
    """Return a question in the form of the data folders; None where its passages are not there, or do not hold it."""
    some = [passage for passage in passages.of(asked) if passage is not None]
    if len(some) != len(asked["passages"]):
        return None
    kind, more, kept = asked["kind"], dict[str, Any](), {"kind": asked["kind"], "source": some[0]["source"]}
    fact, answer = asked.get("quote"), asked.get("answer")
    if kind == "two_hop":
        bridge, last = place(asked["bridge"], some[0]["text"]), place(asked["answer"], some[1]["text"])
        if bridge is None or last is None:
            return None
        steps = [
            {"question": asked["first"], "answer": bridge[0], "doc_id": some[0]["id"], "start": bridge[1]},
            {"question": asked["second"], "answer": last[0], "doc_id": some[1]["id"], "start": last[1]},
        ]
        more = {
            "decomposition": {"how": "bridge", "steps": steps},
            "answers": [{"text": last[0], "start": last[1], "doc_id": some[1]["id"]}],
        }
        answer = last[0]
    elif kind in ("how_to", "list"):
        sentences = [place(sentence, some[0]["text"]) for sentence in asked["sentences"]]
        if not all(sentences):
            return None
        kept |= {
            "sentences": [{"text": sentence[0], "start": sentence[1]} for sentence in sentences if sentence],
            "items": asked.get("items") or [],
        }
    elif kind not in ("yes", "no", "none"):
        quote = place(asked["quote"], some[0]["text"])
        inside = place(asked["answer"], some[0]["text"][quote[1] : quote[1] + len(quote[0])]) if quote else None
        if quote is None or inside is None:
            return None
        answer, fact, more = inside[0], quote[0], {"answers": [{"text": inside[0], "start": quote[1] + inside[1]}]}
    supporting = [{"doc_id": passage["id"], "title": passage["title"], "fact": fact if kind != "two_hop" else None} for passage in some]
    kinds = {"yes": "yes_no", "no": "yes_no", "none": "none", "two_hop": "two_hop", "how_to": "how_to", "list": "list"}
    return {
        "id": f"written-{fingerprint(asked['question'])}",
        "question": asked["question"],
        "answer": answer if kind not in ("none", "how_to", "list") else None,
        "answer_aliases": [],
        "type": kinds.get(kind, "span"),
        "supporting": supporting,
        "decomposition": None,
        "metadata": kept,
        **more,
    }


def gathered(questions: Iterable[Line], passages: Passages) -> tuple[Gathered, int]:
    """Return the folder in the making, and how many questions were left out."""
    made, left_out, wanted = Gathered(), 0, set[str]()
    for asked in questions:
        line = converted(asked, passages)
        left_out += line is None
        if line is not None:
            made.questions[line["id"]] = line
            wanted |= {support["doc_id"] for support in line["supporting"]}
    for number, passage in enumerate(passages.by_id.values()):
        if passage["id"] in wanted or number % NEIGHBOURS == 0:
            made.document(passage["id"], passage["title"], passage["text"], source=passage["source"], asked=passage["id"] in wanted)
    return made, left_out


def main() -> None:
    """Write the folder and say what is in it."""
    out, *files = map(Path, sys.argv[1:])
    made, left_out = gathered(read(QUESTIONS), Passages(line for file in (OFFICE, *files) for line in read(file)))
    write(made, out)
    print(f"{len(made.documents):,} passages, {len(made.questions):,} questions, {left_out} left out")


if __name__ == "__main__":
    main()

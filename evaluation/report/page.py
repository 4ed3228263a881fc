"""The report as one page: the sections, and the question browser with its data, small enough for tens of thousands of lines.

What the browser's list shows is there at once; what a single line holds (tree, citations) is packed by the hundred and unpacked when it
is looked at. Notes are folded here, so that no second hand has to know them again.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from ramify.evaluation.report.blocks import Block, Section
from ramify.evaluation.results.run import Line, Run
from ramify.nodes.tree.notes import folded
from ramify.tools.pages import draw_page
from ramify.tools.quoting import one_line

SCRIPTS = ("nodes.js", "report_tree.js", "report_detail.js", "report.js")
TOGETHER = 120
"""Lines packed together."""
OUTCOMES = ("right", "wrong", "abstained", "failed", "searched", "answered")
KEPT = (
    "citations",
    "confidence_source",
    "containment",
    "error",
    "gold_documents",
    "model",
    "notices",
    "official",
    "retrieval",
    "retrieved",
    "stopped_by",
    "usage",
)


BRANCH = ("path", "question", "kind", "status", "answer", "confidence", "score", "evidence", "cited")
"""What is kept of a line, and of a branch of its tree."""


def page(run: Run, title: str, sections: Sequence[Section]) -> str:
    """Give the whole page."""
    lines = sorted(run.lines, key=lambda line: (line.row["dataset"], line.row["id"], line.row["strategy"], line.row.get("variant") or ""))
    packs = [_packed(lines[start : start + TOGETHER]) for start in range(0, len(lines), TOGETHER)]
    embedded = _json(_index(run, lines)).replace("<", "\\u003c")  # no text in it can end its element
    return draw_page("report.html", SCRIPTS, title=title, sections=sections, index=Markup(embedded), packs=packs, kind_of=_kind_of)


def _kind_of(block: Block) -> str:
    return type(block).__name__


def _index(run: Run, lines: Sequence[Line]) -> dict[str, Any]:
    """List what the list shows, each question once, each word that repeats as its place in a list."""
    strategies = run.manifest["strategies"]

    def place(variant: tuple[str, str]) -> tuple[int, str, str]:
        return (strategies.index(variant[0]) if variant[0] in strategies else len(strategies), *variant)

    variants = sorted({line.group[1:] for line in lines}, key=place)
    types = sorted({str(line.row.get("type") or "") for line in lines})
    questions = {(line.row["dataset"], line.row["id"]): line.row for line in lines}
    places = {key: place for place, key in enumerate(questions)}
    return {
        "datasets": run.datasets,
        "variants": variants,
        "types": types,
        "outcomes": OUTCOMES,
        "together": TOGETHER,
        "questions": [
            [
                run.datasets.index(dataset),
                name,
                row["question"],
                row.get("gold"),
                row.get("aliases") or [],
                types.index(str(row.get("type") or "")),
            ]
            for (dataset, name), row in questions.items()
        ],
        "lines": [
            [
                places[line.row["dataset"], line.row["id"]],
                variants.index(line.group[1:]),
                OUTCOMES.index(line.outcome),
                line.number,
                line.row.get("answer"),
                line.row.get("confidence"),
                line.row.get("em"),
                line.row.get("f1"),
            ]
            for line in lines
        ],
    }


def _packed(lines: Sequence[Line]) -> str:
    """Pack what the script shows of some lines; of the notes, a whole one only where words stand for a part of it."""
    told = []
    for line in lines:
        tree = [branch for branch in line.row.get("tree") or () if isinstance(branch, dict)]
        notes = [folded(str(branch.get("note") or "")) for branch in tree]
        branches = []
        for branch, note in zip(tree, notes, strict=True):
            kept = {name: branch[name] for name in BRANCH if branch.get(name) not in (None, [])}
            kept |= {"words": note.words, "noted": branch["note"]} if note.words else {}
            branches.append(kept | ({"note": one_line(note.rest)} if note.rest else {}))
        meanings = {word: meaning for note in notes for word, meaning in note.meanings.items()}
        kept = {name: line.row[name] for name in KEPT if line.row.get(name) is not None}
        told.append({**kept, "tree": branches, **({"legend": meanings} if meanings else {})})
    return b64encode(gzip.compress(_json(told).encode(), mtime=0)).decode()


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))

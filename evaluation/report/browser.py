"""The question browser: its data in the page, small enough for tens of thousands of lines, and its frame.

What the list shows is there at once; what a single line holds (tree, citations) is packed by the hundred and unpacked when it is looked at.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from ramify.evaluation.report.branches import drawn
from ramify.evaluation.report.run import Line, Run
from ramify.tools.markup import element

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


def browser_html(run: Run) -> str:
    """Give the section with its data."""
    lines = sorted(run.lines, key=lambda line: (line.row["dataset"], line.row["id"], line.row["strategy"], line.row.get("variant") or ""))
    data = element("script", _embedded(index(run, lines)), type="application/json", id="index")
    for number, start in enumerate(range(0, len(lines), TOGETHER)):
        data += element("script", _packed(lines[start : start + TOGETHER]), type="text/plain", id=f"pack-{number}")
    told = element("noscript", "The questions are shown by a script; without it, read results.jsonl.")
    return element("section", element("h2", "Questions and their trees") + told, id="lines") + data


def index(run: Run, lines: Sequence[Line]) -> dict[str, Any]:
    """List what the list shows, each question once, each word that repeats as its place in a list."""
    variants = sorted({line.group[1:] for line in lines}, key=lambda one: _place(run, one))
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


def _place(run: Run, variant: tuple[str, str]) -> tuple[int, str, str]:
    strategies = run.manifest["strategies"]
    return (strategies.index(variant[0]) if variant[0] in strategies else len(strategies), *variant)


def _packed(lines: Sequence[Line]) -> str:
    told = json.dumps([_detail(line) for line in lines], separators=(",", ":"))
    return b64encode(gzip.compress(told.encode(), mtime=0)).decode()


def _detail(line: Line) -> dict[str, Any]:
    told = {name: line.row[name] for name in KEPT if line.row.get(name) is not None}
    return {**told, **drawn(line.row.get("tree") or ())}


def _embedded(value: Any) -> str:
    """Write JSON that can stand in a page: no text in it can end its element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")

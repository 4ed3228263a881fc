"""The report as one page: the sections, and the question browser with its data, small enough for tens of thousands of lines.

What the browser's list shows is there at once; what a single line holds (tree, citations) is packed by the hundred, as it is to be shown,
and unpacked when it is looked at.
"""

import gzip
import json
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup
from pydantic import ValidationError

from ramify.evaluation.asking.one_question import PRINTED
from ramify.evaluation.report.blocks import Section
from ramify.evaluation.results.run import Line, Run
from ramify.evaluation.rows import Row
from ramify.nodes.tree import Branch, Tree
from ramify.nodes.tree.cards import Look, cards
from ramify.nodes.tree.phrases import ORIGINS, figure
from ramify.tools.pages import draw, draw_page
from ramify.tools.quoting import many, map_texts, reveal

TOGETHER = 120
"""Lines packed together."""
OUTCOMES = ("right", "wrong", "abstained", "failed", "searched", "answered")


def page(run: Run, title: str, sections: Sequence[Section]) -> str:
    """Give the whole page."""
    lines = sorted(run.lines, key=lambda line: (line.row["dataset"], line.row["id"], line.row["strategy"], line.row.get("variant") or ""))
    packs = []
    for start in range(0, len(lines), TOGETHER):
        shown = [_shown(place, line) for place, line in enumerate(lines[start : start + TOGETHER], start)]
        packs.append(b64encode(gzip.compress(_json(shown).encode(), mtime=0)).decode())
    index = map_texts(_index(run, lines), reveal)  # the script shows these texts as they are
    embedded = Markup(_json(index).replace("<", "\\u003c"))  # no text in it can end its element
    told = {"title": title, "sections": sections, "index": embedded, "packs": packs}
    return draw_page("report.html", ["report.js"], kind_of=lambda block: type(block).__name__, **told)


def _index(run: Run, lines: Sequence[Line]) -> dict[str, Any]:
    """List what the list shows, each question once, each word that repeats as its place in a list."""
    strategies = run.manifest["strategies"]

    def place(variant: tuple[str, str]) -> tuple[int, str, str]:
        return (strategies.index(variant[0]) if variant[0] in strategies else len(strategies), *variant)

    variants = sorted({line.group[1:] for line in lines}, key=place)
    types = sorted({line.type for line in lines})
    questions = {(line.row["dataset"], line.row["id"]): line for line in lines}
    places = {key: place for place, key in enumerate(questions)}
    asked, given = [], []
    for (dataset, name), line in questions.items():
        about = (line.row["question"], line.row.get("gold"), line.row.get("aliases") or [], types.index(line.type))
        asked.append((run.datasets.index(dataset), name, *about))
    for line in lines:
        told = (OUTCOMES.index(line.outcome), line.number, line.row.get("answer"), line.row.get("f1"))
        given.append((places[line.row["dataset"], line.row["id"]], variants.index(line.group[1:]), *told))
    listed = {"datasets": run.datasets, "variants": variants, "types": types, "outcomes": OUTCOMES, "together": TOGETHER}
    return {**listed, "questions": asked, "lines": given}


def _shown(place: int, line: Line) -> Markup:
    row: Row = defaultdict(lambda: None, line.row)
    tree = cards(_tree(row["tree"] or ()), Look(None, f"{place}-"))
    spent = {name: value for name, value in (row["usage"] or {}).items() if value}
    told = {"scores": _scores(row), "spent": lambda name: spent.get(name, 0), "many": many, "cut": PRINTED}
    return draw("line.html", line=line, row=row, name=", ".join(filter(None, line.group[1:])), tree=tree, **told)


def _tree(branches: Iterable[Any]) -> Tree:
    """Read the tree of a line; nothing of one that this version cannot draw."""
    dicts = [branch for branch in branches if isinstance(branch, dict)]
    told = [{name: branch[name] for name in Branch.model_fields if branch.get(name) is not None} for branch in dicts]
    try:
        return {branch.path: branch for branch in map(Branch.model_validate, told)}
    except ValidationError:
        return {}


def _scores(row: Row) -> list[str]:
    """Say how right and how sure an answer is."""
    sure = "–" if row["confidence"] is None else figure(row["confidence"])
    known_from = ORIGINS.get(row["confidence_source"] or "", "")
    recall = (row["retrieval"] or {}).get("recall@10")
    told = [f"EM {_share(row['em'])}", f"F1 {_share(row['f1'])}", ", ".join(filter(None, [f"confidence {sure}", known_from]))]
    return told + ([] if recall is None else [f"recall@10 {_share(recall)}"])


def _share(value: float | None) -> str:
    """Write a share; never all where something is missing."""
    return "–" if value is None else f"{min(value, 0.99) if value < 1 else 1:.2f}"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))

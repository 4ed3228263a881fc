"""GraphRAG (Edge et al. 2024): win rates of all pairs of conditions, tokens of the levels, and size of units against gleanings.

The graph of each data set is built in several ways, and what is in it is counted (§2).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ramify.evaluation.papers.paper import MODEL_OPTIONS, PAPER_PRESET, Condition, Paper, run
from ramify.evaluation.plan import Order, RunPlan
from ramify.evaluation.search import update_kind
from ramify.evaluation.task import Row
from ramify.evaluation.variants import folder_of, named
from ramify.nodes.settings import is_embedded
from ramify.tools.errors import IndexingError
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.searcher import opened
from ramify.tools.knowledge.index import GraphIndex, inside
from ramify.tools.new_files import file_mode, make_folder, write_atomically

LEVELS = 4
SEARCH, MAP = "SS", "TS"
CONDITIONS: dict[str, Condition] = {
    **{f"C{level}": ("global", f"level={level}") for level in range(LEVELS)},
    MAP: ("global", "over=passages"),
    SEARCH: ("naive", ""),
}
TOLD = (
    ("C0 to C3", "map and reduce over the reports of a level, C0 the root's"),
    (MAP, "the same over all passages"),
    (SEARCH, "semantic search that fills the window"),
)
WINDOW = {"k": 40, "final_k": 40, "context_tokens": 6000}
"""What fills a window of 8,192 tokens beside prompt and reply."""


class Claim(NamedTuple):
    """What the paper says of a criterion: conditions over another, on its podcasts and its news."""

    over: tuple[str, ...]
    other: str
    criterion: str
    podcasts: str
    news: str


GLOBAL = tuple(f"C{level}" for level in range(LEVELS))
CLAIMS = (
    Claim((*GLOBAL, MAP), SEARCH, "comprehensiveness", "72 to 83", "72 to 80"),
    Claim((*GLOBAL, MAP), SEARCH, "diversity", "75 to 82", "62 to 71"),
    Claim(("C2",), MAP, "comprehensiveness", "57", "–"),
    Claim(("C2",), MAP, "diversity", "57", "–"),
    Claim(("C3",), MAP, "comprehensiveness", "–", "64"),
    Claim(("C3",), MAP, "diversity", "–", "60"),
    Claim((SEARCH,), "C0", "directness", "always wins", "always wins"),
)
"""Percent of wins; the source gives ranges over the conditions, and the best level over TS."""
GRAPH = Paper(
    name="graph",
    title="GraphRAG (Edge et al. 2024)",
    about="win rates of C0 to C3, TS and SS by a judge, tokens of the levels, size of units against gleanings",
    source="podcast transcripts (1,669 units) and news (3,197 units), 125 questions each, gpt-4-turbo",
    setup={
        "model": "gpt-4-turbo; which model judged is not told",
        "retrieval": "reports of a level in a window of 8,192 tokens; SS: semantic search that fills it",
        "data": "podcast transcripts, about 1 million tokens; news, about 1.7 million",
        "questions": "125 of 5 users × 5 tasks × 5 questions for each corpus, 5 verdicts on each pair",
        "passages": "units of 600 tokens, overlap 100",
    },
    runs=(
        run(
            "global",
            ("global",),
            options={**PAPER_PRESET, "level": 0},
            sweeps={"level": list(range(LEVELS)), "over": ["passages"]},
            index_kinds=("graph",),
            chunk_tokens=300,
        ),
        run("search", ("naive",), options=WINDOW, chunk_tokens=300),
    ),
    conditions=CONDITIONS,
    builds=tuple({"unit_tokens": size, "gleanings": times} for size in (600, 1200, 2400) for times in range(4)),
    demo="demo:overview",
    claims=(
        ("Source text (TS)", "every level of reports but the root is better than TS"),
        ("Root (C0)", "72 % of comprehensiveness and 62 % of diversity over SS, at over 97 % fewer tokens; of which corpus is not told"),
        ("Units", "one round at 600 tokens finds almost twice the entity references of 2,400 (HotpotQA, gpt-4-turbo)"),
    ),
    deviations=(
        "Units are consecutive passages of a document, of 300 tokens each; what is cited are passages.",
        "Communities are levels of hierarchical Leiden; levels alike are one, so that a small corpus has fewer than four.",
        "The judge chooses 1, 2 or tie in one call for all four criteria; Holm's correction is over all pairs and criteria of a data set.",
    ),
    left_out=("Windows of 16,384 to 65,536 tokens: the paper chose 8,192, and so does this command.",),
)

GRAPHS = "graphs.jsonl"
LEVEL = "level"


def ways_to_build(builds: Iterable[dict[str, Any]], model: Any, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the builds with the model that reads and writes; rules heed no setting of a build, and build one way."""
    if is_embedded(model):
        return [{}]
    told = {name: options[name] for name in MODEL_OPTIONS[1:] if name in options}
    return [{**build, **told, "model": model} for build in builds]


def count_graphs(plan: RunPlan, builds: Iterable[dict[str, Any]], out: Path, progress: Progress = silent) -> list[Row]:
    """Build each graph that is missing, write a line on each into graphs.jsonl, and return the lines. Blocking."""
    lines = []
    for source in plan.sources:
        for build in builds:
            update_kind(source.folder, "graph", (), progress, build)
            folder = folder_of(source.folder, "graph", (), build)
            index = opened(folder)
            if not isinstance(index, GraphIndex):
                raise IndexingError(f"{str(folder)!r} holds no graph", "delete the folder, and run the command again")
            found = inside(index, index.reports)
            told = {"dataset": source.dataset.name, "build": named(build), "made_by": found.facts.get("made_by"), "index": folder.name}
            references = sum(len(name.passages) for name in found.graph.names.values())
            levels = [{"level": one.number, "reports": one.communities, "tokens": one.tokens} for one in found.levels]
            lines.append({**told, **found.counts, "references": references, "levels": levels, "passages": len(index)})
    make_folder(out)
    write_atomically("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), out / GRAPHS, file_mode(out))
    return lines


def read_graphs(folder: Path) -> list[Row]:
    """Return the lines of graphs.jsonl; none if no graph was counted."""
    file = folder / GRAPHS
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def fit_levels(order: Order, lines: Sequence[Row]) -> Order:
    """Return the order without the levels that some data set's graph does not have; as it is while no graph is known."""
    if not lines or LEVEL not in order.sweeps:
        return order
    depth = min(len(line["levels"]) for line in lines)
    return order.model_copy(update={"sweeps": {**order.sweeps, LEVEL: [level for level in order.sweeps[LEVEL] if level < depth]}})

"""Build the graph of each data set in several ways, and count what is in it (GraphRAG §2: size of units against gleanings)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ramify.evaluation.papers.paper import MODEL_OPTIONS
from ramify.evaluation.plan import IndexedDataset, Order, RunPlan
from ramify.evaluation.search import update_kind
from ramify.evaluation.task import Row
from ramify.evaluation.variants import folder_of, named
from ramify.nodes.settings import is_embedded
from ramify.tools.errors import IndexingError
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.searcher import opened
from ramify.tools.knowledge.index import GraphIndex, inside
from ramify.tools.new_files import file_mode, make_folder, write_whole

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
            lines.append(_counted(source, build))
    make_folder(out)
    write_whole("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), out / GRAPHS, file_mode(out))
    return lines


def _counted(source: IndexedDataset, build: Mapping[str, Any]) -> Row:
    folder = folder_of(source.folder, "graph", (), build)
    index = opened(folder)
    if not isinstance(index, GraphIndex):
        raise IndexingError(f"{str(folder)!r} holds no graph", "delete the folder, and run the command again")
    found = inside(index, index.reports)
    levels = [{"level": one.number, "reports": one.communities, "tokens": one.tokens} for one in found.levels]
    references = sum(len(name.passages) for name in found.graph.names.values())
    told = {"dataset": source.dataset.name, "build": named(build), "made_by": found.facts.get("made_by"), "index": folder.name}
    return {**told, **found.counts, "references": references, "levels": levels, "passages": len(index)}


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

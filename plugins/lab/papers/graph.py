"""GraphRAG (Edge et al. 2024): win rates of all pairs of conditions, tokens per level, and unit size against gleanings.

The graph of each data set is built with several settings, and its contents are counted (§2).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ramify.graphs.strategies import STRATEGIES
from ramify.kinds.knowledge.communities import MAX_CLUSTER_SIZE
from ramify.kinds.knowledge.index import GraphIndex, graph_view
from ramify.kinds.knowledge.rule_builder import MAX_NAME_CHARS, MAX_NAMES_PER_SENTENCE
from ramify.kinds.prompts.extract import MAX_LINE_CHARS, max_lines
from ramify.kinds.prompts.report import MAX_FINDINGS
from ramify.lab._variants import index_folder, serializable_options
from ramify.lab.papers.paper import EXACT_SEARCH, MODEL_OPTIONS, PAPER_PRESET, PROMPTS, JudgedCondition, Paper, paper_run
from ramify.lab.plan import RunOptions, RunPlan
from ramify.lab.search import update_index_kind
from ramify.lab.task import Row
from ramify.nodes.settings import is_embedded
from ramify.tools.errors import IndexingError
from ramify.tools.index.chunking import DEFAULT_CHUNKING
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.new_files import file_mode, make_folder, write_atomically
from ramify.tools.search.searcher import open_index

LEVEL_COUNT = 4
SEARCH_CONDITION, MAP_CONDITION = "SS", "TS"
CONDITIONS: dict[str, JudgedCondition] = {
    **{f"C{level}": ("global", f"level={level}") for level in range(LEVEL_COUNT)},
    MAP_CONDITION: ("global", "over=passages"),
    SEARCH_CONDITION: ("global", "over=search"),
}
CONDITION_HELP = (
    ("C0 to C3", "map and reduce over the reports of a level, C0 the root's"),
    (MAP_CONDITION, "the same over all passages"),
    (SEARCH_CONDITION, "the final prompt over the passages of a search that fill the window, without map"),
)
READER_STYLE = {"style": "full"}
"""The judge compares what a reader gets: sentences, on both sides."""


class PaperClaim(NamedTuple):
    """Win rates published in the paper for a criterion: conditions `over` another one, on its podcasts and news."""

    over: tuple[str, ...]
    other: str
    criterion: str
    podcasts: str
    news: str


LEVEL_CONDITIONS = tuple(f"C{level}" for level in range(LEVEL_COUNT))
WIN_RATE_CLAIMS = (
    PaperClaim((*LEVEL_CONDITIONS, MAP_CONDITION), SEARCH_CONDITION, "comprehensiveness", "72 to 83", "72 to 80"),
    PaperClaim((*LEVEL_CONDITIONS, MAP_CONDITION), SEARCH_CONDITION, "diversity", "75 to 82", "62 to 71"),
    PaperClaim(("C2",), MAP_CONDITION, "comprehensiveness", "57", "–"),
    PaperClaim(("C2",), MAP_CONDITION, "diversity", "57", "–"),
    PaperClaim(("C3",), MAP_CONDITION, "comprehensiveness", "–", "64"),
    PaperClaim(("C3",), MAP_CONDITION, "diversity", "–", "60"),
    PaperClaim((SEARCH_CONDITION,), "C0", "directness", "always wins", "always wins"),
)
"""Wins in percent; the source gives ranges over the conditions, and the best level against TS."""
GRAPH_PAPER = Paper(
    name="graph",
    title="GraphRAG (Edge et al. 2024)",
    about="win rates of C0 to C3, TS and SS by a judge, tokens of the levels, size of units against gleanings",
    source="podcast transcripts (1,669 units) and news (3,197 units), 125 questions each, gpt-4-turbo",
    setup={
        "model": "gpt-4-turbo; the judging model is not given",
        "retrieval": "reports of a level in a window of 8,192 tokens; SS: semantic search that fills it",
        "data": "podcast transcripts, about 1 million tokens; news, about 1.7 million",
        "questions": "125 of 5 users × 5 tasks × 5 questions for each corpus, 5 verdicts on each pair",
        "passages": "units of 600 tokens, overlap 100",
    },
    runs=(
        paper_run(
            "global",
            ("global",),
            options={**PAPER_PRESET, **READER_STYLE, "level": 0},
            sweeps={"level": list(range(LEVEL_COUNT)), "over": ["passages", "search"]},
            index_kinds=("graph",),
            chunk_tokens=300,
        ),
    ),
    conditions=CONDITIONS,
    builds=tuple({"unit_tokens": size, "gleanings": times} for size in (600, 1200, 2400) for times in range(4)),
    demo="demo:overview",
    claims=(
        ("Source text (TS)", "every level of reports but the root is better than TS"),
        ("Root (C0)", "72 % of comprehensiveness and 62 % of diversity over SS, at over 97 % fewer tokens; the corpus is not given"),
        ("Units", "one round at 600 tokens finds almost twice the entity references of 2,400 (HotpotQA, gpt-4-turbo)"),
    ),
    deviations=(
        f"Units are consecutive passages of a document, of {DEFAULT_CHUNKING.tokens} tokens each; what is cited are passages. Neighbouring "
        f"units share the {DEFAULT_CHUNKING.overlap} tokens that two passages share, where those of the paper share 100.",
        "A gleaning is one call, which asks for what was missed; the paper first asks whether anything was, yes or no. Gleaning ends where "
        "nothing new is named.",
        f"A reply names at most {max_lines(600)} entities and {max_lines(600)} relations of a unit of 600 tokens, as far as "
        f"num_predict has room, a line of at most {MAX_LINE_CHARS} characters for each; a name has at most {MAX_NAME_CHARS} "
        f"characters. By rules, a sentence connects at most {MAX_NAMES_PER_SENTENCE} names.",
        f"A report has at most {MAX_FINDINGS} findings. Communities of more than {MAX_CLUSTER_SIZE} names are divided further.",
        f"At most {STRATEGIES['global'].presets['paper']['max_batches']:,} batches of a level are read; of more, a random sample.",
        "A one-word name joins the only longer name of its document that ends with it; other variants stay apart, as in the paper.",
        "Claims are not extracted; `ramify index --kind graph --set claims=true` would.",
        "SS searches as every strategy does by default, by vectors and words; with --set hybrid=false, by vectors only.",
        "Communities are levels of hierarchical Leiden; levels alike are one, so that a small corpus has fewer than four.",
        "The judge chooses 1, 2 or tie in one call for all four criteria; Holm's correction is over all pairs and criteria of a data set.",
        PROMPTS,
        EXACT_SEARCH,
    ),
    left_out=("Windows of 16,384 to 65,536 tokens: the paper chose 8,192, and so does this command.",),
)

GRAPHS_FILE = "graphs.jsonl"
LEVEL_SETTING = "level"


def graph_build_settings(builds: Iterable[dict[str, Any]], model: Any, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the build settings with the model and its connection; a single empty one for rules, which have no settings."""
    if is_embedded(model):
        return [{}]
    connection = {name: options[name] for name in MODEL_OPTIONS[1:] if name in options}
    return [{**build, **connection, "model": model} for build in builds]


def count_graphs(plan: RunPlan, builds: Iterable[dict[str, Any]], out: Path, progress: Progress = ignore_progress) -> list[Row]:
    """Build missing graphs, write the counts of each graph as a line of graphs.jsonl, and return the lines. Blocking."""
    lines = []
    for source in plan.sources:
        for build in builds:
            update_index_kind(source.folder, "graph", (), progress, build)
            folder = index_folder(source.folder, "graph", (), build)
            index = open_index(folder)
            if not isinstance(index, GraphIndex):
                raise IndexingError(f"{str(folder)!r} is not a graph index", "delete the folder, and run the command again")
            contents = graph_view(index, index.reports)
            about = {
                "dataset": source.dataset.name,
                "build": serializable_options(build),
                "made_by": contents.facts.get("made_by"),
                "index": folder.name,
            }
            references = sum(len(name.passages) for name in contents.graph.names.values())
            levels = [{"level": level.number, "reports": level.communities, "tokens": level.tokens} for level in contents.levels]
            lines.append({**about, **contents.counts, "references": references, "levels": levels, "passages": len(index)})
    make_folder(out)
    write_atomically("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), out / GRAPHS_FILE, file_mode(out))
    return lines


def read_graphs(folder: Path) -> list[Row]:
    """Return the lines of graphs.jsonl; empty if the file does not exist."""
    file = folder / GRAPHS_FILE
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def drop_missing_levels(options: RunOptions, lines: Sequence[Row]) -> RunOptions:
    """Return the options without the levels that are missing in the graph of some data set; unchanged if no graph was counted."""
    if not lines or LEVEL_SETTING not in options.sweeps:
        return options
    depth = min(len(line["levels"]) for line in lines)
    return options.model_copy(
        update={"sweeps": {**options.sweeps, LEVEL_SETTING: [level for level in options.sweeps[LEVEL_SETTING] if level < depth]}}
    )

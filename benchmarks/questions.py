"""Ask the strategies real questions and compare: EM, F1, gold-paragraph recall, calls and seconds, beside a trivial prior.

    RAMIFY_DATA=… python benchmarks/questions.py [--limit 100] [--sets 2wikimultihopqa demo-development] [--strategies prune naive]

Answers go line by line to `--out` and are not asked again; indexes are built below `--indexes`. Tables are printed in Markdown.
"""

import argparse
import asyncio
import gzip
import json
import os
import random
import re
import statistics
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import ramify.graphs as graphs
from ramify.nodes.findings import by_mmr, by_turns, leaves, whole_tree
from ramify.nodes.state import State
from ramify.nodes.tree import is_unknown
from ramify.tools.demo import demo_corpus, demo_index
from ramify.tools.index import Index
from ramify.tools.index.identity import document_of

SETS = ("demo-development", "demo-reporting", "2wikimultihopqa", "hotpotqa", "musique")
CUTS = (5, 10)
RESAMPLES = 2000


def questions_of(name: str, limit: int) -> list[dict[str, Any]]:
    """Read the first questions of a set, in file order."""
    if name.startswith("demo-"):
        lines = (demo_corpus().parent / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        return [q for q in map(json.loads, lines) if q["metadata"]["split"] == name.removeprefix("demo-")]
    with gzip.open(Path(os.environ["RAMIFY_DATA"]) / name / "questions.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for _, line in zip(range(limit), file, strict=False)]


def index_of(name: str, indexes: Path) -> Path:
    """Build the set's index, or bring it up to date."""
    if name.startswith("demo-"):
        return demo_index()
    Index.build([Path(os.environ["RAMIFY_DATA"]) / name / "corpus.jsonl.gz"], indexes / name)
    return indexes / name


def normal(answer: str) -> str:
    """Normalise an answer as SQuAD's scorer does; what says Unknown is one word."""
    if is_unknown(answer):
        return "unknown"
    bare = "".join(char for char in answer.casefold() if char not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def em(answer: str, golds: Iterable[str]) -> float:
    """Tell whether the answer is a gold answer."""
    return float(any(normal(answer) == normal(gold) for gold in golds))


def f1(answer: str, golds: Iterable[str]) -> float:
    """Give the best token F1 over the gold answers."""
    return max(_overlap(normal(answer).split(), normal(gold).split()) for gold in golds)


def _overlap(answer: list[str], gold: list[str]) -> float:
    common = sum((Counter(answer) & Counter(gold)).values())
    return 2 * common / (len(answer) + len(gold)) if common else 0.0


def handed(result: graphs.Result) -> list[str]:
    """List the documents of the passages in the order the final call takes them from, each once."""
    state = cast(State, {"tree": result.tree, "passages": result.passages})
    ranked = by_mmr(state, leaves(state)) if result.strategy == "tor" else by_turns(state, whole_tree(state))
    return documents(passage.id for passage in ranked)


def documents(ids: Iterable[str]) -> list[str]:
    """Give the documents that passages are from, in order, each once."""
    return list(dict.fromkeys(document_of(key) for key in ids))


def recall(found: Sequence[str], gold: set[str], cut: int) -> float:
    """Give the share of gold documents among the first found."""
    return len(gold & set(found[:cut])) / len(gold) if gold else 1.0


async def ask(question: dict[str, Any], strategy: str, index: Index, model: str) -> dict[str, Any]:
    """Ask one question and score it."""
    result = await graphs.ask_async(question["question"], strategy, model=model, index=index)
    golds = [question["answer"], *question["answer_aliases"]]
    gold = {fact["doc_id"] for fact in question["supporting"]}
    found = handed(result)
    return {
        "id": question["id"],
        "strategy": strategy,
        "model": result.model,
        "type": question["type"],
        "question": question["question"],
        "gold": question["answer"],
        "answer": result.answer,
        "confidence": result.confidence,
        "em": em(result.answer, golds),
        "f1": f1(result.answer, golds),
        "recall": {str(cut): recall(found, gold, cut) for cut in CUTS} if strategy != "closed-book" else None,
        "calls": result.usage.llm_calls,
        "seconds": result.usage.wall_s,
        "stopped_by": result.stopped_by,
        "tree": [str(branch) for branch in result.tree.values()],
    }


def single_shot(questions: list[dict[str, Any]], index: Index) -> dict[str, dict[str, float]]:
    """Search the whole question once, and give recall by question and cut."""
    hits = index.search([question["question"] for question in questions], k=max(CUTS), mmr=None)
    found = [documents(str(hit.document.id) for hit in group) for group in hits]
    return {
        question["id"]: {str(cut): recall(docs, {fact["doc_id"] for fact in question["supporting"]}, cut) for cut in CUTS}
        for question, docs in zip(questions, found, strict=True)
    }


def interval(differences: list[float]) -> tuple[float, float]:
    """Give the 95 % interval of a paired mean difference by bootstrap, seeded."""
    chance = random.Random(0)
    means = sorted(statistics.fmean(chance.choices(differences, k=len(differences))) for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]


def prior(questions: list[dict[str, Any]]) -> tuple[str, float, float]:
    """Always give the most frequent answer: what that scores."""
    answer = Counter(question["answer"] for question in questions).most_common(1)[0][0]
    golds = [[question["answer"], *question["answer_aliases"]] for question in questions]
    return answer, statistics.fmean(em(answer, gold) for gold in golds), statistics.fmean(f1(answer, gold) for gold in golds)


def table(name: str, questions: list[dict[str, Any]], rows: list[dict[str, Any]], strategies: list[str], base: dict[str, Any]) -> str:
    """Write a set's results as Markdown."""
    answer, prior_em, prior_f1 = prior(questions)
    shots = [statistics.fmean(shot[str(cut)] for shot in base.values()) for cut in CUTS]
    lines = [
        f"\n### {name}: {len(questions)} questions, model {rows[0]['model']}\n",
        "| strategy | EM | F1 | recall@5 (difference to single shot, 95 %) | recall@10 (difference) | calls | seconds |",
        "|---|---|---|---|---|---|---|",
        f"| always {answer!r} | {prior_em:.3f} | {prior_f1:.3f} | | | 0 | |",
        f"| single-shot search | | | {shots[0]:.3f} | {shots[1]:.3f} | 0 | |",
    ]
    for strategy in strategies:
        mine = [row for row in rows if row["strategy"] == strategy]
        if mine:
            means = {key: statistics.fmean(row[key] for row in mine) for key in ("em", "f1", "calls", "seconds")}
            cells = " | ".join(_recall_cell(mine, base, cut) for cut in CUTS)
            lines.append(
                f"| {strategy} | {means['em']:.3f} | {means['f1']:.3f} | {cells} | {means['calls']:.1f} | {means['seconds']:.2f} |"
            )
    return "\n".join(lines)


def _recall_cell(rows: list[dict[str, Any]], base: dict[str, Any], cut: int) -> str:
    if rows[0]["recall"] is None:
        return ""
    mean = statistics.fmean(row["recall"][str(cut)] for row in rows)
    differences = [row["recall"][str(cut)] - base[row["id"]][str(cut)] for row in rows]
    low, high = interval(differences)
    return f"{mean:.3f} ({statistics.fmean(differences):+.3f}, {low:+.3f} to {high:+.3f})"


async def run(options: argparse.Namespace) -> None:
    """Ask what has not been asked yet, then print the tables."""
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for name in options.sets:
        questions = questions_of(name, options.limit)
        index = Index.open(await asyncio.to_thread(index_of, name, options.indexes))
        log = options.out.with_name(f"{options.out.name}-{name}.jsonl")
        await ask_all(name, questions, index, log, options)
        wanted = {question["id"] for question in questions}
        rows = [row for row in _read(log) if row["id"] in wanted]
        print(table(name, questions, rows, options.strategies, single_shot(questions, index)), flush=True)


async def ask_all(name: str, questions: list[dict[str, Any]], index: Index, log: Path, options: argparse.Namespace) -> None:
    """Ask each question with each strategy, one after another, and keep each answer as it comes."""
    known = {(row["id"], row["strategy"]) for row in _read(log)}
    todo = [(q, s) for s in options.strategies for q in questions if (q["id"], s) not in known]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, disable=not os.isatty(2)) as progress, log.open("a", encoding="utf-8") as file:
        bar = progress.add_task(name, total=len(todo))
        for question, strategy in todo:
            row = await ask(question, strategy, index, options.model)
            print(json.dumps(row, ensure_ascii=False), file=file, flush=True)
            progress.advance(bar)


def _read(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--strategies", nargs="+", default=list(graphs.STRATEGIES), choices=list(graphs.STRATEGIES))
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--model", default="extractive")
    parser.add_argument("--indexes", type=Path, default=Path("build/benchmarks/indexes"))
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks/questions"))
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()

"""Make a run folder with plausible lines and trees, without asking anything: for the report's tests and its benchmark."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

STRATEGIES = ("closed-book", "naive", "chain", "iterative", "tor", "prune")
SKILL = {"closed-book": 0.12, "naive": 0.36, "chain": 0.42, "iterative": 0.38, "tor": 0.45, "prune": 0.5}
CALLS = {"closed-book": 1, "naive": 1, "chain": 5, "iterative": 7, "tor": 19, "prune": 6}
BRANCHES = {"closed-book": 1, "naive": 1, "chain": 4, "iterative": 4, "tor": 15, "prune": 7}
TYPES = ("bridge", "comparison", "inference")
NAMES = ("Ada Lovelace", "Lake Titicaca", "The Third Man", "Graz", "Yes", "No", "1907", "Clara Schumann", "Bergen", "Emmy Noether")
LIMITS = (5, 10)


def make_run(
    folder: Path,
    questions: int = 40,
    datasets: Sequence[str] = ("hotpotqa", "multihop_rag"),
    variants: Sequence[tuple[str, str]] = (),
    seed: int = 0,
) -> Path:
    """Write a run: every strategy on every question, and variants (strategy, name) on the first half of them."""
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [(strategy, "") for strategy in STRATEGIES] + list(variants)
    rows = [
        make_row(dataset, strategy, variant, number, random.Random(f"{seed}{dataset}{strategy}{variant}{number}"))
        for dataset in datasets
        for number in range(questions)
        for strategy, variant in chosen
        if not variant or number < questions / 2
    ]
    write_files(folder, make_manifest(datasets, questions, chosen, seed), rows)
    return folder


def write_files(folder: Path, content: dict[str, Any], rows: Sequence[dict[str, Any]]) -> None:
    """Write a manifest and lines."""
    (folder / "manifest.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def make_manifest(datasets: Sequence[str], questions: int, chosen: Sequence[tuple[str, str]], seed: int) -> dict[str, Any]:
    """Describe the run as the runner does."""
    machine = {"processor": "Made Processor 9000", "cores": 2, "memory_gb": 15.6, "gpu": None, "system": "Linux"}
    return {
        "created": "2026-11-20T12:00:00+00:00",
        "command": f"ramify eval {' '.join(datasets)} --out run",
        "versions": {"ramify-rag": "0.1.0", "langgraph": "1.2.22", "torch": None},
        "python": "3.11.9",
        "machine": machine,
        "model": "extractive",
        "embedding": "all-MiniLM-L6-v2",
        "strategies": list(dict.fromkeys(strategy for strategy, _ in chosen)),
        "variants": [{"strategy": strategy, "variant": name, "settings": {"max_depth": 2}, "arguments": {}} for strategy, name in chosen],
        "datasets": [_dataset(name, questions) for name in datasets],
        "seed": seed,
        "concurrency": 2,
        "limit": questions,
    }


def _dataset(name: str, questions: int) -> dict[str, Any]:
    types = {kind: len(range(place, questions, len(TYPES))) for place, kind in enumerate(TYPES)}
    head = {"name": name, "path": f"data/{name}", "sha256": name.encode().hex().ljust(64, "0")[:64], "questions": questions, "types": types}
    return {**head, "caveats": [f"The text of {name} is made up."], "hits_by": "fact" if "multihop" in name else "document"}


def make_row(dataset: str, strategy: str, variant: str, number: int, chance: random.Random) -> dict[str, Any]:
    """Make one line, with its tree."""
    place = random.Random(f"{dataset}{number}")
    gold, luck = place.choice(NAMES), place.random()
    if chance.random() < 0.01:
        return _failed(_head(dataset, strategy, variant, number, gold))
    right = luck * 0.6 + chance.random() * 0.4 < SKILL[strategy]
    abstained = not right and chance.random() < 0.15
    answer = gold if right else "Unknown" if abstained else chance.choice([name for name in NAMES if name != gold])
    f1 = 1.0 if right else round(chance.choice((0, 0, 0, 0.5)) * (not abstained), 3)
    recall = 1.0 if right else chance.choice((0.0, 0.5, 1.0))
    grown = make_tree(strategy, gold, answer, chance)
    calls = CALLS[strategy] + chance.randrange(3)
    return {
        **_head(dataset, strategy, variant, number, gold),
        "answer": answer,
        "confidence": round(min(0.999, max(0.02, chance.gauss(0.8 if right else 0.55, 0.15))), 3),
        "confidence_source": "stated",
        "stopped_by": "finished",
        "error": None,
        **{"em": float(right), "f1": f1, "containment": float(right), "official": float(right or f1 > 0), "abstained": abstained},
        "retrieval": None if strategy == "closed-book" else _retrieval(recall, chance),
        "gold_retrieved": strategy != "closed-book" and recall == 1.0,
        "gold_found": strategy != "closed-book" and recall >= 0.5,
        "retrieved": [f"doc-{chance.randrange(900)}" for _ in range(0 if strategy == "closed-book" else 8)],
        "citations": [] if strategy == "closed-book" or abstained else [_citation(answer, chance)],
        "usage": _usage(calls, chance),
        "tree": grown,
        "model": "extractive",
        "notices": [],
    }


def _head(dataset: str, strategy: str, variant: str, number: int, gold: str) -> dict[str, Any]:
    asked = {"key": f"{dataset}|{strategy}|{variant}|q{number:04}", "dataset": dataset, "strategy": strategy, "variant": variant}
    question = f"Question {number}: who or what stands behind the work that {NAMES[number % 7]} is known for in {1800 + number % 200}?"
    about = {
        "id": f"q{number:04}",
        "question": question,
        "type": TYPES[number % len(TYPES)],
        "gold": gold,
        "aliases": [],
        "unanswerable": False,
    }
    return {**asked, **about, "gold_documents": [f"doc-{number}", f"doc-{number + 1}"], "seed": 0}


def _failed(head: dict[str, Any]) -> dict[str, Any]:
    scores = {"em": 0.0, "f1": 0.0, "containment": 0.0, "official": 0.0, "abstained": False, "retrieval": None, "gold_retrieved": False}
    blank: dict[str, Any] = {"answer": "", "confidence": 0.0, "confidence_source": None, "stopped_by": "error", "usage": None}
    lists: dict[str, Any] = {"tree": [], "citations": [], "retrieved": [], "notices": [], "model": None}
    return {**head, "error": "ModelError: the model did not answer in 60 s — start it, or raise timeout", **blank, **scores, **lists}


def _retrieval(recall: float, chance: random.Random) -> dict[str, float]:
    scores = {f"{name}@{cut}": float(recall == 1.0) if name == "all_gold" else recall for name in ("recall", "all_gold") for cut in LIMITS}
    hit = float(recall > 0)
    first = round(hit / chance.choice((1, 1, 2, 3)), 3)
    return {
        **scores,
        "hits@4": hit,
        "hits@10": hit,
        "mrr@10": first,
        "map@10": round(first * recall, 3),
        "map@10_official": first,
        "supporting_f1": recall,
    }


def _citation(answer: str, chance: random.Random) -> dict[str, str]:
    number = chance.randrange(900)
    text = f"A made paragraph, number {number}, which says at some length that {answer} is what the question asked for, and a little more."
    return {"id": f"doc-{number}:0", "source": f"doc-{number}", "text": text}


def _usage(calls: int, chance: random.Random) -> dict[str, float]:
    tokens = calls * chance.randrange(600, 1200)
    counts = {"llm_calls": calls, "prompt_tokens": tokens, "completion_tokens": calls * 30, "retrievals": calls}
    return {**counts, "wall_s": round(calls * chance.uniform(0.05, 0.3), 3), "critical_path_calls": min(calls, 10)}


def make_tree(strategy: str, gold: str, answer: str, chance: random.Random) -> list[dict[str, Any]]:
    """Make a tree as results carry it: binary, with a few branches pruned or failed."""
    paths = list(_paths(BRANCHES[strategy], chain=strategy == "chain"))
    return [_branch(path, any(other.startswith(path + ".") for other in paths), gold, answer, chance) for path in paths]


def _paths(count: int, chain: bool) -> Iterator[str]:
    waiting = ["0"]
    for _ in range(count):
        path = waiting.pop(0)
        yield path
        waiting += [f"{path}.{place}" for place in range(1 if chain else 2)]


def _branch(path: str, inner: bool, gold: str, answer: str, chance: random.Random) -> dict[str, Any]:
    status = "inner" if inner else chance.choices(("leaf", "pruned", "failed"), (8, 2, 1))[0]
    note = {"pruned": "judged 0.25, below 0.4", "failed": "ReplyError: no usable reply"}.get(status, "")
    passages = [f"doc-{chance.randrange(900)}:0" for _ in range(5)]
    said = answer if path == "0" else chance.choice((gold, *NAMES))
    head = {"path": path, "parent": path.rpartition(".")[0] or None, "question": f"What is said of {chance.choice(NAMES)} at step {path}?"}
    value = {"answer": None if status == "failed" else said, "confidence": None if status == "failed" else round(chance.random(), 3)}
    score = round(chance.uniform(0.4, 1), 2) if inner else None
    return {
        **head,
        "kind": "question",
        "status": status,
        **value,
        "score": score,
        "evidence": passages,
        "cited": passages[:1],
        "attempts": 0,
        "note": note,
    }

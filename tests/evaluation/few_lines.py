"""Runs of a few given lines, and what stands in their reports: for tests of what is made of a run."""

import json
import random
from pathlib import Path
from typing import Any

from tests.evaluation.made_run import manifest, row, write

VARIANTS = [("tor", f"max_depth={depth}") for depth in (1, 2, 4)] + [("tor", "without judge"), ("prune", "tau=0.9")]


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def line(number: int, strategy: str = "naive", variant: str = "", **told: Any) -> dict[str, Any]:
    """Make one answered line."""
    made = {**row("hotpotqa", "naive", "", number, random.Random(number)), "strategy": strategy, "variant": variant, **told}
    return {**made, "key": f"{made['dataset']}|{strategy}|{variant}|{made['id']}"}


def table(markdown: str, title: str) -> list[list[str]]:
    """Read the first table below a title."""
    lines = markdown.partition(f"### {title}\n\n")[2].splitlines()
    cells = [[cell.strip() for cell in one.strip("|").split(" | ")] for one in lines[: lines.index("")]]
    return [cells[0], *cells[2:]]


def small(folder: Path, *rows: dict[str, Any], **told: Any) -> Path:
    """Write a run of a few given lines."""
    folder.mkdir(exist_ok=True)
    chosen = list(dict.fromkeys((one["strategy"], one["variant"]) for one in rows))
    write(folder, {**manifest(["hotpotqa"], len(rows), chosen, 0), **told}, rows)
    return folder

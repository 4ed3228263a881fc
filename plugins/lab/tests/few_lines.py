"""Runs with a few given lines, and tables of their reports: for tests of what reads a run."""

import json
import random
from pathlib import Path
from typing import Any

from plugins.lab.tests.made_run import make_manifest, make_row, write_files

VARIANTS = [("tor", f"max_depth={depth}") for depth in (1, 2, 4)] + [("tor", "without judge"), ("prune", "tau=0.9")]


def read_rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def make_line(number: int, strategy: str = "naive", variant: str = "", **fields: Any) -> dict[str, Any]:
    """Make one answered line."""
    row_fields = {**make_row("hotpotqa", "naive", "", number, random.Random(number)), "strategy": strategy, "variant": variant, **fields}
    return {**row_fields, "key": f"{row_fields['dataset']}|{strategy}|{variant}|{row_fields['id']}"}


def read_table(markdown: str, title: str) -> list[list[str]]:
    """Read the first table below a title."""
    lines = markdown.partition(f"### {title}\n\n")[2].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[: lines.index("")]]
    return [cells[0], *cells[2:]]


def write_run(folder: Path, *rows: dict[str, Any], **fields: Any) -> Path:
    """Write a run of a few given lines."""
    folder.mkdir(exist_ok=True)
    chosen = list(dict.fromkeys((row["strategy"], row["variant"]) for row in rows))
    write_files(folder, {**make_manifest(["hotpotqa"], len(rows), chosen, 0), **fields}, rows)
    return folder

"""What a run of `ramify eval` has written down, and a model to run it with."""

import json
from pathlib import Path
from typing import Any

LLAMA = ("--model", "ollama:llama3.1:8b", "--strategy", "closed-book")


def lines(out: Path) -> list[dict[str, Any]]:
    text = (out / "results.jsonl").read_text(encoding="utf-8") if (out / "results.jsonl").exists() else ""
    return [row for line in text.split("\n")[:-1] if (row := json.loads(line))["strategy"] != "search"]


def outcome(out: Path) -> dict[str, tuple[Any, ...]]:
    """Tell what came of each question, in the last line of its key."""
    return {row["key"]: (row["answer"], row["em"], row["f1"], row["error"]) for row in lines(out)}

"""Texts that a change must not alter unseen: compare with what is on record, or write it with RAMIFY_SNAPSHOTS=write."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"


def matches(name: str, text: str) -> None:
    """Assert that a text is the one on record."""
    path = FOLDER / name
    if os.environ.get("RAMIFY_SNAPSHOTS") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{name} is not on record: look at the text, then run with RAMIFY_SNAPSHOTS=write"
    assert text == path.read_text(encoding="utf-8"), f"{name} has changed: if it should, run with RAMIFY_SNAPSHOTS=write"

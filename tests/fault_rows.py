"""The faults that the matrix has to have, by area: docs/faults.md has a row for each, from a test that passed."""

from collections.abc import Mapping, Sequence
from typing import Final

ROWS: Final[Mapping[str, Sequence[str]]] = {
    "models": [],
    "budgets": [],
    "index": [],
    "documents": [],
    "disk": [],
    "processes": [],
    "secrets": [],
    "doors": [],
    "servers": [],
    "hostile instructions": [],
}

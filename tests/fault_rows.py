"""The faults that the matrix has to have, by area: docs/faults.md has a row for each, from a test that passed."""

from collections.abc import Mapping, Sequence
from typing import Final

ROWS: Final[Mapping[str, Sequence[str]]] = {
    "models": [
        "too many requests (429)",
        "server error (500)",
        "gateway error (502, 503, 504)",
        "connection reset",
        "reply cut off",
        "empty body",
        "null in the place of a reply",
        "envelope of another protocol",
        "HTML page in the place of a reply",
        "reply that is no JSON",
        "reply of other fields",
        "empty reply",
        "half of a surrogate pair",
        "reply of a megabyte",
        "log probabilities that are no numbers",
        "token counts below zero or with a fraction",
        "no reply at all",
        "call redirected (302)",
        "call redirected (307)",
        "call refused (400)",
        "call refused (413)",
        "call refused (422)",
        "model refused (401)",
        "model refused (403)",
        "model refused (404)",
    ],
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

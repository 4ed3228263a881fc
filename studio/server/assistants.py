"""The assistants of the development server that are bound to an index each, under the name of its folder.

A client of A2A can name neither an index nor any other setting: it asks the assistant of the index that it means.
"""

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from uuid import UUID, uuid5

from ramify.tools.index.index_store import is_address

VARIABLE = "RAMIFY_STUDIO_ASSISTANTS"
"""The variable with the indexes, by the names of their assistants, as JSON."""
GRAPHS = UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")
"""The namespace in which LangGraph's server makes the id of an assistant from its name."""
DESCRIPTION = "Answers a question from {about}, with numbered quotations and a confidence from 0 to 1; splits hard ones itself."


def names_of(indexes: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Name indexes by the last part of their folders or addresses, numbered where it is taken."""
    names: list[str] = []
    for where in indexes:
        last = re.split(r"[/\\]", where.rstrip("/\\"))[-1] if is_address(where) else Path(where).absolute().name
        base = re.sub(r"[^\w.-]+", "-", last).strip("-.") or "index"
        numbered = (f"{base}-{number}" if number > 1 else base for number in range(1, len(indexes) + len(taken) + 2))
        names.append(next(name for name in numbered if name not in {*taken, *names}))
    return names


def bind(indexes: Sequence[str], taken: Collection[str]) -> Mapping[str, str]:
    """Set the indexes of the assistants of the server in this process, and return them by the assistants' names."""
    places = [one if is_address(one) else os.path.abspath(one) for one in indexes]
    made = dict(zip(names_of(places, taken), places, strict=True))
    os.environ[VARIABLE] = json.dumps(made)
    return made


def bound() -> Mapping[str, str]:
    """Return the indexes of the assistants by their names."""
    found: dict[str, str] = json.loads(os.environ.get(VARIABLE) or "{}")
    return found


def identity(name: str) -> str:
    """Return the id of an assistant, as LangGraph's server makes it from the name."""
    return str(uuid5(GRAPHS, name))


def variable(number: int) -> str:
    """Return the variable of `ramify.studio.server.app` with the graph of an assistant, counted from 0."""
    return f"index_{number}"

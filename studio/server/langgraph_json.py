"""What configures the development server: langgraph.json, whose copy lies in a clone, and the assistants that are bound to an index each.

These have the names of their folders. A client of A2A can name neither an index nor any other setting: it asks the assistant of the index
that it means.
"""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid5

from ramify.studio.server.guard import pattern

ENVIRONMENT = {"LANGGRAPH_STRICT_MSGPACK": "true", "LANGSMITH_TRACING": "false"}
"""Read only known classes from checkpoints; send no traces."""
SCHEMA = "https://langgra.ph/schema.json"
"""Where editors find what may stand in the file; nothing reads it at run time."""
NONE: Mapping[str, str] = MappingProxyType({})
GUARD = "ramify.studio.server.guard:app"
TO_READ = ["x-pagination-total", "x-pagination-next", "content-location"]
"""The headers that the server shows to pages where nothing is said of them."""
GRAPHS = UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")
"""The namespace in which LangGraph's server makes the id of an assistant from its name."""
DESCRIPTION = "Answers a question from {about}, with numbered quotations and a confidence from 0 to 1; splits hard ones itself."


def configuration(origins: Sequence[str] = (), bound: Mapping[str, str] = NONE) -> dict[str, Any]:
    """Return the content of langgraph.json.

    `origins` are allowed besides this machine's pages and the hosted Studio; `bound` are the assistants of indexes, with what these are.
    """
    # Imported late: LangGraph reads the environment when it is imported, and that has to be set before.
    from ramify.graphs.strategies import STRATEGIES

    path = "ramify.studio.server.app:{}"
    graphs = {name: {"path": path.format(variable(name)), "description": one.description} for name, one in STRATEGIES.items()}
    for number, (name, about) in enumerate(bound.items()):
        graphs[name] = {"path": path.format(assistant_variable(number)), "description": DESCRIPTION.format(about=about)}
    cors = {"allow_origin_regex": pattern(origins), "allow_methods": ["*"], "allow_headers": ["*"], "expose_headers": TO_READ}
    return {
        "$schema": SCHEMA,
        "dependencies": ["."],
        "graphs": graphs,
        "env": ENVIRONMENT,
        "dockerfile_lines": [f"ENV {name}={value}" for name, value in ENVIRONMENT.items()],  # an image does not take over `env`
        "http": {"app": GUARD, "cors": {"allow_origins": [], **cors}},  # without `allow_origins` the server would allow all
        "checkpointer": {"serde": {"allowed_msgpack_modules": [[value.__module__, value.__name__] for value in values()]}},
    }


def values() -> tuple[type[Any], ...]:
    """Return the classes that a state contains."""
    # Imported late: LangGraph reads the environment when it is imported, and that has to be set before.
    from ramify.nodes.state import Search, Usage
    from ramify.nodes.tree import Branch, Passage
    from ramify.nodes.tree.citation import Citation, Sentence, Source

    return Branch, Citation, Passage, Search, Sentence, Source, Usage


def variable(strategy: str) -> str:
    """Return the variable of `ramify.studio.server.app` with a strategy's graph."""
    return "global_search" if strategy == "global" else strategy.replace("-", "_")  # a word of Python's own is no name


def written(origins: Sequence[str] = (), bound: Mapping[str, str] = NONE) -> str:
    """Return langgraph.json as text."""
    return json.dumps(configuration(origins, bound), indent=2) + "\n"


def identity(name: str) -> str:
    """Return the id of an assistant, as LangGraph's server makes it from the name."""
    return str(uuid5(GRAPHS, name))


def assistant_variable(number: int) -> str:
    """Return the variable of `ramify.studio.server.app` with the graph of an assistant, counted from 0."""
    return f"index_{number}"

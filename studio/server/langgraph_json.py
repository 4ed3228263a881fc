"""The configuration of the development server: langgraph.json (a copy is in the repository), and one assistant for each index.

Assistants have the names of their indexes' folders. A client of A2A cannot choose an index or any other setting: it calls the assistant of
the index.
"""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid5

from ramify.studio.server.guard import origin_pattern

ENVIRONMENT = {"LANGGRAPH_STRICT_MSGPACK": "true", "LANGSMITH_TRACING": "false"}
"""Read only known classes from checkpoints; send no traces."""
SCHEMA_URL = "https://langgra.ph/schema.json"
"""JSON schema for editors; not read at run time."""
NO_ASSISTANTS: Mapping[str, str] = MappingProxyType({})
GUARD_APP = "ramify.studio.server.guard:app"
EXPOSED_HEADERS = ["x-pagination-total", "x-pagination-next", "content-location"]
"""The headers that LangGraph's server exposes by default."""
ASSISTANT_NAMESPACE = UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")
"""UUID namespace from which LangGraph's server derives the id of an assistant."""
ASSISTANT_DESCRIPTION = "Answers a question from {about}, with numbered quotations and a confidence from 0 to 1; splits hard ones itself."


def configuration(origins: Sequence[str] = (), assistants: Mapping[str, str] = NO_ASSISTANTS) -> dict[str, Any]:
    """Return the content of langgraph.json.

    `origins` are allowed besides this machine's pages and the hosted Studio; `assistants` maps names of assistants to their documents.
    """
    # Imported late: LangGraph reads the environment when it is imported, so the environment has to be set before.
    from ramify.graphs.strategies import load_strategies
    from ramify.nodes.state import CHECKPOINT_CLASSES

    path = "ramify.studio.server.app:{}"
    strategies = load_strategies()
    graphs = {
        name: {"path": path.format(graph_variable(name)), "description": strategy.description} for name, strategy in strategies.items()
    }
    for number, (name, about) in enumerate(assistants.items()):
        graphs[name] = {"path": path.format(assistant_graph_variable(number)), "description": ASSISTANT_DESCRIPTION.format(about=about)}
    cors = {
        "allow_origin_regex": origin_pattern(origins),
        "allow_methods": ["*"],
        "allow_headers": ["*"],
        "expose_headers": EXPOSED_HEADERS,
    }
    return {
        "$schema": SCHEMA_URL,
        "dependencies": ["."],
        "graphs": graphs,
        "env": ENVIRONMENT,
        "dockerfile_lines": [f"ENV {name}={kind}" for name, kind in ENVIRONMENT.items()],  # an image ignores `env`
        "http": {"app": GUARD_APP, "cors": {"allow_origins": [], **cors}},  # without `allow_origins` the server would allow all origins
        "checkpointer": {"serde": {"allowed_msgpack_modules": [list(names) for names in CHECKPOINT_CLASSES]}},
    }


def graph_variable(strategy: str) -> str:
    """Return the name of the variable of `ramify.studio.server.app` that contains a strategy's graph."""
    return "global_search" if strategy == "global" else strategy.replace("-", "_")  # `global` is a keyword of Python


def configuration_text(origins: Sequence[str] = (), assistants: Mapping[str, str] = NO_ASSISTANTS) -> str:
    """Return the text of langgraph.json."""
    return json.dumps(configuration(origins, assistants), indent=2) + "\n"


def assistant_id(name: str) -> str:
    """Return the id of an assistant, as LangGraph's server derives it from the name."""
    return str(uuid5(ASSISTANT_NAMESPACE, name))


def assistant_graph_variable(number: int) -> str:
    """Return the name of the variable of `ramify.studio.server.app` with the graph of an assistant, counted from 0."""
    return f"index_{number}"

"""langgraph.json: what the development server is told of our graphs. The file in a clone is a copy of what is written here."""

import json
from collections.abc import Sequence
from typing import Any

from ramify.studio.server.guard import pattern

DESCRIPTIONS = {
    "prune": "PruneRAG: answers a question from the indexed documents; splits it where no answer is sure enough (above tau).",
    "tor": "ToR-RAG: answers a question from the indexed documents; splits it in two, judges each fork, prunes what scores below theta.",
    "iterative": "Iterative RAG: answers a question from the indexed documents; searches widely, then reads them round by round.",
    "chain": "CoR-RAG: answers a question from the indexed documents; asks one sub-question after another, with the answers so far.",
    "naive": "Naive RAG, a baseline: answers a question from the indexed documents; searches once.",
    "global": "GraphRAG's global search: answers a question about all of the documents, such as their main themes, from reports on them.",
    "closed-book": "Closed book, a baseline: answers a question from the model's memory, without the documents.",
}
"""The strategies, as the list of assistants and the list of MCP tools show them."""

ENVIRONMENT = {"LANGGRAPH_STRICT_MSGPACK": "true", "LANGSMITH_TRACING": "false"}
"""Read from a checkpoint only what the state names; send no traces anywhere."""


SCHEMA = "https://langgra.ph/schema.json"
"""Where editors find what may stand in the file; nothing reads it at run time."""
GUARD = "ramify.studio.server.guard:app"
TO_READ = ["x-pagination-total", "x-pagination-next", "content-location"]
"""The headers that the server shows to pages where nothing is said of them."""


def configuration(origins: Sequence[str] = ()) -> dict[str, Any]:
    """Give the content of langgraph.json; `origins` may use the server besides this machine's pages and the hosted Studio."""
    graphs = {name: {"path": f"ramify.studio.server.app:{variable(name)}", "description": told} for name, told in DESCRIPTIONS.items()}
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
    """List the classes of which a state is made."""
    # Imported late: LangGraph reads the environment when it is imported, and that has to be set before.
    from ramify.nodes.state import Citation, Search, Source, Usage
    from ramify.nodes.tree import Branch, Passage

    return Branch, Citation, Passage, Search, Source, Usage


def variable(strategy: str) -> str:
    """Name the variable of `ramify.studio.server.app` that holds a strategy's graph."""
    return "global_search" if strategy == "global" else strategy.replace("-", "_")  # a word of Python's own is no name


def written(origins: Sequence[str] = ()) -> str:
    """Write langgraph.json."""
    return json.dumps(configuration(origins), indent=2) + "\n"

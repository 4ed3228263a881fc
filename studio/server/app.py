"""The graphs for LangGraph Studio, as named in langgraph.json: every strategy, with conversation.

The server provides the checkpointer. Arguments of `build` change the graph, so the forms do not show them: define a variant in your own
langgraph.json. Runs may name only what `ramify studio` was started with (see `bounds`).
"""

import sys

from ramify.graphs import build, with_conversation
from ramify.graphs.strategies import DEFAULT
from ramify.studio.server.assistants import bound, variable
from ramify.studio.server.bounds import bounded
from ramify.studio.server.langgraph_json import values

prune = bounded(with_conversation(build("prune"))).compile()
tor = bounded(with_conversation(build("tor"))).compile()
iterative = bounded(with_conversation(build("iterative"))).compile()
chain = bounded(with_conversation(build("chain"))).compile()
ircot = bounded(with_conversation(build("ircot"))).compile()
self_ask = bounded(with_conversation(build("self-ask"))).compile()
react = bounded(with_conversation(build("react"))).compile()
naive = bounded(with_conversation(build("naive"))).compile()
global_search = bounded(with_conversation(build("global"))).compile()
closed_book = bounded(with_conversation(build("closed-book"))).compile()
for number, index in enumerate(bound().values()):  # an assistant for each --index
    globals()[variable(number)] = bounded(with_conversation(build(DEFAULT)), index).compile()


def _allow_values() -> None:
    """Allow ramify's classes in the checkpoints of the server that loads this module."""
    # It reads strictly, but takes no notice of `allowed_msgpack_modules`, and its copies of a graph forget what the graph's state names.
    if (runtime := sys.modules.get("langgraph_runtime_inmem.checkpoint")) is not None:
        saver = runtime.Checkpointer()
        saver.serde = saver.serde.with_msgpack_allowlist(values())


_allow_values()

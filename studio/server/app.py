"""The graphs for LangGraph Studio, as named in langgraph.json: every strategy, with conversation, and an assistant for each `--index`.

The server provides the checkpointer. Arguments of `build` change the graph, so Studio's forms do not show them: define a variant in your
own langgraph.json. Runs may name only what `ramify studio` was started with (see `bounds`).
"""

import sys

from ramify.graphs import build, with_conversation
from ramify.graphs.strategies import DEFAULT, load_strategies
from ramify.nodes.state import CHECKPOINT_CLASSES
from ramify.studio.server.bounds import assistant_indexes, restrict_settings
from ramify.studio.server.langgraph_json import assistant_graph_variable, graph_variable

for name in load_strategies():
    globals()[graph_variable(name)] = restrict_settings(with_conversation(build(name))).compile()
for number, index in enumerate(assistant_indexes().values()):
    globals()[assistant_graph_variable(number)] = restrict_settings(with_conversation(build(DEFAULT)), index).compile()

# The server deserializes only known classes, but ignores `allowed_msgpack_modules`, and its copies of a graph lose the classes registered
# by the graph's state: so ramify's classes are allowed here, in the checkpointer of the server that loads this module.
if (runtime := sys.modules.get("langgraph_runtime_inmem.checkpoint")) is not None:
    saver = runtime.Checkpointer()
    saver.serde = saver.serde.with_msgpack_allowlist(CHECKPOINT_CLASSES)

"""The graphs for LangGraph Studio, as named in langgraph.json: every strategy, with conversation, and an assistant for each `--index`.

The server provides the checkpointer. Arguments of `build` change the graph, so the forms do not show them: define a variant in your own
langgraph.json. Runs may name only what `ramify studio` was started with (see `bounds`).
"""

import sys

from ramify.graphs import build, with_conversation
from ramify.graphs.strategies import DEFAULT, STRATEGIES
from ramify.studio.server.bounds import bound, bounded
from ramify.studio.server.langgraph_json import assistant_variable, values, variable

for name in STRATEGIES:
    globals()[variable(name)] = bounded(with_conversation(build(name))).compile()
for number, index in enumerate(bound().values()):
    globals()[assistant_variable(number)] = bounded(with_conversation(build(DEFAULT)), index).compile()

# The server reads checkpoints strictly, but takes no notice of `allowed_msgpack_modules`, and its copies of a graph forget what the graph's
# state names: here ramify's classes are allowed in the checkpoints of the server that loads this module.
if (runtime := sys.modules.get("langgraph_runtime_inmem.checkpoint")) is not None:
    saver = runtime.Checkpointer()
    saver.serde = saver.serde.with_msgpack_allowlist(values())

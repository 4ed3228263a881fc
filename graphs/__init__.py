"""Strategies: one graph definition per file, with edges and conditions only; and running a question through one.

* strategies: `prune`, `tor`, `mcts`, `iterative`, `split`, `chain`, `ircot`, `self_ask`, `react`, `naive`, `global_search`,
  `closed_book`, each a `Strategy` (in `strategies`) that builds a `wiring` with `conditions`, and its `drawing`
* a question: `run`, with its result; `choice` of the strategy where none is named
* several: `conversation`, with the `memory` in which it is stored; `editing` of a tree that was stored; `ratings` of answers
* in a larger agent: `tool`, also as a subagent; `nested` for its configuration and progress
"""

from ramify.graphs import chain, closed_book, global_search, ircot, iterative, mcts, naive, prune, react, self_ask, split, tor
from ramify.graphs.choice import choose_strategy
from ramify.graphs.conversation import Conversation, with_conversation
from ramify.graphs.run import Result, ask, ask_async
from ramify.graphs.strategies import DEFAULT, STRATEGIES, Strategy, build, configure, register
from ramify.graphs.tool import research_subagent, research_tool, search_tool
from ramify.nodes.tree import to_networkx

__all__ = [
    "DEFAULT",
    "STRATEGIES",
    "Conversation",
    "Result",
    "Strategy",
    "ask",
    "ask_async",
    "build",
    "choose_strategy",
    "conditions",
    "configure",
    "register",
    "research_subagent",
    "research_tool",
    "search_tool",
    "to_networkx",
    "wiring",
    "with_conversation",
]

for _module in (prune, tor, mcts, split, iterative, chain, ircot, self_ask, react, naive, global_search, closed_book):
    register(_module.STRATEGY)

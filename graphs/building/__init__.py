"""Build a graph or a hierarchy beside an index's passages, by rules or with a language model; and tell beforehand what that would cost.

`build` builds; `cost` lists what an index would cost.
"""

from ramify.graphs.building._build import asks_model, hierarchy_settings, make_graph, make_hierarchy

__all__ = ["asks_model", "hierarchy_settings", "make_graph", "make_hierarchy"]

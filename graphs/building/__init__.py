"""Build the graph or hierarchy of an index, by rules or with a language model; and estimate the cost.

`build` builds; `cost` estimates the cost of an index.
"""

from ramify.graphs.building._build import asks_model, hierarchy_settings, make_graph, make_hierarchy

__all__ = ["asks_model", "hierarchy_settings", "make_graph", "make_hierarchy"]

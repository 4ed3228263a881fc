"""Build a graph or a hierarchy beside an index's passages, by rules or with a language model; and tell beforehand what that would cost.

`build` builds; `index_cost` lists what an index would cost, a graph as `graph_cost` and a hierarchy as `hierarchy_cost` works it out.
"""

from ramify.graphs.building.build import asks_model, hierarchy, hierarchy_settings, structure

__all__ = ["asks_model", "hierarchy", "hierarchy_settings", "structure"]

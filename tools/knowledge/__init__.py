"""The graph of an index of kind `graph`: names and their relations, communities by level with a report each, and search along it.

* read (`build`): `elements` of passages, by `rule_builder` from names in text, or by a model whose replies are kept
* kept: `communities` of the graph, their `reports`; on disk: `graph_file`
* searched: `index`, which also says what is in it
"""

__all__ = ["build", "index"]

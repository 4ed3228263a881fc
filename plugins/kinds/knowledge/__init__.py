"""The graph of an index of kind `graph`: names and their relations, communities by level with a report each, and search along it.

* built (`build`): `elements` are extracted by `rule_builder`, or by a model whose replies are stored
* stored: `communities` of the graph and their reports, in `graph_file`
* searched and displayed: `index`
"""

__all__ = ["build", "index"]

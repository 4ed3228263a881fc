"""The graph of an index of kind `graph`: names and their relations, communities by level with a report each, and search along it.

* read (`build`): `units` of passages → `elements`, by `rule_builder` from `names` in text, or by a model whose `kept_replies` last
* kept: `graph`, `communities` of it, their `reports`; on disk: `graph_file`
* searched: `index`; looked at: `overview`
"""

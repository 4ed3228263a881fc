"""The hierarchy of an index of kind `hierarchy`: groups by metadata with soft membership, a tree of summaries in each, and routing.

* its values: `groups_and_nodes`; on disk: `hierarchy_file`
* built (`build`): `leaves` → `partition` by metadata → `membership` where that is missing or does not fit
* grown: `tree`, by `clustering` and `summaries`; `kept_trees` between builds; measured and mended: `repair`
* searched: `router`; searched, read and looked at: `index`
"""

"""The hierarchy of an index of kind `hierarchy`: groups by metadata with soft membership, a tree of summaries in each, and routing.

* its values: `groups_and_nodes`; on disk: `hierarchy_file`
* built (`build`): `leaves` → `partition` by metadata → `membership` where that is missing, `founded_groups` where none fits; `profiles`
* grown: `tree`, by `clustering` and `summaries` (`summary_support` tells what holds); `diagnosis` and `repair`; `kept_trees` between builds
* asked: `router`, `index`; looked at: `overview`
"""

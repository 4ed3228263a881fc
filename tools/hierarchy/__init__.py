"""The hierarchy of an index of kind `hierarchy`: groups by metadata with soft membership, a tree of summaries in each, and routing.

* its values: `leaves`; on disk: `hierarchy_file`
* built (`build`): `leaves` → `partition` by metadata, with membership where that is missing or does not fit
* grown: `tree`, by `clustering` and `summaries`; reused between builds; measured and mended: `repair`
* searched: `router`; searched, read and looked at: `index`
"""

__all__ = ["build", "index"]

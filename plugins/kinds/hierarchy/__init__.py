"""The hierarchy of an index of kind `hierarchy`: groups by metadata with soft membership, a tree of summaries in each, and routing.

* data types: `leaves`; on disk: `hierarchy_file`
* built (`build`): `partition` groups `leaves` by metadata, with soft membership where that is missing or does not fit
* trees: `tree` builds them by `clustering` and `summaries`; they are reused between builds; the build diagnoses and repairs groups
* searched: `router`; searched and displayed: `index`
"""

__all__ = ["build", "index"]

"""Evaluation: a run goes from its `order` over the `plan` and `indexing` to `asking` and `searching`, is scored, and kept as `rows`.

* a run: `run` has its stages; `variants` and `index_kinds` are what is compared in it, the `manifest` is what it is
* from data to figures: `load` reads a `dataset`, `scoring` uses the `metrics`
* a run read again: `results`, and the `report` on it; `judging` lets a model say which of two answers is better
"""

"""Evaluation: a run goes from its `order` over the `plan` and `indexing` to `asking` and `searching`, is scored, and kept as `rows`.

`run` does all of it; `load` reads data sets, `metrics` score, `results` are a run read again, and `report` shows it.
"""

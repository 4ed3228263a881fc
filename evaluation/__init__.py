"""Evaluate strategies: the `plan` of a run is carried out by `search`, `degraded_search` and `answering`, and kept as rows.

* a run: `run` has its stages, `variants` what it compares, the `manifest` its configuration;
  a `task` is one question with one variant, and gives a row
* from data to scores: `load` reads a `dataset`, `scoring` uses the `metrics`; `degraded_cells` lists what is measured on degraded metadata,
  `degraded_answers` makes questions and searches worse for strategies
* questions about an index of your own: `proposing` writes them to a `question_file`, with a model on passages of its `drawing`,
  or `by_rules`; `from_chat` takes what users rated
* `papers` to reproduce, as data
* `inspect` offers a strategy to inspect_ai, an evaluation framework
* reading a run: `results`, and the `report` on them; `judging` lets a model decide which of two answers
  is better, and `risk_control` bounds how often one is wrong
"""

__all__ = ["load", "metrics", "papers", "report", "results", "run"]

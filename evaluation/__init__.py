"""Evaluate strategies: the `plan` of a run is carried out by `search` and `answering`, and kept as rows.

* a run: `run` has its stages, `variants` what it compares, the `manifest` its configuration;
  a `task` is one question with one variant, and gives a row
* from data to scores: `load` reads a `dataset`, `metrics` score; `degraded` is what is made worse: metadata, questions and searches
* questions about an index of your own: `proposing` writes them to a `question_file`, with a model or `by_rules`
* `papers` to reproduce, as data
* `inspect` offers a strategy to inspect_ai, an evaluation framework
* reading a run: `results`, and the `report` on them; `judging` lets a model decide which of two answers
  is better, and `risk_control` bounds how often one is wrong
"""

__all__ = ["load", "metrics", "papers", "report", "results", "run"]

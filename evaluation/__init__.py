"""Evaluate strategies: the `plan` of a run is carried out by `search`, `degraded_search` and `answering`, and kept as rows.

* a run: `run` has its stages, `variants` what it compares, the `manifest` its configuration;
  a `task` is one question with one variant, and gives a row
* from data to scores: `load` reads a `dataset`, `scoring` uses the `metrics`; `degraded_cells` lists what is measured on degraded metadata
* questions about an index of your own: `proposing` adds them to a `question_file`, by a model on passages of a `drawing`, or `by_rules`;
  `from_chat` takes what users rated
* reading a run: `results`, and the `report` on them; `judging` lets a model decide which of two answers is better
"""

__all__ = ["load", "metrics", "report", "results", "run"]

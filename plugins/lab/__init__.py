"""Evaluate strategies: the `plan` of a run is executed by `search` and `answering`; results are stored as rows.

* a run: `run` has its stages, `variants` what it compares, the `manifest` its configuration;
  a `task` is one question with one variant and returns a row
* from data to scores: `load` reads a `dataset`, `metrics` score; `degraded` has robustness tests: degraded metadata, questions and searches
* questions about your own index: `proposing` writes them to a `question_file`, with a model or by rules
* `papers` declares the papers that can be reproduced
* `inspect` wraps a strategy as a solver of inspect_ai, an evaluation framework
* `inspection` shows the contents of an index
* `commands` of the command line; `prompts` of a judge and of a proposer of questions
* reading a run: `results`, and the `report` on them; `judging` compares answers with a model as judge,
  and `risk_control` finds confidence thresholds that bound the error rate
"""

__all__ = ["load", "metrics", "papers", "report", "results", "run"]

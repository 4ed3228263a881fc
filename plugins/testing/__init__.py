"""Tests of a corpus (`ramify test`), and checks of an answer that ask no model (`ramify verify`).

* `expectations` is the file of questions and of what must hold of their answers; `stored_results` is what is kept beside it
* `running` asks what a change can touch; `differences` compares two results; `reports` shows them
"""

__all__ = ["differences", "expectations", "reports", "running", "stored_results"]

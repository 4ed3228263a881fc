"""Check an answer without a model: its citations, its tree, and how the answer follows from it.

In reading order: `answer_file` reads an answer, `checks` are what is found out, `sources` checks citations and sentences against texts,
`following` computes an answer again from those it was combined from, `steps` checks the branches, `verify` does all of it.
"""

__all__ = ["answer_file", "checks", "following", "sources", "steps", "verify"]

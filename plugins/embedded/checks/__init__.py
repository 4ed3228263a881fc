"""Checks of text without a language model: whether passages support a sentence, and what other `versions` of a passage say.

`support` decides about a sentence, by its `claims`: the `facts` in the `statements` of passages; `contradiction` compares two sentences.
"""

__all__: list[str] = []

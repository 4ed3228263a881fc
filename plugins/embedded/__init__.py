"""The embedded model: `answerer` for prompts, `extractive` replies, the `reader`, question `splitting` and `arithmetic`.

`relevance` offers the reader and the `checks` of sentences to the core; `encoders` are what all of it computes with.
"""

__all__: list[str] = []

"""The embedded model: `answerer` for prompts, `extractive` replies, the `reader`, question `splitting` and `arithmetic`."""

__all__: list[str] = []

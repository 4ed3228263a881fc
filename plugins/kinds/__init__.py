"""A plug-in: what an index can have beside its passages, a graph or a hierarchy, and how it is built.

`offers` is what the core finds. `knowledge` is the graph, `hierarchy` the groups and their trees; `building` builds them, by rules or with
a language model (`asking`, with its `prompts`, `settings` and own `examples`); `cost` estimates a build, `console` prints what came of it.
"""

__all__ = ["building", "cost"]

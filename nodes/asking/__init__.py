"""Model calls: `ask` is the only entry point, an `answerer` a `language_model` or the `embedded` one; `budget` counts and limits calls."""

__all__: list[str] = []

"""Asking a model: `ask` is the door, an `answerer` a `language_model` or the `embedded` one; `fit` chooses what is shown; `budget`."""

"""Readers of rich formats, each offered for its suffixes by an entry point of the group `ramify.readers` (in pyproject.toml).

* `html`, `pdf` (also pictures, read with OCR), `word`, `slides`, `opendocument`, `sheets`; what office formats share: `office`
* `epub`, `mail`, `archives` (ZIP and mailboxes), with their `members`
* `markdown` with HTML in it
* in several formats: `tables`, `raised` and lowered text, the forms of `numbers`
* `fidelity`, which compares what was read with a raw reading
"""

__all__: list[str] = []

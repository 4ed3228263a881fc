"""The embedded reader: a small neural model that extracts a question's answer from a passage, or reports that there is none.

`reading` has the readers and runs them: the small one, `multilingual` for Korean and, if selected, `large`; each is a `network` on an
encoder. `short_answers` chooses an answer from the passages of a `selection`, also from tables, forms and `listed_items`; `calibration`
computes its confidence.
"""

__all__: list[str] = []

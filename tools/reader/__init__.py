"""The embedded reader: a small neural model that finds a question's answer in a passage, or says that it is not there.

`reading` has the readers and runs them: the small one, for Korean that of `multilingual`, where it is chosen that of `large`, each a
`network` on an encoder. `short_answers` chooses an answer, also in tables and forms; `calibration` gives its confidence.
"""

__all__: list[str] = []

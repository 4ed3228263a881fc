"""The embedded reader: a small neural model that finds a question's answer in a passage, or says that it is not there.

`network` has its layers, on an encoder of `trunk`; `reading` loads and runs it, for Korean that of `multilingual`, where it is chosen
that of `large`; `short_answers` chooses an answer, `records` in tables and forms; `calibration` gives its confidence.
"""

__all__: list[str] = []

"""The embedded reader: a small neural model that finds a question's answer in a passage, or says that it is not there.

* the network: its `inputs`, `network`, `weights`, and the `predictions` that it makes
* what comes of it: `short_answers`, and by `calibration` how sure they are
"""

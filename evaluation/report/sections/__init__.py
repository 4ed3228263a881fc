"""The parts of a report; each is left out where the run has nothing to say in it.

`provenance` of the run, `answers`, `comparisons`, `degraded` metadata, and what was `published`.
"""

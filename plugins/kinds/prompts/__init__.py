"""The prompts of building an index: `extract` names, `report` on communities, `summarize_cluster`."""

from ramify.kinds.prompts.extract import CLAIMS, EXTRACT, GLEAN, Extracted
from ramify.kinds.prompts.report import DESCRIBE, REPORT, Reported
from ramify.kinds.prompts.summarize_cluster import SUMMARIZE_CLUSTER, SUPPORT, Summarized

__all__ = [
    "CLAIMS",
    "DESCRIBE",
    "EXTRACT",
    "GLEAN",
    "REPORT",
    "SUMMARIZE_CLUSTER",
    "SUPPORT",
    "Extracted",
    "Reported",
    "Summarized",
]

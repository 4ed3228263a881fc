"""Reports: a run as Markdown and as one page, and two runs compared."""

from ramify.evaluation.report.build import write_report
from ramify.evaluation.report.comparing import compare, compare_page

__all__ = ["compare", "compare_page", "write_report"]

"""Reports: a run as Markdown and as one HTML page, and two runs compared.

`blocks` and `plots` are what it consists of, `writers` write it; the sections are in `answers`, `degraded` and `degraded_answers`,
those on provenance in `writers`; `comparing` is the report on two runs, or on a run and published figures.
"""

from pathlib import Path

from ramify.evaluation.report._answers import ablations, against_reference, at_a_glance, calibration, kinds, of_dataset, sweeps
from ramify.evaluation.report._blocks import ReportSection, sections_of
from ramify.evaluation.report._comparing import compare, compare_page, published
from ramify.evaluation.report._degraded import degraded
from ramify.evaluation.report._degraded_answers import degraded_answers
from ramify.evaluation.report.writers import failures, markdown, page, replies, what_was_run
from ramify.evaluation.results import Run, read_run
from ramify.tools.new_files import file_mode, write_whole

__all__ = ["compare", "compare_page", "write_report"]


def write_report(folder: Path) -> None:
    """Write report.md and report.html of a run beside its results."""
    run = read_run(folder)
    title = f"{', '.join(run.datasets)}: {', '.join(dict.fromkeys(strategy for _, strategy, _ in run.answered or run.groups))}"
    parts = sections(run)
    write_whole(markdown(title, parts), folder / "report.md", file_mode(folder))
    write_whole(page(run, title, parts), folder / "report.html", file_mode(folder))


def sections(run: Run) -> list[ReportSection]:
    """Return the sections of the report that are not empty."""
    return sections_of(
        ("run", "What was run", what_was_run(run)),
        ("glance", "At a glance", at_a_glance(run)),
        *((f"set-{place}", dataset, of_dataset(run, dataset)) for place, dataset in enumerate(run.datasets, 1)),
        ("tests", *against_reference(run)),
        ("kinds", "Kinds of index", kinds(run)),
        ("degraded", "Degraded metadata", degraded(run)),
        ("worse", "Degraded questions and searches", degraded_answers(run)),
        ("sweeps", "Sweeps", sweeps(run)),
        ("ablations", "Ablations", ablations(run)),
        ("calibration", "Calibration", calibration(run)),
        ("published", "Published results", published(run)),
        ("replies", "Reply format", replies(run)),
        ("failures", "Failures", failures(run)),
    )

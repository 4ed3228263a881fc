"""Reports: a run as Markdown and as one page, and two runs compared.

* what a report is made of: `blocks`, `tables`, `plots` in their `chart_style`
* what it says: `sections`; `comparing` two runs, with `preferences` of a judge
* how it is written: `markdown`, `page`
"""

from pathlib import Path

from ramify.evaluation.report.blocks import Section, sections_of
from ramify.evaluation.report.comparing import compare, compare_page
from ramify.evaluation.report.markdown import markdown
from ramify.evaluation.report.page import page
from ramify.evaluation.report.sections.answers import at_a_glance, calibration, of_dataset
from ramify.evaluation.report.sections.comparisons import ablations, against_reference, kinds, sweeps
from ramify.evaluation.report.sections.degraded import degraded
from ramify.evaluation.report.sections.provenance import failures, replies, what_was_run
from ramify.evaluation.report.sections.published import published
from ramify.evaluation.results.run import Run, read_run
from ramify.tools.atomic_file import write_whole
from ramify.tools.new_files import file_mode

__all__ = ["compare", "compare_page", "write_report"]


def write_report(folder: Path) -> None:
    """Write report.md and report.html of a run beside its results."""
    run = read_run(folder)
    title = f"{', '.join(run.datasets)}: {', '.join(dict.fromkeys(strategy for _, strategy, _ in run.answered or run.groups))}"
    parts = sections(run)
    write_whole(markdown(title, parts), folder / "report.md", file_mode(folder))
    write_whole(page(run, title, parts), folder / "report.html", file_mode(folder))


def sections(run: Run) -> list[Section]:
    """Give the parts of the report that the run has something to say in."""
    return sections_of(
        ("run", "What was run", what_was_run(run)),
        ("glance", "At a glance", at_a_glance(run)),
        *((f"set-{place}", dataset, of_dataset(run, dataset)) for place, dataset in enumerate(run.datasets, 1)),
        ("tests", *against_reference(run)),
        ("kinds", "Kinds of index", kinds(run)),
        ("degraded", "Degraded metadata", degraded(run)),
        ("sweeps", "Along a setting", sweeps(run)),
        ("ablations", "What each part brings", ablations(run)),
        ("calibration", "What a confidence is worth", calibration(run)),
        ("published", "The papers' figures beside ours", published(run)),
        ("replies", "Form of the replies", replies(run)),
        ("failures", "Failures", failures(run)),
    )

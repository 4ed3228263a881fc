"""The report: from a run's folder to its two files."""

from pathlib import Path

from ramify.evaluation.report.blocks import Section
from ramify.evaluation.report.markdown import markdown
from ramify.evaluation.report.page import page
from ramify.evaluation.report.sections.answers import at_a_glance, of_dataset
from ramify.evaluation.report.sections.comparisons import ablations, against_reference, kinds
from ramify.evaluation.report.sections.confidence import calibration
from ramify.evaluation.report.sections.degraded import degraded
from ramify.evaluation.report.sections.provenance import failures, what_was_run
from ramify.evaluation.report.sections.published import published
from ramify.evaluation.report.sections.replies import replies
from ramify.evaluation.report.sections.sweeps import sweeps
from ramify.evaluation.results.run import Run, read_run
from ramify.tools.atomic_file import write_whole


def write_report(folder: Path) -> None:
    """Write report.md and report.html of a run beside its results."""
    run = read_run(folder)
    title = f"{', '.join(run.datasets)}: {', '.join(dict.fromkeys(strategy for _, strategy, _ in run.answered or run.groups))}"
    parts = sections(run)
    write_whole(markdown(title, parts), folder / "report.md")
    write_whole(page(run, title, parts), folder / "report.html")


def sections(run: Run) -> list[Section]:
    """Give the parts of the report that the run has something to say in."""
    parts = [
        what_was_run(run),
        at_a_glance(run),
        *(of_dataset(run, dataset, f"set-{place}") for place, dataset in enumerate(run.datasets, 1)),
        against_reference(run),
        kinds(run),
        degraded(run),
        sweeps(run),
        ablations(run),
        calibration(run),
        published(run),
        replies(run),
        failures(run),
    ]
    return [part for part in parts if part]

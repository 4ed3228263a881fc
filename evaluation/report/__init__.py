"""Reports: a run as Markdown and as one HTML page, two runs compared, and several side by side.

`blocks` and `plots` are what it consists of, `writers` write it; the sections are in `run` (what was run, costs, the worst trees,
failures), `answers` and `degraded`; `comparing` is the report on two runs and that on several, with the `preferences` of a judge;
`calibrated` that on a calibration; `paper` that on a paper, and a run beside published figures.
"""

from collections.abc import Sequence
from pathlib import Path

from ramify.evaluation.papers import Paper
from ramify.evaluation.papers.graph import read_graphs
from ramify.evaluation.report._answers import ablations, against_reference, at_a_glance, calibration, kinds, of_dataset, sweeps
from ramify.evaluation.report._blocks import sections_of
from ramify.evaluation.report._calibrated import write_calibration
from ramify.evaluation.report._comparing import compare, compare_page, read_side_by_side
from ramify.evaluation.report._degraded import degraded, degraded_answers
from ramify.evaluation.report._paper import about, claims, comparisons, deviations, joined, of_every, published, tables
from ramify.evaluation.report._preferences import pairs_of, proxies, token_tables, win_rates
from ramify.evaluation.report._run import costs, failures, replies, what_was_run, worst
from ramify.evaluation.report.writers import write
from ramify.evaluation.results import Run, read_run
from ramify.evaluation.task import Row
from ramify.tools.new_files import make_folder

__all__ = [
    "compare",
    "compare_page",
    "pairs_of",
    "read_reproduction",
    "write_calibration",
    "write_report",
    "write_reproduction",
    "write_side_by_side",
]

SIDE_BY_SIDE = "side-by-side"
"""The name of the report on several runs, without its ending."""


def write_report(folder: Path) -> None:
    """Write report.md and report.html of a run beside its results."""
    run = read_run(folder)
    title = f"{', '.join(run.datasets)}: {', '.join(dict.fromkeys(strategy for _, strategy, _ in run.answered or run.groups))}"
    sections = sections_of(
        ("run", "What was run", what_was_run(run)),
        ("glance", "At a glance", at_a_glance(run)),
        ("costs", "Quality against cost", costs(run)),
        *((f"set-{place}", dataset, of_dataset(run, dataset)) for place, dataset in enumerate(run.datasets, 1)),
        ("tests", *against_reference(run)),
        ("kinds", "Kinds of index", kinds(run)),
        ("degraded", "Degraded metadata", degraded(run)),
        ("worse", "Degraded questions and searches", degraded_answers(run)),
        ("sweeps", "Sweeps", sweeps(run)),
        ("ablations", "Ablations", ablations(run)),
        ("calibration", "Calibration, and risk against coverage", calibration(run)),
        ("worst", "Ten worst trees", worst(run)),
        ("published", "Published results", published(run)),
        ("replies", "Reply format", replies(run)),
        ("failures", "Failures", failures(run)),
    )
    write(run, title, sections, folder / "report")


def write_side_by_side(folders: Sequence[Path], out: Path) -> Path:
    """Write the comparison of several runs as Markdown and as a page into a folder; return the page's path.

    UsageError if they have no questions in common.
    """
    run, sections = read_side_by_side(folders)
    make_folder(out)
    return write(run, f"{len(folders)} runs side by side: {', '.join(run.datasets)}", sections, out / SIDE_BY_SIDE)


def read_reproduction(folder: Path, paper: Paper) -> Run:
    """Return the runs of a paper below a folder, as one."""
    return joined(folder, {str(order.out): read_run(folder / order.out) for order in paper.runs})


def write_reproduction(folder: Path, paper: Paper, verdicts: Sequence[Row] | None = None) -> None:
    """Write report.md and report.html on a paper: its figures beside those of the runs below the folder, with a judge's verdicts."""
    run = read_reproduction(folder, paper)
    sections = sections_of(
        ("paper", "What was reproduced", about(paper, run)),
        ("deviations", "Where this differs from the paper", deviations(paper, run)),
        ("tables", "The paper's tables", of_every(tables(paper, run))),
        ("differences", "Differences and cost", of_every(comparisons(paper, run))),
        ("wins", "Win rates", win_rates(paper, run, verdicts)),
        ("proxies", "Counted without a judge", of_every(proxies(paper, run))),
        ("tokens", "Tokens and graphs", token_tables(paper, run, read_graphs(folder))),
        ("degraded", "Degraded metadata", of_every(degraded(run))),
        ("claims", "What the paper claims", claims(paper)),
        ("run", "What was run", of_every(what_was_run(run))),
        ("replies", "Reply format", replies(run)),
        ("failures", "Failures", of_every(failures(run))),
    )
    write(run, f"{paper.title}, reproduced", sections, folder / "report")

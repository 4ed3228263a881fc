"""Reports: a run as Markdown and as one HTML page, two runs compared, and several side by side.

`blocks` and `plots` are its elements, `writers` renders them; the sections are in `run` (what was run, costs, the worst trees,
failures), `answers` and `degraded`; `comparing` is the report on two runs and that on several, with the `preferences` of a judge;
`calibrated` the report on a calibration; `paper` the report on a reproduced paper, and a run compared with published figures.
"""

from collections.abc import Sequence
from pathlib import Path

from ramify.lab.papers import Paper
from ramify.lab.papers.graph import read_graphs
from ramify.lab.report._answers import (
    ablations_section,
    calibration_section,
    dataset_section,
    glance_section,
    kinds_section,
    reference_section,
    sweeps_section,
)
from ramify.lab.report._blocks import make_sections
from ramify.lab.report._calibrated import write_calibration
from ramify.lab.report._comparing import compare_runs, compare_runs_page, read_side_by_side
from ramify.lab.report._degraded import degraded_answers_section, degraded_metadata_section
from ramify.lab.report._paper import (
    claims_section,
    comparisons_section,
    deviations_section,
    merge_runs,
    paper_section,
    published_section,
    tables_section,
    with_all_results,
)
from ramify.lab.report._preferences import list_answer_pairs, proxies_section, tokens_section, win_rates_section
from ramify.lab.report._run import costs_section, failures_section, replies_section, run_section, worst_trees_section
from ramify.lab.report._writers import write_files
from ramify.lab.results import Run, read_run
from ramify.lab.task import Row
from ramify.tools.new_files import make_folder

__all__ = [
    "compare_runs",
    "compare_runs_page",
    "list_answer_pairs",
    "read_reproduction",
    "write_calibration",
    "write_report",
    "write_reproduction",
    "write_side_by_side",
]

SIDE_BY_SIDE_STEM = "side-by-side"
"""The file name of the report on several runs, without its suffix."""


def write_report(folder: Path) -> None:
    """Write report.md and report.html of a run into its folder."""
    run = read_run(folder)
    title = f"{', '.join(run.datasets)}: {', '.join(dict.fromkeys(strategy for _, strategy, _ in run.answered or run.groups))}"
    sections = make_sections(
        ("glance", "At a glance", glance_section(run)),
        ("run", "What was run", run_section(run)),
        ("costs", "Quality against cost", costs_section(run)),
        *((f"set-{place}", dataset, dataset_section(run, dataset)) for place, dataset in enumerate(run.datasets, 1)),
        ("tests", *reference_section(run)),
        ("kinds", "Kinds of index", kinds_section(run)),
        ("degraded", "Degraded metadata", degraded_metadata_section(run)),
        ("worse", "Degraded questions and searches", degraded_answers_section(run)),
        ("sweeps", "Sweeps", sweeps_section(run)),
        ("ablations", "Ablations", ablations_section(run)),
        ("calibration", "Calibration, and risk against coverage", calibration_section(run)),
        ("worst", "Ten worst trees", worst_trees_section(run)),
        ("published", "Published results", published_section(run)),
        ("replies", "Reply format", replies_section(run)),
        ("failures", "Failures", failures_section(run)),
    )
    write_files(run, title, sections, folder / "report")


def write_side_by_side(folders: Sequence[Path], out: Path) -> Path:
    """Write the comparison of several runs as Markdown and as a page into a folder; return the page's path.

    UsageError if they have no questions in common.
    """
    run, sections = read_side_by_side(folders)
    make_folder(out)
    return write_files(run, f"{len(folders)} runs side by side: {', '.join(run.datasets)}", sections, out / SIDE_BY_SIDE_STEM)


def read_reproduction(folder: Path, paper: Paper) -> Run:
    """Return the runs of a paper below a folder, merged into one."""
    return merge_runs(folder, {str(options.out): read_run(folder / options.out) for options in paper.runs})


def write_reproduction(folder: Path, paper: Paper, verdicts: Sequence[Row] | None = None) -> None:
    """Write report.md and report.html on a paper: its figures and those of the runs below the folder, with a judge's verdicts."""
    run = read_reproduction(folder, paper)
    sections = make_sections(
        ("paper", "What was reproduced", paper_section(paper, run)),
        ("deviations", "Where this differs from the paper", deviations_section(paper, run)),
        ("tables", "The paper's tables", with_all_results(tables_section(paper, run))),
        ("differences", "Differences and cost", with_all_results(comparisons_section(paper, run))),
        ("wins", "Win rates", win_rates_section(paper, run, verdicts)),
        ("proxies", "Counted without a judge", with_all_results(proxies_section(paper, run))),
        ("tokens", "Tokens and graphs", tokens_section(paper, run, read_graphs(folder))),
        ("degraded", "Degraded metadata", with_all_results(degraded_metadata_section(run))),
        ("worse", "Degraded questions and searches", with_all_results(degraded_answers_section(run))),
        ("claims", "What the paper claims", claims_section(paper)),
        ("run", "What was run", with_all_results(run_section(run))),
        ("replies", "Reply format", replies_section(run)),
        ("failures", "Failures", with_all_results(failures_section(run))),
    )
    write_files(run, f"{paper.title}, reproduced", sections, folder / "report")

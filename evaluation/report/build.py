"""The report: from a run's folder to its two files."""

from pathlib import Path

from ramify.evaluation.report.beside import published
from ramify.evaluation.report.blocks import Block, Plot, Section
from ramify.evaluation.report.calibration_section import calibration
from ramify.evaluation.report.degraded_section import degraded
from ramify.evaluation.report.figures import drawn
from ramify.evaluation.report.html import html
from ramify.evaluation.report.kinds_section import kinds
from ramify.evaluation.report.markdown import markdown
from ramify.evaluation.report.provenance import failures, what_was_run
from ramify.evaluation.report.reading import read_run
from ramify.evaluation.report.reference import against_reference
from ramify.evaluation.report.replies_section import replies
from ramify.evaluation.report.run import Run
from ramify.evaluation.report.strategies import at_a_glance, of_dataset
from ramify.evaluation.report.variants_section import ablations, sweep_tables, sweep_words, sweeps
from ramify.tools.atomic_file import write_whole

REPORTS = ("report.md", "report.html")


def write_report(folder: Path) -> None:
    """Write report.md and report.html of a run beside its results."""
    run = read_run(folder)
    title = f"{', '.join(run.datasets)}: {', '.join(dict.fromkeys(strategy for _, strategy, _ in run.answered or run.groups))}"
    parts = sections(run)
    for name, text in zip(REPORTS, (markdown(title, parts), html(run, title, parts)), strict=True):
        write_whole(text, folder / name)


def sections(run: Run) -> list[Section]:
    """Give the parts of the report that the run has something to say in."""
    parts = [
        what_was_run(run),
        *_main(run),
        *(of_dataset(run, dataset, f"set-{place}") for place, dataset in enumerate(run.datasets, 1)),
        against_reference(run),
        kinds(run),
        degraded(run),
        _sweeps(run),
        ablations(run),
        calibration(run),
        published(run),
        replies(run),
        failures(run),
    ]
    return [part for part in parts if part]


def _main(run: Run) -> list[Section]:
    """Show every strategy on every data set in one table and two drawings; nothing where nothing was scored."""
    if not run.scored:
        return []
    table = at_a_glance(run)
    asked = {dataset: found for dataset in run.scored if (found := run.of(dataset))}

    drawings = [
        Plot(drawn("plots.answers", asked), "Answers: EM (filled) and F1 (hollow) of each strategy, with 95 % intervals."),
        Plot(
            drawn("plots.pareto", asked),
            "Quality against cost: the dashed line joins the strategies that no cheaper one equals. Figures: the tables of each data set.",
        ),
    ]
    return [Section("glance", "At a glance", [table, *drawings])]


def _sweeps(run: Run) -> Section | None:
    """Draw the curves of what was swept, with their figures."""
    found = sweeps(run)
    if not found:
        return None
    kinds = list(dict.fromkeys((one.strategy, one.setting) for one in found))
    blocks: list[Block] = [sweep_words()]
    for number, (strategy, setting) in enumerate(kinds):
        curves = [one for one in found if (one.strategy, one.setting) == (strategy, setting)]
        blocks += [
            Plot(
                drawn("curves.sweep", curves, f"sweep-{number}"),
                f"{strategy} along {setting}: answers and cost, with 95 % intervals; a line a data set.",
            ),
            *sweep_tables(curves),
        ]
    return Section("sweeps", "Along a setting", blocks)

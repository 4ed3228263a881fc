"""Every strategy against the one that retrieves once and answers."""

from ramify.evaluation.report.blocks import Cell, Section, Where, Words
from ramify.evaluation.report.paired import Contest, common, paired_table
from ramify.evaluation.report.run import Run

REFERENCE = "naive"


def against_reference(run: Run) -> Section | None:
    """Compare every strategy with the reference, on every data set; none where nothing was scored."""
    names = [strategy for dataset in run.scored for strategy in run.of(dataset)]
    if not names:
        return None
    reference = REFERENCE if REFERENCE in names else names[0]
    contests = [contest for dataset in run.scored for contest in _contests(run, dataset, reference)]
    if not contests:
        return Section("tests", "Differences", [Words("There is only one strategy, so there is nothing to compare.")])
    note = f"The strategy less {reference}, in points, on the questions both were asked."
    table = paired_table("Paired tests", contests, ("data set", "strategy"), reference, note, Where(variant="").jq)
    return Section("tests", f"Differences from {reference}", [table])


def _contests(run: Run, dataset: str, reference: str) -> list[Contest]:
    asked = run.of(dataset)
    found = []
    for strategy, lines in asked.items():
        where = Where(dataset, strategy, "", beside=(reference, ""))
        if strategy != reference and (pairs := common(lines, asked.get(reference, []))):
            found.append(Contest([Cell(dataset), Cell(strategy, where=where, head=True)], pairs, where))
    return found

"""Calibration: what a stated confidence is worth."""

from collections.abc import Sequence

import numpy as np

from ramify.evaluation.metrics.calibration import expected_calibration_error, risk_coverage
from ramify.evaluation.report.blocks import Cell, Column, Plot, Section, Table, Where, words
from ramify.evaluation.results.columns import CALIBRATION
from ramify.evaluation.results.measures import confident, percent
from ramify.evaluation.results.run import Line, Run

CAPTION = (
    "Left: the share of right answers (EM) by confidence; a calibrated strategy follows the diagonal. Right: the share of wrong answers "
    "among those given, when only the most confident are given; lower is better."
)
COLUMNS = (
    *words("data set", "strategy"),
    Column("n", "questions that were answered, Unknown among them"),
    Column("confidence", "mean confidence"),
    Column("right", "share of right answers (EM)"),
    Column("ECE", CALIBRATION.meaning),
    Column("AURC", "area under the risk-coverage curve: the mean share of wrong answers over all thresholds; less is better"),
)


def calibration(run: Run) -> Section | None:
    """Show reliability and risk; none where no answer has a confidence."""
    asked = {dataset: {name: lines for name, lines in run.of(dataset).items() if confident(lines)[1]} for dataset in run.datasets}
    asked = {dataset: found for dataset, found in asked.items() if found}
    if not asked:
        return None
    rows = [_row(dataset, name, lines) for dataset, found in asked.items() for name, lines in found.items()]
    plot = Plot.drawn(CAPTION, "calibration", asked)
    return Section("calibration", "What a confidence is worth", [plot, Table("Calibration", COLUMNS, rows, lines=Where(variant="").jq)])


def _row(dataset: str, name: str, lines: Sequence[Line]) -> list[Cell]:
    confidences, right = confident(lines)
    where = Where(dataset, name, "")
    figures = [
        float(np.mean(confidences)),
        float(np.mean(right)),
        expected_calibration_error(confidences, right),
        risk_coverage(confidences, right).area,
    ]
    cells = [Cell(percent(figure), where=where) for figure in figures]
    return [Cell(dataset), Cell(name, where=where, head=True), Cell(str(len(right)), where=where), *cells]

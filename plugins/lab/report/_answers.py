"""Sections on every strategy and data set: scores, calibration, paired tests, ablations, kinds of index, and sweeps."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ramify.lab import metrics
from ramify.lab._degraded import DEGRADATION_KINDS
from ramify.lab._variants import KIND_OPTION, PLAIN_KIND, is_kind_variant
from ramify.lab.report._blocks import (
    EMPTY_CELL,
    Block,
    BulletList,
    Cell,
    Column,
    Comparison,
    LineFilter,
    LineGroup,
    Plot,
    Table,
    TextBlock,
    estimate_cell,
    measure_cells,
    measure_table,
    paired_table,
    text_columns,
)
from ramify.lab.results import GroupKey, ResultLine, Run, measures
from ramify.lab.results.measures import (
    ComparedScores,
    Measure,
    all_gold_found,
    answer_score,
    confidences_and_outcomes,
    estimate_mean,
    format_percent,
    pair_lines,
    retrieval_score,
)

GUESS_SCORES: dict[str, Callable[[str, list[str]], float]] = {
    measures.EM.title: metrics.exact_match,
    measures.F1.title: metrics.token_f1,
    measures.CONTAINMENT.title: metrics.containment,
    measures.OFFICIAL.title: lambda answer, golds: metrics.official_multihop_rag(answer, golds[0]),
}
"""The score of a baseline's guess, by title of the column."""
CALIBRATION_CAPTION = (
    "Left: the share of right answers (EM) by confidence; a calibrated strategy follows the diagonal. Right: the share of wrong answers "
    "among those given, when only the most confident are given; lower is better, and AURC is the area below."
)
CALIBRATION_COLUMNS = (
    *text_columns("data set", "strategy"),
    Column("n", "questions that were answered, Unknown among them"),
    Column("confidence", "mean confidence"),
    Column("right", "share of right answers (EM)"),
    Column("ECE", measures.CALIBRATION.meaning),
    Column("AURC", "area under the risk-coverage curve: the mean share of wrong answers over all thresholds; less is better"),
)


def glance_section(run: Run) -> Iterator[Block]:
    """Report EM and F1 of every strategy on every data set, in a table and two plots."""
    if not run.datasets_with_gold:
        return
    lines_by_dataset = {dataset: run.of(dataset) for dataset in run.datasets_with_gold}
    columns: dict[str, dict[str, Cell]] = {}
    for dataset, strategies in lines_by_dataset.items():
        for measure in (measures.EM, measures.F1):
            cells = measure_cells(measure, [LineGroup.of((dataset, name, ""), lines) for name, lines in strategies.items()])
            columns[f"{dataset} {measure.title}"] = dict(zip(strategies, cells, strict=True))
    names = dict.fromkeys(name for strategies in lines_by_dataset.values() for name in strategies)
    rows = [[Cell(name, head=True), *(cells.get(name, Cell(EMPTY_CELL)) for cells in columns.values())] for name in names]
    yield Table("EM and F1", [*map(Column, ("strategy", *columns))], rows, lines=LineFilter(variant="").jq)
    yield Plot.draw("Answers: EM (filled) and F1 (hollow) of each strategy, with 95 % intervals.", "plot_answers", lines_by_dataset)


def dataset_section(run: Run, dataset: str) -> Iterator[Block]:
    """Report the caveats of a data set and its tables."""
    yield BulletList([("Caveat", str(caveat)) for caveat in run.dataset_entry(dataset).get("caveats") or ()])
    yield from (table for table in _dataset_tables(run, dataset) if len(table.columns) > 2)


def _dataset_tables(run: Run, dataset: str) -> Iterator[Table]:
    lines_by_strategy, lines = run.of(dataset), LineFilter(dataset, variant="").jq
    groups = [LineGroup.of((dataset, strategy, ""), own_lines) for strategy, own_lines in lines_by_strategy.items()]
    answers = measure_table(
        "Answers", groups, measures.FACT_ANSWER_MEASURES if run.counts_facts(dataset) else measures.ANSWER_MEASURES, lines=lines
    )
    yield _with_priors(
        answers,
        list({line.row["id"]: line for own_lines in lines_by_strategy.values() for line in own_lines if line.row.get("gold")}.values()),
    )
    searches = [LineGroup.of(key, own_lines) for key, own_lines in run.search_only_groups.items() if key[0] == dataset]
    if searching := [group for group in [*groups, *searches] if any(line.has_retrieval_scores for line in group.lines)]:
        note = (
            "In the order in which the last call is given the passages; “search” asks the index the whole question once, without a model."
            + (" Gold are facts: a passage counts that contains one." if run.counts_facts(dataset) else "")
        )
        yield measure_table("Retrieval", searching, measures.RETRIEVAL_MEASURES, note=note, lines=lines)
    yield measure_table("Cost of a question", groups, measures.COST_MEASURES, note="Of the questions that did not fail.", lines=lines)
    for field, title, unknown in (("type", "type of question", "no type"), ("hops", "number of hops", "unknown")):
        parts = sorted({getattr(line, field) for own_lines in lines_by_strategy.values() for line in own_lines})
        if len(parts) > 1:
            titles = {part: str(part or unknown) for part in parts}
            yield from (
                _table_by_property(measure, lines_by_strategy, dataset, field, titles, title) for measure in (measures.EM, measures.F1)
            )


def _table_by_property(
    measure: Measure, lines_by_strategy: Mapping[str, Sequence[ResultLine]], dataset: str, field: str, parts: Mapping[Any, str], title: str
) -> Table:
    """Return a table of a measure with a column for each value of a property of the lines."""
    columns, rows = [], [[Cell(name, where=LineFilter(dataset, name, ""), head=True)] for name in lines_by_strategy]
    for part, part_title in parts.items():
        part_lines = {name: [line for line in lines if getattr(line, field) == part] for name, lines in lines_by_strategy.items()}
        columns.append(Column(f"{part_title} ({max(map(len, part_lines.values()))})"))
        groups = [LineGroup(name, lines, replace(LineFilter(dataset, name, ""), **{field: part})) for name, lines in part_lines.items()]
        rows = [[*row, cell] for row, cell in zip(rows, measure_cells(measure, groups), strict=True)]
    note = "Hops: as the type says, else the number of gold documents." if field == "hops" else ""
    return Table(f"{measure.title} by {title}", [Column("strategy"), *columns], rows, note, LineFilter(dataset, variant="").jq)


def _with_priors(table: Table, questions: Sequence[ResultLine]) -> Table:
    """Add majority baselines, scored like strategies, to a table of answers."""
    if not questions:
        return table
    golds, types = [line.row["gold"] for line in questions], [line.type for line in questions]
    accepted = [[line.row["gold"], *(line.row.get("aliases") or [])] for line in questions]
    guesses = {"majority answer": [metrics.most_frequent_answer(golds)] * len(golds)}
    if len(set(types)) > 1:
        guesses["majority by type"] = metrics.majority_by_type(golds, types)
    rows = [*table.rows]
    for name, answers in guesses.items():
        cells = [Cell(name, head=True), Cell(str(len(golds)))]
        for column in table.columns[2:]:
            if column.title in GUESS_SCORES:
                values = [GUESS_SCORES[column.title](guess, right) for guess, right in zip(answers, accepted, strict=True)]
                cells.append(estimate_cell(measures.EM, estimate_mean(values)))
            else:
                cells.append(Cell(EMPTY_CELL))
        rows.append(cells)
    note = "Priors know the gold answers of these very questions: the most frequent of all, and the most frequent of each type."
    return replace(table, rows=rows, note=note)


def calibration_section(run: Run) -> Iterator[Block]:
    """Report reliability and risk, if answers have a confidence."""
    lines_by_dataset: dict[str, dict[str, list[ResultLine]]] = {}
    rows = []
    for key, lines in (
        (key, lines)
        for dataset in run.datasets
        for key, lines in run.unchanged_lines(dataset).items()
        if confidences_and_outcomes(lines)[1]
    ):
        dataset, name = key[0], " ".join(key[1:]).strip()
        lines_by_dataset.setdefault(dataset, {})[name] = lines
        (confidences, right), where = confidences_and_outcomes(lines), LineFilter(*key)
        error, area = metrics.expected_calibration_error(confidences, right), metrics.risk_coverage(confidences, right).area
        means = (float(np.mean(confidences)), float(np.mean(right)), error, area)
        figures = [str(len(right)), *map(format_percent, means)]
        rows.append([Cell(dataset), Cell(name, where=where, head=True), *(Cell(figure, where=where) for figure in figures)])
    if rows:
        yield Plot.draw(CALIBRATION_CAPTION, "plot_calibration", lines_by_dataset)
        yield Table(
            "Calibration", CALIBRATION_COLUMNS, rows, lines="" if any("=" in row[1].text for row in rows) else LineFilter(variant="").jq
        )


REFERENCE_STRATEGY = "naive"
RETRIEVAL_SCORES = ComparedScores(
    (
        ("all@5", retrieval_score("all_gold@5")),
        ("recall@5", retrieval_score("recall@5")),
        ("all@10", retrieval_score("all_gold@10")),
        ("all gold", all_gold_found),
    ),
    ("found all gold among the first 5", retrieval_score("all_gold@5")),
    browsable=False,
)
KIND_ANSWER_SCORES = ComparedScores(
    (("EM", answer_score("em")), ("F1", answer_score("f1"))), ("answered correctly (EM)", answer_score("em"))
)
SWEEP_MEASURES = (measures.EM, measures.F1, measures.FORGETTING, measures.MODEL_CALLS, measures.WALL_SECONDS)
SweepCurve = list[tuple[str, list[ResultLine]]]
"""The sorted values of a setting with their lines, on the questions common to all values."""


def reference_section(run: Run) -> tuple[str, list[Block]]:
    """Return title and blocks of the comparison of every strategy with the reference, on every data set."""
    keys = [(dataset, strategy, "") for dataset in run.datasets_with_gold for strategy in run.of(dataset)]
    if not keys:
        return "", []
    names = [strategy for _, strategy, _ in keys]
    reference = REFERENCE_STRATEGY if REFERENCE_STRATEGY in names else names[0]
    comparisons = [contest for key in keys if key[1] != reference for contest in _compare_groups(run, key, reference, key[:2])]
    if not comparisons:
        return "Differences", [TextBlock("There is only one strategy: nothing to compare.")]
    note = f"The strategy less {reference}, in points, on the questions both were asked."
    table = paired_table("Paired tests", comparisons, ("data set", "strategy"), reference, note, LineFilter(variant="").jq)
    return f"Differences from {reference}", [table]


def ablations_section(run: Run) -> Iterator[Block]:
    """Compare each strategy with itself without a part, on the common questions."""
    comparisons = _compare_with_unchanged(run, [key for key in run.answered if key[2] and "=" not in key[2]], calls=True)
    if comparisons:
        note = "The variant less the strategy as it is, in points: below zero, the part helps. Calls: with the part, and without it."
        lines = "jq -c 'select(.variant != \"\")' results.jsonl"
        yield paired_table("Ablations", comparisons, ("data set", "strategy", "variant"), "the whole", note, lines, "calls")


def kinds_section(run: Run) -> Iterator[Block]:
    """Compare the kinds of index for each strategy and search, if there are several."""
    further = [key for key in run.groups if is_kind_variant(key[2])]
    if not further:
        return
    default_kind = str((run.manifest.get("index_kinds") or [PLAIN_KIND])[0])
    yield TextBlock(f"What is found and answered in another kind of index is compared with {default_kind}, on the same questions.")
    lead_titles = ("data set", "strategy", "kind")
    lines = f'jq -c \'select(.variant == "" or (.variant | startswith("{KIND_OPTION}=")))\' results.jsonl'
    if comparisons := _compare_with_unchanged(run, [key for key in further if any(line.has_retrieval_scores for line in run.groups[key])]):
        note = f"The kind less {default_kind}, in points. All gold: among all that was found and, of a strategy, shown to the model."
        yield paired_table("What is found", comparisons, lead_titles, default_kind, note, lines, scores=RETRIEVAL_SCORES)
        yield from _kind_tables(run, further, default_kind, "retrieval", (*measures.RETRIEVAL_MEASURES, measures.ALL_GOLD))
    if answered := [key for key in further if key in run.answered and any(line.has_gold for line in run.groups[key])]:
        note = f"The kind less {default_kind}, in points."
        yield paired_table(
            "What is answered", _compare_with_unchanged(run, answered), lead_titles, default_kind, note, lines, scores=KIND_ANSWER_SCORES
        )
        yield from _kind_tables(
            run, answered, default_kind, "answers", (measures.EM, measures.F1, measures.FORGETTING, *measures.COST_MEASURES)
        )


def _kind_tables(run: Run, further: Sequence[GroupKey], default_kind: str, what: str, measures: Sequence[Measure]) -> Iterator[Table]:
    """Report each strategy on the run's own kind of index and on the others, one table per data set."""
    for dataset in dict.fromkeys(key[0] for key in further):
        strategies = {strategy for name, strategy, _ in further if name == dataset}
        groups = [
            LineGroup.of(key, lines, f"{key[1]}, {_kind_name(key[2]) or default_kind}")
            for key, lines in run.groups.items()
            if key[0] == dataset and key[1] in strategies and (not key[2] or is_kind_variant(key[2]))
        ]
        yield measure_table(f"{dataset}: {what} by kind of index", groups, measures)


def _kind_name(variant: str) -> str:
    return variant.removeprefix(f"{KIND_OPTION}=")


def _compare_with_unchanged(run: Run, variants: Sequence[GroupKey], calls: bool = False) -> list[Comparison]:
    """Return the comparisons of variants with their unchanged strategies."""
    return [comparison for key in variants for comparison in _compare_groups(run, key, key[1], (key[0], key[1], _kind_name(key[2])), calls)]


def _compare_groups(run: Run, key: GroupKey, other: str, names: Sequence[str], calls: bool = False) -> Iterator[Comparison]:
    """Yield the comparison of a group with an unchanged strategy, if they have common questions."""
    if pairs := pair_lines(run.groups[key], run.groups.get((key[0], other, ""), [])):
        format_calls = measures.MODEL_CALLS.format
        without, unchanged = (measures.MODEL_CALLS.of([pair[place] for pair in pairs]) for place in (0, 1))
        calls_text = f"{format_calls(unchanged.value)} → {format_calls(without.value)}" if without and unchanged else EMPTY_CELL
        yield Comparison(names, pairs, LineFilter(*key, compared_with=(other, "")), calls_text if calls else "")


def sweeps_section(run: Run) -> Iterator[Block]:
    """Report the curves of sweeps, with their tables."""
    swept = {key: curves for key, curves in sweep_curves(run).items() if key[1] not in DEGRADATION_KINDS}
    if swept:
        yield TextBlock("Each curve is on the questions that every value of the setting was asked, so that its points can be compared.")
    for number, ((strategy, setting), curves) in enumerate(swept.items()):
        caption = f"{strategy} along {setting}: answers and cost, with 95 % intervals; a line a data set."
        values = sorted({value for curve in curves.values() for value, _ in curve}, key=_value_sort_key)
        yield Plot.draw(caption, "plot_sweep", curves, setting, values, f"sweep-{number}")
        for dataset, curve in curves.items():
            groups = [LineGroup.of((dataset, strategy, f"{setting}={value}"), lines, value) for value, lines in curve]
            first = LineFilter(dataset, strategy, f"{setting}={curve[0][0]}")
            yield measure_table(f"{strategy}: {setting} on {dataset}", groups, SWEEP_MEASURES, lead=setting, lines=first.jq)


def sweep_curves(run: Run) -> dict[tuple[str, str], dict[str, SweepCurve]]:
    """Return the curves by strategy and setting, then by data set, for settings with several values."""
    points_by_setting: dict[tuple[str, str, str], SweepCurve] = {}
    for (dataset, strategy, variant), lines in run.answered.items():
        setting, equals, value = variant.partition("=")
        if equals and not is_kind_variant(variant):
            points_by_setting.setdefault((strategy, setting, dataset), []).append((value, lines))
    swept: dict[tuple[str, str], dict[str, SweepCurve]] = {}
    for (strategy, setting, dataset), points in points_by_setting.items():
        if len(points) > 1:
            ids = set.intersection(*({line.row["id"] for line in lines} for _, lines in points))
            shared = [(value, [line for line in lines if line.row["id"] in ids]) for value, lines in points]
            swept.setdefault((strategy, setting), {})[dataset] = sorted(shared, key=lambda point: _value_sort_key(point[0]))
    return swept


def _value_sort_key(value: str) -> tuple[float, str]:
    """Return the sort key of a value: numeric if it is a number."""
    try:
        return float(value), ""
    except ValueError:
        return float("inf"), value

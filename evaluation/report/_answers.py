"""Sections on every strategy and data set: scores, calibration, paired tests, ablations, kinds of index, and sweeps."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ramify.evaluation import metrics
from ramify.evaluation.degraded import HOWS
from ramify.evaluation.report._blocks import (
    NOTHING,
    Block,
    Cell,
    Column,
    Comparison,
    LineFilter,
    LineGroup,
    Plot,
    Points,
    Table,
    Words,
    figure,
    measure_cells,
    measure_table,
    paired_table,
    words,
)
from ramify.evaluation.results import Key, ResultLine, Run, measures
from ramify.evaluation.results.measures import Measure, Scores, all_found, answer_score, common, confident, mean, percent, retrieval_score
from ramify.evaluation.variants import OPTION, PLAIN, is_named

SCORES: dict[str, Callable[[str, list[str]], float]] = {
    measures.EM.title: metrics.exact_match,
    measures.F1.title: metrics.token_f1,
    measures.CONTAINED.title: metrics.containment,
    measures.OFFICIAL.title: lambda answer, golds: metrics.official_multihop_rag(answer, golds[0]),
}
"""How a guess is scored, by the title of the column."""
CAPTION = (
    "Left: the share of right answers (EM) by confidence; a calibrated strategy follows the diagonal. Right: the share of wrong answers "
    "among those given, when only the most confident are given; lower is better, and AURC is the area below."
)
CONFIDENCE = (
    *words("data set", "strategy"),
    Column("n", "questions that were answered, Unknown among them"),
    Column("confidence", "mean confidence"),
    Column("right", "share of right answers (EM)"),
    Column("ECE", measures.CALIBRATION.meaning),
    Column("AURC", "area under the risk-coverage curve: the mean share of wrong answers over all thresholds; less is better"),
)


def at_a_glance(run: Run) -> Iterator[Block]:
    """Report EM and F1 of every strategy on every data set, in a table and two plots."""
    if not run.scored:
        return
    asked = {dataset: run.of(dataset) for dataset in run.scored}
    columns: dict[str, dict[str, Cell]] = {}
    for dataset, strategies in asked.items():
        for measure in (measures.EM, measures.F1):
            cells = measure_cells(measure, [LineGroup.of((dataset, name, ""), lines) for name, lines in strategies.items()])
            columns[f"{dataset} {measure.title}"] = dict(zip(strategies, cells, strict=True))
    names = dict.fromkeys(name for strategies in asked.values() for name in strategies)
    rows = [[Cell(name, head=True), *(cells.get(name, Cell(NOTHING)) for cells in columns.values())] for name in names]
    yield Table("EM and F1", [*map(Column, ("strategy", *columns))], rows, lines=LineFilter(variant="").jq)
    yield Plot.drawn("Answers: EM (filled) and F1 (hollow) of each strategy, with 95 % intervals.", "answers", asked)


def of_dataset(run: Run, dataset: str) -> Iterator[Block]:
    """Report the caveats of a data set and its tables."""
    yield Points([("Caveat", str(caveat)) for caveat in run.described(dataset).get("caveats") or ()])
    yield from (table for table in _tables(run, dataset) if len(table.columns) > 2)


def _tables(run: Run, dataset: str) -> Iterator[Table]:
    asked, lines = run.of(dataset), LineFilter(dataset, variant="").jq
    groups = [LineGroup.of((dataset, strategy, ""), found) for strategy, found in asked.items()]
    answers = measure_table("Answers", groups, measures.ANSWERS_BY_FACTS if run.by_facts(dataset) else measures.ANSWERS, lines=lines)
    yield _with_priors(answers, list({line.row["id"]: line for found in asked.values() for line in found if line.row.get("gold")}.values()))
    searches = [LineGroup.of(key, found) for key, found in run.searched.items() if key[0] == dataset]
    if searching := [group for group in [*groups, *searches] if any(line.ranked for line in group.lines)]:
        note = (
            "In the order in which the last call is given the passages; “search” asks the index the whole question once, without a model."
            + (" Gold are facts: a passage counts that contains one." if run.by_facts(dataset) else "")
        )
        yield measure_table("Retrieval", searching, measures.RETRIEVAL, note=note, lines=lines)
    yield measure_table("Cost of a question", groups, measures.COST, note="Of the questions that did not fail.", lines=lines)
    for field, title, unknown in (("type", "type of question", "no type"), ("hops", "number of hops", "unknown")):
        parts = sorted({getattr(line, field) for found in asked.values() for line in found})
        if len(parts) > 1:
            named = {part: str(part or unknown) for part in parts}
            yield from (_by_part(measure, asked, dataset, field, named, title) for measure in (measures.EM, measures.F1))


def _by_part(
    measure: Measure, asked: Mapping[str, Sequence[ResultLine]], dataset: str, field: str, parts: Mapping[Any, str], title: str
) -> Table:
    """Return a table with a column for each value of a property of the lines."""
    columns, rows = [], [[Cell(name, where=LineFilter(dataset, name, ""), head=True)] for name in asked]
    for part, told in parts.items():
        found = {name: [line for line in lines if getattr(line, field) == part] for name, lines in asked.items()}
        columns.append(Column(f"{told} ({max(map(len, found.values()))})"))
        groups = [LineGroup(name, lines, replace(LineFilter(dataset, name, ""), **{field: part})) for name, lines in found.items()]
        rows = [[*row, cell] for row, cell in zip(rows, measure_cells(measure, groups), strict=True)]
    note = "Hops: as the type says, else the number of gold documents." if field == "hops" else ""
    return Table(f"{measure.title} by {title}", [Column("strategy"), *columns], rows, note, LineFilter(dataset, variant="").jq)


def _with_priors(table: Table, questions: Sequence[ResultLine]) -> Table:
    """Add majority baselines, scored like strategies, to a table of answers."""
    if not questions:
        return table
    golds, types = [line.row["gold"] for line in questions], [line.type for line in questions]
    accepted = [[line.row["gold"], *(line.row.get("aliases") or [])] for line in questions]
    guesses = {"majority answer": [metrics.most_frequent(golds)] * len(golds)}
    if len(set(types)) > 1:
        guesses["majority by type"] = metrics.majority_by_type(golds, types)
    rows = [*table.rows]
    for name, given in guesses.items():
        cells = [Cell(name, head=True), Cell(str(len(golds)))]
        for column in table.columns[2:]:
            if column.title in SCORES:
                values = [SCORES[column.title](guess, right) for guess, right in zip(given, accepted, strict=True)]
                cells.append(figure(measures.EM, mean(values)))
            else:
                cells.append(Cell(NOTHING))
        rows.append(cells)
    note = "Priors know the gold answers of these very questions: the most frequent of all, and the most frequent of each type."
    return replace(table, rows=rows, note=note)


def calibration(run: Run) -> Iterator[Block]:
    """Report reliability and risk, if answers have a confidence."""
    asked: dict[str, dict[str, list[ResultLine]]] = {}
    rows = []
    for key, lines in ((key, lines) for dataset in run.datasets for key, lines in run.unchanged(dataset).items() if confident(lines)[1]):
        dataset, name = key[0], " ".join(key[1:]).strip()
        asked.setdefault(dataset, {})[name] = lines
        (sure, right), where = confident(lines), LineFilter(*key)
        error, area = metrics.expected_calibration_error(sure, right), metrics.risk_coverage(sure, right).area
        means = (float(np.mean(sure)), float(np.mean(right)), error, area)
        figures = [str(len(right)), *map(percent, means)]
        rows.append([Cell(dataset), Cell(name, where=where, head=True), *(Cell(figure, where=where) for figure in figures)])
    if rows:
        yield Plot.drawn(CAPTION, "calibration", asked)
        yield Table("Calibration", CONFIDENCE, rows, lines="" if any("=" in row[1].text for row in rows) else LineFilter(variant="").jq)


REFERENCE = "naive"
FOUND = Scores(
    (
        ("all@5", retrieval_score("all_gold@5")),
        ("recall@5", retrieval_score("recall@5")),
        ("all@10", retrieval_score("all_gold@10")),
        ("all gold", all_found),
    ),
    ("found all gold among the first 5", retrieval_score("all_gold@5")),
    browsed=False,
)
ANSWERED = Scores((("EM", answer_score("em")), ("F1", answer_score("f1"))), ("answered correctly (EM)", answer_score("em")))
SWEPT = (measures.EM, measures.F1, measures.FORGETTING, measures.CALLS, measures.SECONDS)
Curve = list[tuple[str, list[ResultLine]]]
"""The values of a setting in order, each with its lines, on the questions that all of them have."""


def against_reference(run: Run) -> tuple[str, list[Block]]:
    """Compare every strategy with the one that retrieves once, on every data set."""
    keys = [(dataset, strategy, "") for dataset in run.scored for strategy in run.of(dataset)]
    if not keys:
        return "", []
    names = [strategy for _, strategy, _ in keys]
    reference = REFERENCE if REFERENCE in names else names[0]
    contests = [contest for key in keys if key[1] != reference for contest in _contest(run, key, reference, key[:2])]
    if not contests:
        return "Differences", [Words("There is only one strategy: nothing to compare.")]
    note = f"The strategy less {reference}, in points, on the questions both were asked."
    table = paired_table("Paired tests", contests, ("data set", "strategy"), reference, note, LineFilter(variant="").jq)
    return f"Differences from {reference}", [table]


def ablations(run: Run) -> Iterator[Block]:
    """Compare each strategy with itself without a part, on the common questions."""
    contests = _with_itself(run, [key for key in run.answered if key[2] and "=" not in key[2]], calls=True)
    if contests:
        note = "The variant less the strategy as it is, in points: below zero, the part helps. Calls: with the part, and without it."
        lines = "jq -c 'select(.variant != \"\")' results.jsonl"
        yield paired_table("Ablations", contests, ("data set", "strategy", "variant"), "the whole", note, lines, "calls")


def kinds(run: Run) -> Iterator[Block]:
    """Compare each strategy and search with itself on the run's own kind of index, if there are several."""
    further = [key for key in run.groups if is_named(key[2])]
    if not further:
        return
    own = str((run.manifest.get("index_kinds") or [PLAIN])[0])
    yield Words(f"What is found and answered in another kind of index is compared with {own}, on the same questions.")
    leads = ("data set", "strategy", "kind")
    lines = f'jq -c \'select(.variant == "" or (.variant | startswith("{OPTION}=")))\' results.jsonl'
    if contests := _with_itself(run, [key for key in further if any(line.ranked for line in run.groups[key])]):
        note = f"The kind less {own}, in points. All gold: among all that was found and, of a strategy, shown to the model."
        yield paired_table("What is found", contests, leads, own, note, lines, scores=FOUND)
        yield from _by_kind(run, further, own, "retrieval", (*measures.RETRIEVAL, measures.GOLD))
    if answered := [key for key in further if key in run.answered and any(line.scored for line in run.groups[key])]:
        note = f"The kind less {own}, in points."
        yield paired_table("What is answered", _with_itself(run, answered), leads, own, note, lines, scores=ANSWERED)
        yield from _by_kind(run, answered, own, "answers", (measures.EM, measures.F1, measures.FORGETTING, *measures.COST))


def _by_kind(run: Run, further: Sequence[Key], own: str, what: str, measures: Sequence[Measure]) -> Iterator[Table]:
    """Report each strategy on the run's own kind of index and on the others, one table per data set."""
    for dataset in dict.fromkeys(key[0] for key in further):
        strategies = {strategy for name, strategy, _ in further if name == dataset}
        groups = [
            LineGroup.of(key, lines, f"{key[1]}, {_kind(key[2]) or own}")
            for key, lines in run.groups.items()
            if key[0] == dataset and key[1] in strategies and (not key[2] or is_named(key[2]))
        ]
        yield measure_table(f"{dataset}: {what} by kind of index", groups, measures)


def _kind(variant: str) -> str:
    return variant.removeprefix(f"{OPTION}=")


def _with_itself(run: Run, variants: Sequence[Key], calls: bool = False) -> list[Comparison]:
    """Pair the lines of variants with those of their unchanged strategies."""
    return [one for key in variants for one in _contest(run, key, key[1], (key[0], key[1], _kind(key[2])), calls)]


def _contest(run: Run, key: Key, other: str, names: Sequence[str], calls: bool = False) -> Iterator[Comparison]:
    """Pair the lines of a group with those of an unchanged strategy, if they have common questions."""
    if pairs := common(run.groups[key], run.groups.get((key[0], other, ""), [])):
        shown = measures.CALLS.shown
        without, whole = (measures.CALLS.of([pair[place] for pair in pairs]) for place in (0, 1))
        told = f"{shown(whole.value)} → {shown(without.value)}" if without and whole else NOTHING
        yield Comparison(names, pairs, LineFilter(*key, beside=(other, "")), told if calls else "")


def sweeps(run: Run) -> Iterator[Block]:
    """Report the curves of sweeps, with their tables."""
    swept = {key: curves for key, curves in curves_of(run).items() if key[1] not in HOWS}
    if swept:
        yield Words("Each curve is on the questions that every value of the setting was asked, so that its points can be compared.")
    for number, ((strategy, setting), curves) in enumerate(swept.items()):
        caption = f"{strategy} along {setting}: answers and cost, with 95 % intervals; a line a data set."
        values = sorted({value for curve in curves.values() for value, _ in curve}, key=_order)
        yield Plot.drawn(caption, "sweep", curves, setting, values, f"sweep-{number}")
        for dataset, curve in curves.items():
            groups = [LineGroup.of((dataset, strategy, f"{setting}={value}"), lines, value) for value, lines in curve]
            first = LineFilter(dataset, strategy, f"{setting}={curve[0][0]}")
            yield measure_table(f"{strategy}: {setting} on {dataset}", groups, SWEPT, lead=setting, lines=first.jq)


def curves_of(run: Run) -> dict[tuple[str, str], dict[str, Curve]]:
    """Return the curves by strategy and setting, then by data set, for settings with several values."""
    found: dict[tuple[str, str, str], Curve] = {}
    for (dataset, strategy, variant), lines in run.answered.items():
        setting, equals, value = variant.partition("=")
        if equals and not is_named(variant):
            found.setdefault((strategy, setting, dataset), []).append((value, lines))
    swept: dict[tuple[str, str], dict[str, Curve]] = {}
    for (strategy, setting, dataset), points in found.items():
        if len(points) > 1:
            ids = set.intersection(*({line.row["id"] for line in lines} for _, lines in points))
            shared = [(value, [line for line in lines if line.row["id"] in ids]) for value, lines in points]
            swept.setdefault((strategy, setting), {})[dataset] = sorted(shared, key=lambda point: _order(point[0]))
    return swept


def _order(value: str) -> tuple[float, str]:
    """Return the sort key of a value: numeric if it is a number."""
    try:
        return float(value), ""
    except ValueError:
        return float("inf"), value

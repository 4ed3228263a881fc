"""Two runs compared, and a run beside published figures."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ramify.evaluation.metrics import bootstrap_interval, holm, paired_test
from ramify.evaluation.papers.paper import PaperRow
from ramify.evaluation.papers.prune import ABLATIONS, PRUNE
from ramify.evaluation.papers.tor import DEPTHS, METHODS, TOR
from ramify.evaluation.report._blocks import (
    NOTHING,
    Block,
    Cell,
    Column,
    Comparison,
    LineFilter,
    Points,
    ReportSection,
    Table,
    Words,
    columns_of,
    figure,
    paired_table,
    sections_of,
    words,
)
from ramify.evaluation.report.writers import markdown, page
from ramify.evaluation.results import Key, ResultLine, Run
from ramify.evaluation.results.measures import (
    EM,
    F1,
    FORGETTING_FOUND,
    HITS4,
    HITS10,
    MRR10,
    SIGNIFICANT,
    Compared,
    Measure,
    Pairs,
    read_runs,
    shown_p,
)
from ramify.evaluation.task import RESULTS, Row
from ramify.prompts.prefer import CRITERIA
from ramify.tools.english import fold, sentences

_MARKS = re.compile(r"\[\d+\]")
_WORTH = {"A": 1.0, "B": 0.0, "tie": 0.5}
HOW = (
    "Each pair of answers was judged {repeats}, A and B first by turns. A's share is its wins and half the ties, averaged over "
    "a question's verdicts, then over questions; p is of a paired sign-flip permutation test, after Holm's correction for the {tests} "
    "criteria. ▲ A is preferred, ▼ B is, at p < {significant}."
)
PROXIES = (
    "Proxies, counted without a judge: they say how much an answer rests on (communities read are those whose reports were), not "
    "whether it is good. p is of a paired sign-flip "
    "permutation test, after Holm's correction."
)


def preferences(pairs: Mapping[tuple[Key, Key], Pairs], verdicts: Sequence[Row] | None) -> Iterator[Block]:
    """Report the judge's verdicts and, for open questions, countable proxies."""
    for groups, found in pairs.items():
        sides = tuple(map(side, groups))
        name = f"{groups[0][0]}: {' and '.join(sides)}"
        if verdicts is not None:
            yield from _judged(name, [row for row in verdicts if (row["dataset"], row["a"], row["b"]) == (groups[0][0], *sides)])
        if unscored := [pair for pair in found if not any(line.scored for line in pair)]:
            yield from _proxies(name, unscored)


def side(group: Key) -> str:
    """Return a strategy with its variant."""
    return " ".join(filter(None, group[1:]))


def _judged(name: str, verdicts: Sequence[Row]) -> Iterator[Block]:
    """Report the judge's preferences; A's share is averaged per question."""
    valid = [row for row in verdicts if row["error"] is None]
    if not valid:
        why = f": {verdicts[0]['error']}" if verdicts else ""
        yield Words(f"{name}: no verdict came of {len(verdicts)} asked for{why}", "warning")
        return
    if lost := len(verdicts) - len(valid):
        told = f"{lost:,} of {len(verdicts):,} verdicts did not come, and count for nothing; the same command asks for them again"
        yield Words(f"{name}: {told}", "warning")
    shares = shares_of(valid)
    adjusted = holm([paired_test(of, [1 - share for share in of]) for of in shares.values()])
    rows = []
    for (criterion, of), p in zip(shares.items(), adjusted, strict=True):
        share, (low, high) = float(np.mean(of)), bootstrap_interval(of)
        sign = "" if p >= SIGNIFICANT else " ▲" if share > 0.5 else " ▼"
        won = [f"{100 * sum(row[criterion] == side for row in valid) / len(valid):.0f} %" for side in _WORTH]
        rows.append(_row(criterion, len(of), won, Cell(f"{100 * share:.0f} %{sign}", f"{100 * low:.0f} to {100 * high:.0f}"), p))
    times = max(row["repeat"] for row in verdicts) + 1
    how = HOW.format(repeats="once" if times == 1 else f"{times} times", tests=len(CRITERIA), significant=SIGNIFICANT)
    share_of = Column("A's share", "wins and half the ties, with its 95 % interval")
    columns = _columns("criterion", ("A wins", "B wins", "ties"), share_of)
    yield Table(f"{name}, judged by {valid[0]['judge']}", columns, rows, f"{how} {_first(valid)}")


def shares_of(verdicts: Sequence[Row]) -> dict[str, list[float]]:
    """Return A's share of each question by criterion: the mean of its verdicts, of which a tie is half."""
    ids = sorted({row["id"] for row in verdicts})
    return {one: [float(np.mean([_WORTH[row[one]] for row in verdicts if row["id"] == id])) for id in ids] for one in CRITERIA}


def _columns(lead: str, counts: Sequence[str], difference: Column) -> list[Column]:
    return [*words(lead), Column("n", "questions"), *map(Column, counts), difference, Column("p", "after Holm's correction")]


def _row(lead: str, count: int, counts: Sequence[str], difference: Cell, p: float) -> list[Cell]:
    return [Cell(lead, head=True), Cell(str(count)), *map(Cell, counts), difference, Cell(shown_p(p))]


def _first(verdicts: Sequence[Row]) -> str:
    """Return how often the judge preferred the first answer; without position bias it is half."""
    sided = [(row[criterion], row["first"]) for row in verdicts for criterion in CRITERIA if row[criterion] != "tie"]
    if not sided:
        return "It preferred neither anywhere."
    return f"Of its verdicts for one side, {100 * sum(won == first for won, first in sided) / len(sided):.0f} % were for what stood first."


def _proxies(name: str, pairs: Pairs) -> Iterator[Block]:
    """Report what can be counted of the evidence of answers, without a judge."""
    counts = [(rests_on(a.row), rests_on(b.row)) for a, b in pairs if not (a.failed or b.failed)]
    titles = [title for title in (counts[0][0] if counts else ()) if any(a[title] or b[title] for a, b in counts)]
    if not titles:
        return
    sides = {title: ([a[title] for a, _ in counts], [b[title] for _, b in counts]) for title in titles}
    adjusted = holm([paired_test(first, second) for first, second in sides.values()])
    rows = []
    for (title, both), p in zip(sides.items(), adjusted, strict=True):
        less = [a - b for a, b in zip(*both, strict=True)]
        low, high = bootstrap_interval(less)
        difference = Cell(f"{np.mean(less):+.1f}", f"{low:+.1f} to {high:+.1f}")
        rows.append(_row(title, len(less), [f"{np.mean(side):.1f}" for side in both], difference, p))
    yield Table(f"{name}: proxies", _columns("counted", "AB", Column("A less B", "with its 95 % interval")), rows, PROXIES)


def rests_on(row: Row) -> dict[str, int]:
    """Return counts of the evidence of an answer."""
    cited = [one for one in row.get("citations") or () if one.get("cited", True)]
    evidence = {id for branch in row.get("tree") or () for id in branch.get("evidence") or ()}
    text = _MARKS.sub("", f"{row.get('answer') or ''}\n{row.get('explanation') or ''}")
    return {
        "passages cited": len({one["id"] for one in cited}),
        "documents cited": len({one["source"] for one in cited}),
        "communities read": sum(id.startswith("community ") for id in evidence),
        "distinct sentences": len({fold(one) for line in text.splitlines() for one in sentences(line)} - {""}),
    }


TITLE = "Two runs compared"
DESCRIBED = ("model", "embedding", "label", "index_kinds", "seed", "base", "limit", "sample", "ramify", "versions", "machine")
SHOWN = 20
"""Questions that are listed of those one run wins."""


def compare(run_a: Path, run_b: Path, verdicts: Sequence[Row] | None = None) -> str:
    """Return the comparison of two runs as Markdown, with a judge's verdicts; UsageError if they cannot be compared."""
    return markdown(TITLE, _sections(read_runs(run_a, run_b), verdicts))


def compare_page(run_a: Path, run_b: Path, verdicts: Sequence[Row] | None = None) -> str:
    """Return the comparison of two runs as an HTML page, with every question side by side."""
    runs = read_runs(run_a, run_b)
    a, b = runs.a, runs.b
    lines = []
    for line, name, run in [*((line, "A", a) for line in a.lines), *((line, "B", b) for line in b.lines)]:
        named = {"strategy": f"{name}: {line.row['strategy']}", "key": f"{name}|{line.row['key']}"}
        lines.append(ResultLine(line.number, {**line.row, **named}, str(run.folder / RESULTS)))
    names = list(dict.fromkeys(line.row["strategy"] for line in lines))
    return page(Run(a.folder, {**a.manifest, "strategies": names}, tuple(lines)), TITLE, _sections(runs, verdicts))


def _sections(runs: Compared, verdicts: Sequence[Row] | None) -> list[ReportSection]:
    scored = {groups: found for groups, pairs in runs.pairs.items() if (found := [pair for pair in pairs if pair[0].scored])}
    return sections_of(
        ("runs", "The runs", _runs(runs.a, runs.b)),
        ("differences", "The differences", _differences(scored)),
        ("preferences", "Answers compared", preferences(runs.pairs, verdicts)),
        ("wins", "Questions that only one answers correctly", _wins(scored)),
    )


def _runs(a: Run, b: Run) -> Iterator[Block]:
    """Report which runs they are, and how their manifests differ."""
    yield from (Words(f"{name}: {warning}", "warning") for name, run in (("A", a), ("B", b)) for warning in run.warnings)
    yield Words(f"A is {a.folder}, B is {b.folder}; the differences are A less B, on the questions both were asked.")
    told = [(name, manifest_text(a.manifest.get(name)), manifest_text(b.manifest.get(name))) for name in DESCRIBED]
    rows = [[Cell(name, head=True), Cell(one), Cell(other)] for name, one, other in told if one != other]
    same = Words("They were made with the same model, settings, versions and machine.")
    yield Table("What differs", words("", "A", "B"), rows) if rows else same


def manifest_text(value: Any) -> str:
    """Return a value of a manifest as a text."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, dict) else "" if value is None else str(value)


def _differences(pairs: Mapping[tuple[Key, Key], Pairs]) -> Iterator[Block]:
    contests = []
    for (one, other), found in pairs.items():
        where = LineFilter(one[0], f"A: {one[1]}", one[2], beside=(f"B: {other[1]}", other[2]))
        contests.append(Comparison((one[0], _name(one, other)), found, where))
    if contests:
        yield paired_table("A less B", contests, ("data set", "strategy"), "B", "In points, on the questions both were asked.")


def _wins(pairs: Mapping[tuple[Key, Key], Pairs]) -> Iterator[Block]:
    """Report the questions that only one of the two answered correctly."""
    one_wins = False
    for groups, found in pairs.items():
        for name, better, worse in (("A", 0, 1), ("B", 1, 0)):
            if won := [pair for pair in found if pair[better].right > pair[worse].right]:
                one_wins = True
                title = f"{_name(*groups)} on {groups[0][0]}: only {name} is right ({len(won):,})"
                more = f"{len(won) - SHOWN:,} more." if len(won) > SHOWN else ""
                yield Table(title, words("question", "gold", "A", "B"), [*map(_said, won[:SHOWN])], more)
    if pairs and not one_wins:
        yield Words("Both answer the same questions correctly.")


def _said(pair: tuple[ResultLine, ResultLine]) -> list[Cell]:
    row = pair[0].row
    answers = [Cell(str(line.row.get("error") or line.row.get("answer") or "–")[:200], f"line {line.number}") for line in pair]
    return [Cell(str(row.get("question") or ""), head=True), Cell(str(row.get("gold") or "")), *answers]


def _name(one: Key, other: Key) -> str:
    return side(one) if side(one) == side(other) else f"{side(one)} / {side(other)}"


RETRIEVERS = "MultiHop-RAG, from secondary sources, top 10 of 256-token chunks"
SEARCHES = {
    "bge-large-en-v1.5": (".4298", ".6718", ".5221"),
    "voyage-02 with bge-reranker-large": (".5860", ".7467", ".6625"),
}
"""MRR@10, Hits@10 and Hits@4."""
GUESSES = (
    'On the full MultiHop-RAG set, always saying "Yes" scores about 30.6 EM, and the most frequent answer of each question type about 53.'
)
OF_PRUNE = ("hotpotqa", "2wiki", "musique")
SEARCHED = (MRR10, HITS10, HITS4)


def published(run: Run) -> Iterator[Block]:
    """Report published figures beside ours, if a paper is about these data sets."""
    blocks = [block for dataset in run.datasets for block in _of(run, dataset)]
    if not blocks:
        return
    warning = (
        f"The papers' figures are no baseline of ours: ours were made with the model {run.manifest.get('model')}, other embeddings and "
        "other questions, and what each data set's caveats say holds. An empty cell was not run."
    )
    yield from (Words(warning, "warning"), *blocks)
    if any(_about(dataset, OF_PRUNE) for dataset in run.datasets):
        source = f"What the PruneRAG paper claims ({PRUNE.source})."
        told = f"{source} Its tables and curves are not available, so ours stand beside these claims only."
        yield from (Words(told), Points(PRUNE.claims))


def _of(run: Run, dataset: str) -> Iterator[Block]:
    if _about(dataset, ("multihoprag",)):
        yield from _table(run, dataset, "answers", METHODS.rows, (EM, F1), TOR.source)
        yield from _table(run, dataset, "depth of the tree", DEPTHS.rows, (EM, F1), TOR.source)
        yield from (Words(GUESSES), _retrievers(run, dataset))
    if _about(dataset, OF_PRUNE):
        yield from _table(
            run, dataset, "evidence forgetting", [row for row in ABLATIONS.rows if row.figures], (FORGETTING_FOUND,), PRUNE.source
        )


def _about(dataset: str, names: Sequence[str]) -> bool:
    bare = "".join(char for char in dataset.lower() if char.isalnum())
    return any(name in bare for name in names)


def _table(run: Run, dataset: str, title: str, papers: Sequence[PaperRow], measures: Sequence[Measure], source: str) -> Iterator[Table]:
    """Yield a table, if any of its rows was run."""
    found = [(one, run.answered.get((dataset, one.strategy, one.variant), [])) for one in papers]
    if not any(lines for _, lines in found):
        return
    rows = []
    for one, lines in found:
        where = LineFilter(dataset, one.strategy, one.variant) if lines else None
        name, count = Cell(f"{one.strategy} {one.variant}".strip(), where=where), Cell(str(len(lines)) if lines else NOTHING)
        ours = [figure(measure, measure.of(lines), where) for measure in measures]
        rows.append([Cell(one.name, head=True), *map(Cell, one.figures), name, count, *ours])
    columns = [*words("published"), *(Column(f"{measure.title}, paper") for measure in measures), *words("ours"), Column("n, ours")]
    columns += [Column(f"{measure.title}, ours", measure.meaning) for measure in measures]
    yield Table(f"{dataset}: {title}", columns, rows, f"Published: {source}.")


def _retrievers(run: Run, dataset: str) -> Table:
    rows = [[Cell(name, head=True), Cell("published"), *map(Cell, figures)] for name, figures in SEARCHES.items()]
    for (name, strategy, variant), lines in run.groups.items():
        if name == dataset and any(line.ranked for line in lines) and (not variant or lines[0].searched):
            where = LineFilter(dataset, strategy, variant)
            told = [f"{one.value:.4f}".removeprefix("0") for measure in SEARCHED if (one := measure.of(lines))]
            leads = Cell(f"{strategy} {variant}".strip(), head=True, where=where), Cell("ours")
            rows.append([*leads, *(Cell(figure, where=where) for figure in told)])
    note = (
        f"Published: {RETRIEVERS}. Ours take the passages in the order in which the last call is given them, and are figures of the "
        "data set as it is described above: where its articles are reconstructed, they are not MultiHop-RAG results."
    )
    return Table(f"{dataset}: retrieval", [*words("retriever", "source"), *columns_of(SEARCHED)], rows, note)

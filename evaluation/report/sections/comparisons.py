"""What is compared on the same questions: each strategy with the one that retrieves once, with itself less a part, and by kind of index."""

from collections.abc import Iterator, Sequence

from ramify.evaluation.index_kinds import OPTION, PLAIN, is_named
from ramify.evaluation.report.blocks import Block, Cell, Section, Table, Where, Words
from ramify.evaluation.report.paired import Contest, paired_table
from ramify.evaluation.report.tables import Group, measured
from ramify.evaluation.results.columns import CALLS, COST, EM, F1, FORGETTING, GOLD, RETRIEVAL
from ramify.evaluation.results.measures import all_found, found, score
from ramify.evaluation.results.paired import Pairs, Scores, common
from ramify.evaluation.results.run import Run

REFERENCE = "naive"
FOUND = Scores(
    (("all@5", found("all_gold@5")), ("recall@5", found("recall@5")), ("all@10", found("all_gold@10")), ("all gold", all_found)),
    ("found all gold among the first 5", found("all_gold@5")),
    browsed=False,
)
ANSWERED = Scores((("EM", score("em")), ("F1", score("f1"))), ("answered rightly (EM)", score("em")))
Key = tuple[str, str, str]
"""Data set, strategy and variant."""


def against_reference(run: Run) -> Section | None:
    """Compare every strategy with the one that retrieves once and answers, on every data set; none where nothing was scored."""
    names = [strategy for dataset in run.scored for strategy in run.of(dataset)]
    if not names:
        return None
    reference = REFERENCE if REFERENCE in names else names[0]
    contests = []
    for dataset in run.scored:
        asked = run.of(dataset)
        for strategy, lines in asked.items():
            where = Where(dataset, strategy, "", beside=(reference, ""))
            if strategy != reference and (pairs := common(lines, asked.get(reference, []))):
                contests.append(Contest([Cell(dataset), Cell(strategy, where=where, head=True)], pairs, where))
    if not contests:
        return Section("tests", "Differences", [Words("There is only one strategy, so there is nothing to compare.")])
    note = f"The strategy less {reference}, in points, on the questions both were asked."
    table = paired_table("Paired tests", contests, ("data set", "strategy"), reference, note, Where(variant="").jq)
    return Section("tests", f"Differences from {reference}", [table])


def ablations(run: Run) -> Section | None:
    """Compare each strategy with itself less a part, on the questions both were asked; none where nothing was left out."""
    left_out = [group for group in run.answered if group[2] and "=" not in group[2]]
    contests = _with_itself(run, left_out, calls=True)
    if not contests:
        return None
    note = "The variant less the strategy as it is, in points: below zero, the part helps. Calls: with the part, and without it."
    lines_of = "jq -c 'select(.variant != \"\")' results.jsonl"
    table = paired_table("Ablations", contests, ("data set", "strategy", "variant"), "the whole", note, lines_of, "calls")
    return Section("ablations", "What each part brings", [table])


def kinds(run: Run) -> Section | None:
    """Compare each strategy and search with itself on the run's own kind of index; none where there is but one kind."""
    further = [group for group in run.groups if is_named(group[2])]
    if not further:
        return None
    own = str((run.manifest.get("index_kinds") or [PLAIN])[0])
    blocks: list[Block] = [Words(f"What is found and answered in another kind of index is compared with {own}, on the same questions.")]
    blocks += _of_kinds(run, further, own)
    return Section("kinds", "Kinds of index", blocks)


def _of_kinds(run: Run, further: Sequence[Key], own: str) -> Iterator[Table]:
    leads, lines = (
        ("data set", "strategy", "kind"),
        f'jq -c \'select(.variant == "" or (.variant | startswith("{OPTION}=")))\' results.jsonl',
    )
    datasets = list(dict.fromkeys(group[0] for group in further))
    if contests := _with_itself(run, [group for group in further if any(line.row.get("retrieval") for line in run.groups[group])]):
        note = f"The kind less {own}, in points. All gold: among all that was found and, of a strategy, shown to the model."
        yield paired_table("What is found", contests, leads, own, note, lines, scores=FOUND)
        for dataset in datasets:
            groups = _groups(run, dataset, further, own)
            yield measured(f"{dataset}: retrieval by kind of index", groups, (*RETRIEVAL, GOLD))
    answered = [group for group in further if group in run.answered and any(line.scored for line in run.groups[group])]
    if answered:
        note = f"The kind less {own}, in points."
        yield paired_table("What is answered", _with_itself(run, answered), leads, own, note, lines, scores=ANSWERED)
        for dataset in dict.fromkeys(group[0] for group in answered):
            groups = _groups(run, dataset, answered, own)
            yield measured(f"{dataset}: answers by kind of index", groups, (EM, F1, FORGETTING, *COST))


def _with_itself(run: Run, variants: Sequence[Key], calls: bool = False) -> list[Contest]:
    """Pair the lines of variants with those of their strategies at the run's own settings."""
    contests = []
    for dataset, strategy, variant in variants:
        pairs = common(run.groups[dataset, strategy, variant], run.groups.get((dataset, strategy, ""), []))
        where = Where(dataset, strategy, variant, beside=(strategy, ""))
        if pairs:
            names = [Cell(dataset), Cell(strategy), Cell(variant.removeprefix(f"{OPTION}="), where=where, head=True)]
            contests.append(Contest(names, pairs, where, [_calls(pairs)] if calls else ()))
    return contests


def _calls(pairs: Pairs) -> Cell:
    without, whole = (CALLS.of([pair[place] for pair in pairs]) for place in (0, 1))
    return Cell(f"{CALLS.shown(whole.value)} → {CALLS.shown(without.value)}") if without and whole else Cell("–")


def _groups(run: Run, dataset: str, further: Sequence[Key], own: str) -> list[Group]:
    """List each strategy of a data set in the run's own kind of index, and after it in the others."""
    strategies = {strategy for name, strategy, _ in further if name == dataset}
    return [
        Group(f"{strategy}, {variant.removeprefix(f'{OPTION}=') or own}", lines, Where(name, strategy, variant))
        for (name, strategy, variant), lines in run.groups.items()
        if name == dataset and strategy in strategies and (not variant or is_named(variant))
    ]

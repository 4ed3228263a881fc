"""Kinds of index: the same strategies and searches on each, side by side, and what differs, question by question."""

from collections.abc import Iterator, Sequence

from ramify.evaluation.index_kinds import OPTION, PLAIN, is_named
from ramify.evaluation.report.blocks import Block, Cell, Section, Table, Where, Words
from ramify.evaluation.report.columns import COST, EM, F1, FORGETTING, GOLD, RETRIEVAL
from ramify.evaluation.report.paired import Contest, Scores, common, paired_table
from ramify.evaluation.report.run import Line, Run
from ramify.evaluation.report.tables import Group, measured
from ramify.evaluation.report.values import all_found, found, score

FOUND = Scores(
    (("all@5", found("all_gold@5")), ("recall@5", found("recall@5")), ("all@10", found("all_gold@10")), ("all gold", all_found)),
    ("found all gold among the first 5", found("all_gold@5")),
    browsed=False,
)
ANSWERED = Scores((("EM", score("em")), ("F1", score("f1"))), ("answered rightly (EM)", score("em")))
LEADS = ("data set", "strategy", "kind")


def kinds(run: Run) -> Section | None:
    """Compare each strategy and search with itself on the run's own kind of index; none where there is but one kind."""
    further = [group for group in run.groups if is_named(group[2])]
    if not further:
        return None
    own = str((run.manifest.get("index_kinds") or [PLAIN])[0])
    blocks: list[Block] = [Words(f"What is found and answered in another kind of index is compared with {own}, on the same questions.")]
    blocks += _found(run, further, own)
    blocks += _answered(run, [group for group in further if group in run.answered and _scored(run.groups[group])], own)
    return Section("kinds", "Kinds of index", blocks)


def _scored(lines: Sequence[Line]) -> bool:
    return any(line.row.get("em") is not None for line in lines)


def _found(run: Run, further: Sequence[tuple[str, str, str]], own: str) -> Iterator[Table]:
    contests = _contests(run, [group for group in further if any(line.row.get("retrieval") for line in run.groups[group])])
    if not contests:
        return
    note = f"The kind less {own}, in points. All gold: among all that was found and, of a strategy, shown to the model."
    yield paired_table("What is found", contests, LEADS, own, note, _lines(), scores=FOUND)
    for dataset in dict.fromkeys(group[0] for group in further):
        yield measured(f"{dataset}: retrieval by kind of index", _groups(run, dataset, further, own), (*RETRIEVAL, GOLD))


def _answered(run: Run, further: Sequence[tuple[str, str, str]], own: str) -> Iterator[Table]:
    if not further:
        return
    note = f"The kind less {own}, in points."
    yield paired_table("What is answered", _contests(run, further), LEADS, own, note, _lines(), scores=ANSWERED)
    for dataset in dict.fromkeys(group[0] for group in further):
        groups = _groups(run, dataset, further, own)
        yield measured(f"{dataset}: answers by kind of index", groups, (EM, F1, FORGETTING, *COST))


def _lines() -> str:
    return f'jq -c \'select(.variant == "" or (.variant | startswith("{OPTION}=")))\' results.jsonl'


def _contests(run: Run, further: Sequence[tuple[str, str, str]]) -> list[Contest]:
    contests = []
    for dataset, strategy, variant in further:
        pairs = common(run.groups[dataset, strategy, variant], run.groups.get((dataset, strategy, ""), []))
        where = Where(dataset, strategy, variant, beside=(strategy, ""))
        if pairs:
            names = [Cell(dataset), Cell(strategy), Cell(_kind(variant), where=where, head=True)]
            contests.append(Contest(names, pairs, where))
    return contests


def _groups(run: Run, dataset: str, further: Sequence[tuple[str, str, str]], own: str) -> list[Group]:
    """List each strategy of a data set in the run's own kind of index, and after it in the others."""
    strategies = {strategy for name, strategy, _ in further if name == dataset}
    return [
        Group(f"{strategy}, {_kind(variant) or own}", lines, Where(name, strategy, variant))
        for (name, strategy, variant), lines in run.groups.items()
        if name == dataset and strategy in strategies and (not variant or is_named(variant))
    ]


def _kind(variant: str) -> str:
    return variant.removeprefix(f"{OPTION}=")

"""What is compared on the same questions: each strategy with the one that retrieves once, and with itself less a part, on another kind of
index, and along a setting.
"""

from collections.abc import Iterator, Sequence

from ramify.evaluation.index_kinds import OPTION, PLAIN, is_named
from ramify.evaluation.report.blocks import Block, Plot, Table, Where, Words
from ramify.evaluation.report.tables import NOTHING, Contest, Group, measured, paired_table
from ramify.evaluation.results.columns import CALLS, COST, EM, F1, FORGETTING, GOLD, RETRIEVAL, SECONDS
from ramify.evaluation.results.measures import Measure, all_found, found, score
from ramify.evaluation.results.paired import Pairs, Scores, common
from ramify.evaluation.results.run import Key, Line, Run

REFERENCE = "naive"
FOUND = Scores(
    (("all@5", found("all_gold@5")), ("recall@5", found("recall@5")), ("all@10", found("all_gold@10")), ("all gold", all_found)),
    ("found all gold among the first 5", found("all_gold@5")),
    browsed=False,
)
ANSWERED = Scores((("EM", score("em")), ("F1", score("f1"))), ("answered rightly (EM)", score("em")))
SWEPT = (EM, F1, FORGETTING, CALLS, SECONDS)
Curve = list[tuple[str, list[Line]]]
"""The values of a setting in order, each with its lines, on the questions that all of them have."""


def against_reference(run: Run) -> tuple[str, list[Block]]:
    """Compare every strategy with the one that retrieves once and answers, on every data set; nothing where nothing was scored."""
    keys = [(dataset, strategy, "") for dataset in run.scored for strategy in run.of(dataset)]
    if not keys:
        return "", []
    names = [strategy for _, strategy, _ in keys]
    reference = REFERENCE if REFERENCE in names else names[0]
    contests = [contest for key in keys if key[1] != reference for contest in _contest(run, key, reference, key[:2])]
    if not contests:
        return "Differences", [Words("There is only one strategy, so there is nothing to compare.")]
    note = f"The strategy less {reference}, in points, on the questions both were asked."
    table = paired_table("Paired tests", contests, ("data set", "strategy"), reference, note, Where(variant="").jq)
    return f"Differences from {reference}", [table]


def ablations(run: Run) -> Iterator[Block]:
    """Compare each strategy with itself less a part, on the questions both were asked; nothing where nothing was left out."""
    contests = _with_itself(run, [key for key in run.answered if key[2] and "=" not in key[2]], calls=True)
    if contests:
        note = "The variant less the strategy as it is, in points: below zero, the part helps. Calls: with the part, and without it."
        lines = "jq -c 'select(.variant != \"\")' results.jsonl"
        yield paired_table("Ablations", contests, ("data set", "strategy", "variant"), "the whole", note, lines, "calls")


def kinds(run: Run) -> Iterator[Block]:
    """Compare each strategy and search with itself on the run's own kind of index; nothing where there is but one kind."""
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
        yield from _by_kind(run, further, own, "retrieval", (*RETRIEVAL, GOLD))
    if answered := [key for key in further if key in run.answered and any(line.scored for line in run.groups[key])]:
        note = f"The kind less {own}, in points."
        yield paired_table("What is answered", _with_itself(run, answered), leads, own, note, lines, scores=ANSWERED)
        yield from _by_kind(run, answered, own, "answers", (EM, F1, FORGETTING, *COST))


def _by_kind(run: Run, further: Sequence[Key], own: str, what: str, measures: Sequence[Measure]) -> Iterator[Table]:
    """Measure each strategy in the run's own kind of index, and after it in the others, a table a data set."""
    for dataset in dict.fromkeys(key[0] for key in further):
        strategies = {strategy for name, strategy, _ in further if name == dataset}
        groups = [
            Group.of(key, lines, f"{key[1]}, {_kind(key[2]) or own}")
            for key, lines in run.groups.items()
            if key[0] == dataset and key[1] in strategies and (not key[2] or is_named(key[2]))
        ]
        yield measured(f"{dataset}: {what} by kind of index", groups, measures)


def _kind(variant: str) -> str:
    return variant.removeprefix(f"{OPTION}=")


def _with_itself(run: Run, variants: Sequence[Key], calls: bool = False) -> list[Contest]:
    """Pair the lines of variants with those of their strategies at the run's own settings."""
    return [one for key in variants for one in _contest(run, key, key[1], (key[0], key[1], _kind(key[2])), calls)]


def _contest(run: Run, key: Key, other: str, names: Sequence[str], calls: bool = False) -> Iterator[Contest]:
    """Pair the lines of a group with those of a strategy at the run's own settings, where they have questions in common."""
    if pairs := common(run.groups[key], run.groups.get((key[0], other, ""), [])):
        yield Contest(names, pairs, Where(*key, beside=(other, "")), _calls(pairs) if calls else "")


def _calls(pairs: Pairs) -> str:
    without, whole = (CALLS.of([pair[place] for pair in pairs]) for place in (0, 1))
    return f"{CALLS.shown(whole.value)} → {CALLS.shown(without.value)}" if without and whole else NOTHING


def sweeps(run: Run) -> Iterator[Block]:
    """Draw the curves of what was swept, with their figures; nothing where nothing was."""
    swept = _swept(run)
    if swept:
        yield Words("Each curve is on the questions that every value of the setting was asked, so that its points can be compared.")
    for number, ((strategy, setting), curves) in enumerate(swept.items()):
        caption = f"{strategy} along {setting}: answers and cost, with 95 % intervals; a line a data set."
        values = sorted({value for curve in curves.values() for value, _ in curve}, key=_order)
        yield Plot.drawn(caption, "sweep", curves, setting, values, f"sweep-{number}")
        for dataset, curve in curves.items():
            groups = [Group.of((dataset, strategy, f"{setting}={value}"), lines, value) for value, lines in curve]
            first = Where(dataset, strategy, f"{setting}={curve[0][0]}")
            yield measured(f"{strategy}: {setting} on {dataset}", groups, SWEPT, lead=setting, lines=first.jq)


def _swept(run: Run) -> dict[tuple[str, str], dict[str, Curve]]:
    """Find the strategies' settings that have several values, with a curve a data set."""
    found: dict[tuple[str, str, str], Curve] = {}
    for (dataset, strategy, variant), lines in run.answered.items():
        setting, equals, value = variant.partition("=")
        if equals and not is_named(variant):
            found.setdefault((strategy, setting, dataset), []).append((value, lines))
    swept: dict[tuple[str, str], dict[str, Curve]] = {}
    for (strategy, setting, dataset), points in found.items():
        if len(points) > 1:
            swept.setdefault((strategy, setting), {})[dataset] = _shared(points)
    return swept


def _shared(points: Sequence[tuple[str, list[Line]]]) -> Curve:
    """Keep the questions that every value was asked."""
    ids = set.intersection(*({line.row["id"] for line in lines} for _, lines in points))
    shared = [(value, [line for line in lines if line.row["id"] in ids]) for value, lines in points]
    return sorted(shared, key=lambda point: _order(point[0]))


def _order(value: str) -> tuple[float, str]:
    """Sort values as numbers where they are numbers."""
    try:
        return float(value), ""
    except ValueError:
        return float("inf"), value

"""Reproducing a paper on the command line: the plan, its runs one after another, a judge, and the page on all of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ramify.evaluation.judging import JUDGED, REPEATS, judge
from ramify.evaluation.papers import Paper
from ramify.evaluation.papers.graph import LEVEL, count_graphs, fit_levels, read_graphs, ways_to_build
from ramify.evaluation.papers.paper import MODEL_OPTIONS
from ramify.evaluation.plan import Order, RunPlan, prepare
from ramify.evaluation.report import pairs_of, read_reproduction, write_reproduction
from ramify.evaluation.run import load_inputs, pending_tasks
from ramify.evaluation.search import index
from ramify.evaluation.task import Row
from ramify.nodes.settings import EMBEDDED, is_embedded
from ramify.studio.console.evaluating import check_extras, evaluating
from ramify.studio.console.progress_bar import bar
from ramify.studio.console.streams import note, out
from ramify.tools.quoting import many, one_line

GRAPH = "graph"


def reproducing(
    paper: Paper, orders: Sequence[Order], folder: Path, judged_by: Mapping[str, Any] | None = None, repeats: int = REPEATS
) -> None:
    """Run what a paper asks for, and write one page on it; finished runs, graphs and verdicts are not repeated.

    `judged_by` are the options of the judge's calls; without a model among them, the model that answers judges.
    """
    check_extras()
    note(f"{paper.title}: {paper.about}")
    plans = [_planned(fit_levels(order, read_graphs(folder))) for order in orders]
    model = next((plan.variants[0].options.get("model", EMBEDDED) for plan in plans if plan.variants), EMBEDDED)
    judging = {**orders[0].options, "model": model, **(judged_by or {})}
    judging = {name: judging[name] for name in MODEL_OPTIONS if name in judging} if paper.conditions else {}
    asks = bool(judging) and not is_embedded(judging["model"])
    _tell_rest(paper, plans, asks, repeats)
    if paper.builds:
        orders = _with_graphs(paper, orders, folder, model)
    for order in orders:
        evaluating(order)
    verdicts = _verdicts(paper, folder, judging, repeats) if asks else None
    write_reproduction(folder, paper, verdicts)
    out().print(one_line(f"{paper.title}: {folder / 'report.html'}"), soft_wrap=True, markup=False)


def _planned(order: Order) -> RunPlan:
    """Check a run before anything is asked, and tell what it will cost at most."""
    datasets, wanted = load_inputs(order)
    plan = prepare(order, datasets, wanted)
    questions = sum(len(dataset.questions) for _, dataset in datasets)
    tasks = pending_tasks(plan, order.out)
    most = plan.most_calls(tasks)
    calls = "model calls not bounded" if most is None else f"at most {most:,} model calls"
    told = (
        f"{', '.join(order.strategies)} in {many(len(wanted), 'variant')}, {len(tasks):,} answers, {calls}"
        if wanted
        else "searches only, no model is asked"
    )
    note(f"run {order.out.name}: {many(questions, 'question')}, {told}")
    return plan


def _tell_rest(paper: Paper, plans: Sequence[RunPlan], asks: bool, repeats: int) -> None:
    """Tell what is done besides the runs, and what will not be."""
    if asks:
        count = len(paper.conditions)
        questions = sum(len(source.dataset.questions) for source in plans[0].sources)
        most = questions * repeats * count * (count - 1) // 2
        note(f"judge: at most {most:,} verdicts, each a model call, on all pairs of {count} conditions")
    elif paper.conditions:
        note("no win rates: the embedded model judges nothing; --judge NAME names a language model that does")
    for name in paper.missing:
        note(f"left out: {name}, no such strategy is registered")
    for told in paper.left_out:
        note(f"not done: {told}")


def _with_graphs(paper: Paper, orders: Sequence[Order], folder: Path, model: Any) -> list[Order]:
    """Build the graphs, and return the orders with those levels that there are, and with what the graph is built by."""
    first = next(order for order in orders if GRAPH in order.kinds)
    builds = ways_to_build(paper.builds, model, first.options)
    if len(builds) > 1:
        told = f"{len(builds)} graphs are built by the model, whose calls are not in these numbers"
        note(f"{told}: `ramify index --kind graph --estimate` tells them")
    first = first.model_copy(update={"build": builds[0]})
    plan = prepare(first, *load_inputs(first))
    with bar() as progress:
        index(plan, first, progress)
        lines = count_graphs(plan, builds, folder, progress)
    fitted = fit_levels(first, lines)
    for level in first.sweeps.get(LEVEL, ()):
        if level not in fitted.sweeps[LEVEL]:
            note(f"left out: C{level}, the graph has no such level")
    return [fitted if order.out == first.out else order for order in orders]


def _verdicts(paper: Paper, folder: Path, options: Mapping[str, Any], repeats: int) -> list[Row]:
    pairs = pairs_of(paper, read_reproduction(folder, paper))
    note(f"{len(pairs):,} pairs of answers are judged {repeats} times; verdicts are stored in {folder / JUDGED}")
    with bar() as progress:
        return judge(pairs, options, folder / JUDGED, repeats, progress)

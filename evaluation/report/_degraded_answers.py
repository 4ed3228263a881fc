"""The section on degraded questions and searches: what strategies make of them, by share."""

import json
import shlex
from collections.abc import Iterator

from ramify.evaluation.degraded_answers import HOWS, TOLD, How
from ramify.evaluation.report._answers import Curve, curves_of
from ramify.evaluation.report._blocks import Block, LineGroup, Plot, Words, measure_table
from ramify.evaluation.results import Run
from ramify.evaluation.results.measures import ANSWERED, CALLS, EM, F1, FORGETTING
from ramify.evaluation.task import RESULTS

DRAWN = (EM, F1, ANSWERED)


def degraded_answers(run: Run) -> Iterator[Block]:
    """Report for each data set and each kind of degradation the curves of the strategies, with their table."""
    swept = curves_of(run)
    found: dict[tuple[str, How], dict[str, Curve]] = {}
    for how in HOWS:
        for (strategy, setting), curves in swept.items():
            for dataset, curve in curves.items() if setting == how else ():
                found.setdefault((dataset, how), {})[strategy] = curve
    if found:
        yield Words("What is made worse is drawn with the seed, the same for every strategy; a share of 0 is the strategy as it is.")
    for number, ((dataset, how), strategies) in enumerate(found.items()):
        shares = [share for share, _ in max(strategies.values(), key=len)]
        yield Plot.drawn(f"{dataset}: the share of {TOLD[how]}", "sweep", strategies, how, shares, f"worse-{number}", DRAWN)
        chosen = f'select(.dataset == {json.dumps(dataset)} and ((.variant // "") | startswith("{how}=")))'
        groups = [
            LineGroup.of((dataset, strategy, f"{how}={share}"), lines, f"{strategy}, {share}")
            for strategy, curve in strategies.items()
            for share, lines in curve
        ]
        yield measure_table(
            f"{dataset}: {how}", groups, (*DRAWN, FORGETTING, CALLS), lead="strategy, share", lines=f"jq -c {shlex.quote(chosen)} {RESULTS}"
        )

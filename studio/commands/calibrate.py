"""ramify calibrate: bound how often an answer is wrong, from a run with golds."""

from pathlib import Path
from typing import Annotated, get_args

import typer

from ramify.studio.console.options import one_of
from ramify.studio.console.streams import note
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.new_files import check_writable

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run of `ramify eval` on questions with known answers.")]
Risk = Annotated[float, typer.Option("--risk", metavar="SHARE", help="The share of wrong answers that is allowed, such as 0.1.")]
Bound = Annotated[
    str,
    typer.Option(
        "--bound", metavar="asked|answered",
        help="What is promised: asked, wrong answers among all questions asked, in expectation; "
        "answered, among those answered, with probability 1 - delta.",
    ),
]  # fmt: skip
Delta = Annotated[float, typer.Option("--delta", metavar="SHARE", help="How likely the bound on those answered may fail.")]
Strategy = Annotated[
    str | None, typer.Option("--strategy", metavar="NAME", help="The strategy to calibrate. [the only one beside closed-book]")
]
Type = Annotated[str, typer.Option("--type", metavar="NAME", help="Only questions of this type. [all]")]
Split = Annotated[float, typer.Option("--split", metavar="SHARE", help="Share of the questions to calibrate on; the rest checks it.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the split.")]
FitName = Annotated[
    str | None,
    typer.Option(
        "--fit", metavar="isotonic|platt|none", help="How confidences are fitted. [platt below 200 answers, else isotonic]"
    ),
]  # fmt: skip
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE.json", help="Where the profile is written, with its report. [RUN/profile.json]")
]


def calibrate(
    run: RunFolder, risk: Risk, bound: Bound = "asked", delta: Delta = 0.1, strategy: Strategy = None, type: Type = "",
    split: Split = 0.5, seed: Seed = 0, fit: FitName = None, out: Out = None,
) -> None:  # fmt: skip
    """Choose the confidence below which answers are withheld, so that at most a share of them is wrong; write it as a profile."""
    from ramify.evaluation import risk_control
    from ramify.evaluation.report import write_calibration
    from ramify.evaluation.results import read_run
    from ramify.evaluation.results.calibration import Order
    from ramify.evaluation.results.calibration import calibrate as calibrated

    order = Order(
        risk=risk, delta=delta, bound=one_of(get_args(risk_control.Bound), bound, "--bound"), strategy=strategy, type=type, split=split,
        seed=seed, fit=fit if fit is None else one_of(get_args(risk_control.Fit), fit, "--fit"),
    )  # fmt: skip
    profile = run / "profile.json" if out is None else out
    if profile.suffix != ".json":
        raise UsageError(
            f"--out {str(profile)!r} does not end in .json", "name the profile FILE.json: its report and curve are written beside it"
        )
    check_writable(profile)
    found = calibrated(read_run(run), order)
    typer.echo(write_calibration(found, profile))
    if found.profile is None:
        left = " (the one that is there is an earlier one)" if profile.exists() else ""
        what = f"no threshold keeps the bound on wrong answers among those {bound}, so no profile was written{left}"
        raise RamifyError(what, f"the report says what could be promised: {profile.with_suffix('.md')}")
    note(f"the profile is in {profile}, its report beside it: `ramify ask … --profile {profile}`")

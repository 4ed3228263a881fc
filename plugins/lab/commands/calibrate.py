"""ramify calibrate: choose a confidence threshold that bounds the fraction of wrong answers, from a run with known answers."""

from pathlib import Path
from typing import Annotated, get_args

import typer

from ramify.studio.commands import Command
from ramify.studio.console.options import choose_one
from ramify.studio.console.streams import note
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.new_files import check_writable

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run of `ramify eval` on questions with known answers.")]
Risk = Annotated[float, typer.Option("--risk", metavar="SHARE", help="Allowed fraction of wrong answers, such as 0.1.")]
Bound = Annotated[
    str,
    typer.Option(
        "--bound", metavar="asked|answered",
        help="What is bounded: asked, the expected fraction of wrong answers among all questions asked; "
        "answered, the fraction among those answered, with probability 1 - delta.",
    ),
]  # fmt: skip
Delta = Annotated[float, typer.Option("--delta", metavar="SHARE", help="Probability with which the bound on answered questions may fail.")]
Strategy = Annotated[
    str | None, typer.Option("--strategy", metavar="NAME", help="The strategy to calibrate. [the only one other than closed-book]")
]
Type = Annotated[str, typer.Option("--type", metavar="NAME", help="Only questions of this type. [all]")]
Split = Annotated[
    float, typer.Option("--split", metavar="SHARE", help="Fraction of the questions to calibrate on; the others test the result.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the split.")]
FitName = Annotated[
    str | None,
    typer.Option(
        "--fit", metavar="isotonic|platt|none", help="Method that fits confidences. [platt below 200 answers, else isotonic]"
    ),
]  # fmt: skip
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE.json", help="File of the profile; its report is written next to it. [RUN/profile.json]"),
]


def calibrate_command(
    run: RunFolder, risk: Risk, bound: Bound = "asked", delta: Delta = 0.1, strategy: Strategy = None, type: Type = "",
    split: Split = 0.5, seed: Seed = 0, fit: FitName = None, out: Out = None,
) -> None:  # fmt: skip
    """Choose the confidence below which answers are withheld, so that the fraction of wrong ones is bounded; write a profile."""
    from ramify.lab import risk_control
    from ramify.lab.report import write_calibration
    from ramify.lab.results import read_run
    from ramify.lab.results.calibration import CalibrationOptions, calibrate_run

    order = CalibrationOptions(
        risk=risk, delta=delta, bound=choose_one(get_args(risk_control.Bound), bound, "--bound"), strategy=strategy, type=type, split=split,
        seed=seed, fit=fit if fit is None else choose_one(get_args(risk_control.Fit), fit, "--fit"),
    )  # fmt: skip
    profile = run / "profile.json" if out is None else out
    if profile.suffix != ".json":
        raise UsageError(
            f"--out {str(profile)!r} does not end in .json", "name the profile FILE.json; its report and curve are written next to it"
        )
    check_writable(profile)
    calibration = calibrate_run(read_run(run), order)
    typer.echo(write_calibration(calibration, profile))
    if calibration.profile is None:
        hint = " (the existing one is of an earlier calibration)" if profile.exists() else ""
        what = f"no threshold satisfies the bound on wrong answers among those {bound}, so no profile was written{hint}"
        raise RamifyError(what, f"see which bounds are possible in {profile.with_suffix('.md')}")
    note(f"the profile is in {profile}, its report next to it; use it with `ramify ask … --profile {profile}`")


COMMAND = Command(calibrate_command, "Measure", after="reproduce")

"""Calibrate a run: a confidence threshold that bounds wrong answers, and a fitted curve, both evaluated on held-out questions."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from ramify.lab import risk_control
from ramify.lab.metrics import expected_calibration_error
from ramify.lab.results import ResultLine, Run
from ramify.lab.results.measures import PRIOR_STRATEGY, confidences_and_outcomes, is_answered
from ramify.lab.risk_control import Bound, Fit, Outcomes
from ramify.nodes.settings import is_embedded
from ramify.tools.errors import UsageError
from ramify.tools.profile import Curve, Origin, Profile, apply_curve

TAU_PREFIX = "tau="
"""The prefix of the variants of a sweep of tau."""
IGNORED_SETTINGS = (
    *("model", "adapter", "base_url", "index", "profile", "check", "seed", "timeout", "keep_alive", "max_concurrency", "ask_first"),
)
"""Settings that confidences do not depend on, or that are compared in another way."""
MIN_QUESTIONS = 100
"""Minimum number of questions for a threshold that depends little on the random split."""


@dataclass(frozen=True)
class CalibrationOptions:
    """Options of a calibration: risk and delta in (0, 1], bound, split, seed, fit."""

    risk: float
    delta: float = 0.1
    bound: Bound = "asked"
    strategy: str | None = None
    type: str = ""
    """The type of questions to calibrate on; empty for all."""
    split: float = 0.5
    seed: int = 0
    fit: Fit | None = None


@dataclass(frozen=True)
class AnswerCounts:
    """Numbers of all, answered and wrong questions at a threshold."""

    questions: int
    answered: int
    wrong: int

    @property
    def right(self) -> int:
        """Return the number of right answers."""
        return self.answered - self.wrong


@dataclass(frozen=True)
class BoundResult:
    """A bound with its threshold; without one, the lowest possible risk and the number of further questions that might suffice."""

    bound: Bound
    threshold: float | None
    calibrated: AnswerCounts | None = None
    held_out: AnswerCounts | None = None
    min_risk: float | None = None
    further_questions: int | None = None


@dataclass(frozen=True)
class Calibration:
    """A calibrated run."""

    run: Run
    options: CalibrationOptions
    strategy: str
    variant: str
    model: str
    lines: Sequence[ResultLine]
    """The lines that it was calibrated on."""
    held_out: Sequence[ResultLine]
    taus: Mapping[str, Mapping[float, AnswerCounts]]
    """Answer counts by type of question ("" for all) and tau; empty if tau was not swept."""
    tau: float | None

    @cached_property
    def outcomes(self) -> Outcomes:
        """Return the outcomes of the questions calibrated on."""
        return make_outcomes(self.lines)

    @cached_property
    def held_out_outcomes(self) -> Outcomes:
        """Return the outcomes of the held-out questions."""
        return make_outcomes(self.held_out)

    @cached_property
    def bound_results(self) -> dict[Bound, BoundResult]:
        """Return the results of both bounds."""
        return {bound: self._bound_result(bound) for bound in get_args(Bound)}

    def _bound_result(self, bound: Bound) -> BoundResult:
        risk, delta = self.options.risk, self.options.delta
        if (threshold := risk_control.find_threshold(bound, self.outcomes, risk, delta)) is not None:
            return BoundResult(bound, threshold, count_answers(self.outcomes, threshold), count_answers(self.held_out_outcomes, threshold))
        lowest = risk_control.min_risk(bound, self.outcomes, delta)
        further = risk_control.further_questions(bound, self.outcomes, risk, delta)
        return BoundResult(bound, None, min_risk=lowest, further_questions=further)

    @cached_property
    def types(self) -> dict[str, tuple[int, dict[Bound, float | None]]]:
        """Return the number of questions and the thresholds by type; those with probability 1 - δ hold for all types together."""
        lines_by_type = {
            kind: [line for line in self.lines if line.type == kind] for kind in sorted({line.type for line in self.lines} - {""})
        }
        outcomes_by_type = {kind: make_outcomes(lines) for kind, lines in lines_by_type.items()}
        delta = self.options.delta / max(len(outcomes_by_type), 1)  # Bonferroni
        return {
            kind: (
                len(outcomes),
                {bound: risk_control.find_threshold(bound, outcomes, self.options.risk, delta) for bound in get_args(Bound)},
            )
            for kind, outcomes in outcomes_by_type.items()
            if len(outcomes_by_type) > 1
        }

    @cached_property
    def fit(self) -> Fit:
        """Return the method with which the confidences are fitted."""
        return risk_control.choose_fit(self.options.fit, len(confidences_and_outcomes(self.lines)[0]))

    @cached_property
    def curve(self) -> Curve:
        """Return the fitted curve."""
        return risk_control.fit_curve(self.fit, *confidences_and_outcomes(self.lines))

    @cached_property
    def errors(self) -> tuple[float, float] | None:
        """Return the calibration error (ECE) on the held-out questions before and after the fit; None if none is answered."""
        confidences, right = confidences_and_outcomes(self.held_out)
        if not confidences:
            return None
        return expected_calibration_error(confidences, right), expected_calibration_error(
            [apply_curve(self.curve, confidence) for confidence in confidences], right
        )

    @property
    def indexes(self) -> tuple[str, ...]:
        """Return the digests of the searched indexes, as recorded in the lines."""
        return tuple(sorted({str(line.row["index_digest"]) for line in self.lines if line.row.get("index_digest")}))

    @property
    def profile(self) -> Profile | None:
        """Return the profile; None if the requested bound has no threshold."""
        result = self.bound_results[self.options.bound]
        if result.threshold is None:
            return None
        return Profile(
            made_of=self._origin(),
            threshold=result.threshold,
            tau=self.tau,
            **{name: getattr(self.options, name) for name in ("bound", "risk", "delta", "seed", "split")},
            questions=len(self.lines),
            fit=self.fit if self.curve else "none",
            curve=self.curve,
            types={kind: thresholds[self.options.bound] for kind, (_, thresholds) in self.types.items()},
            figures=self._figures(result),
        )

    def _origin(self) -> Origin:
        entries = ((row.get("strategy"), row.get("variant") or "", row.get("settings") or {}) for row in self.run.manifest["variants"])
        settings_of_variant = next((settings for *key, settings in entries if key == [self.strategy, self.variant]), {})
        left_out = {*IGNORED_SETTINGS, *(("style",) if is_embedded(self.model) else ())}  # its answers do not depend on the style
        compared = {name: value for name, value in settings_of_variant.items() if name not in left_out}
        names = ("tau", "min_hop_confidence", "reconsider")  # None means the model's own value
        settings = {name: value for name, value in compared.items() if not (name in names and value is None)}
        data = {name: str(self.run.dataset_entry(name).get("sha256", "")) for name in sorted({line.row["dataset"] for line in self.lines})}
        return Origin(
            run=self.run.folder.resolve().name, strategy=self.strategy, variant=self.variant, model=self.model,
            settings=settings, data=data, indexes=self.indexes, type=self.options.type,
        )  # fmt: skip

    def _figures(self, result: BoundResult) -> dict[str, float | None]:
        parts = {"": result.calibrated, "held_out_": result.held_out}
        figures: dict[str, float | None] = {
            f"{part}{name}": getattr(half, name) for part, half in parts.items() if half for name in ("questions", "answered", "wrong")
        }
        before, after = self.errors or (None, None)
        return {**figures, "ece_before": before, "ece_after": after}


def make_outcomes(lines: Sequence[ResultLine]) -> Outcomes:
    """Return the outcomes of lines with gold answers; an answer to an unanswerable question is wrong."""
    return Outcomes.of([(float(line.row.get("confidence") or 0.0) if is_answered(line) else None, line.right) for line in lines])


def count_answers(outcomes: Outcomes, threshold: float) -> AnswerCounts:
    """Return the answer counts at a threshold."""
    return AnswerCounts(len(outcomes), *outcomes.count_above(threshold))


def calibrate_run(run: Run, options: CalibrationOptions) -> Calibration:
    """Calibrate a run; UsageError if it has no answers to calibrate on, or too few."""
    _check_options(options)
    strategy = _select_strategy(run, options)
    variants = _lines_by_variant(run, strategy, options.type)
    swept = {float(name.removeprefix(TAU_PREFIX)): lines for name, lines in variants.items() if _is_tau(name)}
    default_lines = variants[""] if len(swept) < 2 else next(iter(swept.values()))
    if not default_lines:
        what = f" of type {options.type!r}" if options.type else ""
        raise UsageError(f"{strategy} has no answers{what} with golds in {str(run.folder)!r}", "name another run, --strategy or --type")
    keys = sorted(_question_key(line) for line in default_lines)
    random.Random(options.seed).shuffle(keys)
    calibration_keys, held_out_keys = keys[: round(options.split * len(keys))], keys[round(options.split * len(keys)) :]
    needed = risk_control.min_answers("asked", options.risk, options.delta)
    if not calibration_keys:
        raise UsageError(f"no question of {len(keys)} is left to calibrate on", f"run on {needed} or more, or give a greater --split")
    variant, tau, taus = "", None, dict[str, dict[float, AnswerCounts]]()
    if len(swept) > 1:  # tau and the threshold are chosen on different questions, or the bound would not hold
        tau_keys, calibration_keys = calibration_keys[: len(calibration_keys) // 2], calibration_keys[len(calibration_keys) // 2 :]
        taus = _counts_by_tau({value: _select_lines(lines, tau_keys) for value, lines in swept.items()}, options)
        tau = best_tau(taus[""]) if taus else None
        tau = next(iter(swept)) if tau is None else tau
        variant = next(name for name in variants if _is_tau(name) and float(name.removeprefix(TAU_PREFIX)) == tau)
    lines = variants[variant]
    model = Counter(str(line.row.get("model") or run.manifest.get("model")) for line in lines).most_common(1)[0][0]
    return Calibration(
        run, options, strategy, variant, model, _select_lines(lines, calibration_keys), _select_lines(lines, held_out_keys), taus, tau
    )


def _check_options(options: CalibrationOptions) -> None:
    limits = (("--risk", options.risk), ("--delta", options.delta), ("--split", options.split))
    for name, value in limits:
        if not 0 < value <= 1 or (name == "--delta" and value == 1):
            raise UsageError(f"{name} {value:g} is not a fraction between 0 and 1", "give a number above 0 and up to 1, such as 0.1")


def _select_strategy(run: Run, options: CalibrationOptions) -> str:
    """Return the strategy to calibrate: the requested one, else the only one besides the prior; UsageError if there is none."""
    available = list(dict.fromkeys(strategy for _, strategy, _ in run.answered))
    candidates = [name for name in available if name != PRIOR_STRATEGY]
    chosen = options.strategy or (candidates[0] if len(candidates) == 1 else "")
    if chosen not in available:
        what = (
            f"the run has no answers of {options.strategy!r}"
            if options.strategy
            else f"the run has answers of {', '.join(available) or 'no strategy'}"
        )
        raise UsageError(
            what, f"choose one with --strategy: {', '.join(available)}" if available else "name a run with answers of a strategy"
        )
    return chosen


def _lines_by_variant(run: Run, strategy: str, kind: str) -> dict[str, list[ResultLine]]:
    """Return the lines with golds by variant; UsageError if the run used a profile."""
    for entry in run.manifest["variants"]:
        if entry.get("strategy") == strategy and (entry.get("settings") or {}).get("profile"):
            raise UsageError(f"the run {str(run.folder)!r} was made with a profile", "calibrate on a run without --profile")
    lines_by_variant: dict[str, list[ResultLine]] = {"": []}
    for (_, name, variant), lines in run.answered.items():
        if name == strategy and (variant == "" or _is_tau(variant)):
            lines_by_variant.setdefault(variant, []).extend(line for line in lines if line.has_gold and (not kind or line.type == kind))
    return lines_by_variant


def _is_tau(variant: str) -> bool:
    try:
        return variant.startswith(TAU_PREFIX) and 0 <= float(variant.removeprefix(TAU_PREFIX)) <= 1
    except ValueError:
        return False


def _question_key(line: ResultLine) -> tuple[Any, ...]:
    return line.row["dataset"], line.row["id"]


def _select_lines(lines: Sequence[ResultLine], keys: Sequence[tuple[Any, ...]]) -> list[ResultLine]:
    selected = set(keys)
    return [line for line in lines if _question_key(line) in selected]


def _counts_by_tau(swept: Mapping[float, Sequence[ResultLine]], options: CalibrationOptions) -> dict[str, dict[float, AnswerCounts]]:
    """Return the answer counts of each tau under the bound, by type and for all; a tau without a threshold is left out."""
    counts: dict[str, dict[float, AnswerCounts]] = {"": {}}
    kinds = sorted({line.type for lines in swept.values() for line in lines} - {""})
    for kind in ["", *(kinds if len(kinds) > 1 else [])]:
        for tau, lines in sorted(swept.items()):
            outcomes = make_outcomes([line for line in lines if not kind or line.type == kind])
            if (
                len(outcomes)
                and (threshold := risk_control.find_threshold(options.bound, outcomes, options.risk, options.delta)) is not None
            ):
                counts.setdefault(kind, {})[tau] = count_answers(outcomes, threshold)
    return counts


def best_tau(counts_by_tau: Mapping[float, AnswerCounts]) -> float | None:
    """Return the tau with the most right answers under the bound; of equal ones the lowest, which costs least."""
    return max(counts_by_tau, key=lambda tau: (counts_by_tau[tau].right, -tau), default=None)

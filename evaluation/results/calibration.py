"""Calibrate a run: a threshold on confidence that bounds wrong answers, a fitted curve, and how both do on questions held out."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from ramify.evaluation import risk_control
from ramify.evaluation.metrics import expected_calibration_error
from ramify.evaluation.results import ResultLine, Run
from ramify.evaluation.results.measures import PRIOR, answered, confident
from ramify.evaluation.risk_control import Bound, Fit, Outcomes
from ramify.nodes.settings import is_embedded
from ramify.tools.errors import UsageError
from ramify.tools.profile import Curve, Origin, Profile, apply_curve

TAU = "tau="
"""How the variants of a sweep of tau begin."""
UNCOMPARED = ("model", "base_url", "index", "profile", "check", "seed", "timeout", "keep_alive", "max_concurrency", "ask_first")
"""Settings that the answers' confidence does not depend on, or that are compared otherwise."""
FEW = 100
"""Questions below which a threshold is much a matter of chance."""


@dataclass(frozen=True)
class Order:
    """What is wanted of a calibration."""

    risk: float
    delta: float = 0.1
    bound: Bound = "asked"
    strategy: str | None = None
    type: str = ""
    """The only type of questions that is looked at; empty for all."""
    split: float = 0.5
    seed: int = 0
    fit: Fit | None = None


@dataclass(frozen=True)
class Counts:
    """What is answered, and how, above a threshold."""

    questions: int
    answered: int
    wrong: int

    @property
    def right(self) -> int:
        """Return how many answers are right."""
        return self.answered - self.wrong


@dataclass(frozen=True)
class Promise:
    """A bound: the threshold that keeps it, or the least risk that could be promised and how many more questions might do."""

    bound: Bound
    threshold: float | None
    calibrated: Counts | None = None
    held_out: Counts | None = None
    least: float | None = None
    further: int | None = None


@dataclass(frozen=True)
class Calibration:
    """A calibrated run."""

    run: Run
    order: Order
    strategy: str
    variant: str
    model: str
    lines: Sequence[ResultLine]
    """Those that it was calibrated on."""
    held_out: Sequence[ResultLine]
    taus: Mapping[str, Mapping[float, Counts]]
    """By type of question ("" for all) and tau: what would be answered; empty where tau was not swept."""
    tau: float | None

    @cached_property
    def outcomes(self) -> Outcomes:
        """Return what came of the questions calibrated on."""
        return outcomes_of(self.lines)

    @cached_property
    def checked(self) -> Outcomes:
        """Return what came of those held out."""
        return outcomes_of(self.held_out)

    @cached_property
    def promises(self) -> dict[Bound, Promise]:
        """Return both bounds."""
        return {bound: self._promise(bound) for bound in get_args(Bound)}

    def _promise(self, bound: Bound) -> Promise:
        risk, delta = self.order.risk, self.order.delta
        if (threshold := risk_control.threshold_for(bound, self.outcomes, risk, delta)) is not None:
            return Promise(bound, threshold, counts(self.outcomes, threshold), counts(self.checked, threshold))
        least = risk_control.least_risk(bound, self.outcomes, delta)
        further = risk_control.further_questions(bound, self.outcomes, risk, delta)
        return Promise(bound, None, least=least, further=further)

    @cached_property
    def types(self) -> dict[str, tuple[int, dict[Bound, float | None]]]:
        """Return by type of question how many there are, and the thresholds; those with probability 1 - δ hold for all types together."""
        found = {kind: [line for line in self.lines if line.type == kind] for kind in sorted({line.type for line in self.lines} - {""})}
        told = {kind: outcomes_of(lines) for kind, lines in found.items()}
        delta = self.order.delta / max(len(told), 1)  # Bonferroni
        return {
            kind: (len(of), {bound: risk_control.threshold_for(bound, of, self.order.risk, delta) for bound in get_args(Bound)})
            for kind, of in told.items()
            if len(told) > 1
        }

    @cached_property
    def fit(self) -> Fit:
        """Return how the confidences are fitted."""
        return risk_control.fit_of(self.order.fit, len(confident(self.lines)[0]))

    @cached_property
    def curve(self) -> Curve:
        """Return the fitted curve."""
        return risk_control.fit_curve(self.fit, *confident(self.lines))

    @cached_property
    def errors(self) -> tuple[float, float] | None:
        """Return the calibration error (ECE) on the questions held out, before and after the fit; None where none is answered."""
        sure, right = confident(self.held_out)
        if not sure:
            return None
        return expected_calibration_error(sure, right), expected_calibration_error([apply_curve(self.curve, one) for one in sure], right)

    @property
    def indexes(self) -> tuple[str, ...]:
        """Return the digests of what was searched, as the lines tell."""
        return tuple(sorted({str(line.row["index_digest"]) for line in self.lines if line.row.get("index_digest")}))

    @property
    def profile(self) -> Profile | None:
        """Return the profile; None where the bound that is wanted is not kept."""
        promise = self.promises[self.order.bound]
        if promise.threshold is None:
            return None
        return Profile(
            made_of=self._origin(),
            threshold=promise.threshold,
            tau=self.tau,
            **{name: getattr(self.order, name) for name in ("bound", "risk", "delta", "seed", "split")},
            questions=len(self.lines),
            fit=self.fit if self.curve else "none",
            curve=self.curve,
            types={kind: thresholds[self.order.bound] for kind, (_, thresholds) in self.types.items()},
            figures=self._figures(promise),
        )

    def _origin(self) -> Origin:
        listed = ((one.get("strategy"), one.get("variant") or "", one.get("settings") or {}) for one in self.run.manifest["variants"])
        given = next((settings for *named, settings in listed if named == [self.strategy, self.variant]), {})
        left_out = {*UNCOMPARED, *(("style",) if is_embedded(self.model) else ())}  # that model's answers are the same in any style
        own = {name: value for name, value in given.items() if name not in left_out}
        names = ("tau", "min_hop_confidence", "reconsider")  # none stands for the model's own
        settings = {name: value for name, value in own.items() if not (name in names and value is None)}
        data = {name: str(self.run.described(name).get("sha256", "")) for name in sorted({line.row["dataset"] for line in self.lines})}
        return Origin(
            run=self.run.folder.resolve().name, strategy=self.strategy, variant=self.variant, model=self.model,
            settings=settings, data=data, indexes=self.indexes, type=self.order.type,
        )  # fmt: skip

    def _figures(self, promise: Promise) -> dict[str, float | None]:
        parts = {"": promise.calibrated, "held_out_": promise.held_out}
        told: dict[str, float | None] = {
            f"{part}{name}": getattr(one, name) for part, one in parts.items() if one for name in ("questions", "answered", "wrong")
        }
        before, after = self.errors or (None, None)
        return {**told, "ece_before": before, "ece_after": after}


def outcomes_of(lines: Sequence[ResultLine]) -> Outcomes:
    """Return the outcomes of lines with gold answers; an answer to a question that has none is wrong."""
    return Outcomes.of([(float(line.row.get("confidence") or 0.0) if answered(line) else None, line.right) for line in lines])


def counts(outcomes: Outcomes, threshold: float) -> Counts:
    """Return what is answered above a threshold."""
    return Counts(len(outcomes), *outcomes.given(threshold))


def calibrate(run: Run, order: Order) -> Calibration:
    """Calibrate a run; UsageError where it has no answers to calibrate on, or too few."""
    _check(order)
    strategy = _strategy(run, order)
    variants = _variants(run, strategy, order.type)
    swept = {float(name.removeprefix(TAU)): lines for name, lines in variants.items() if _is_tau(name)}
    whole = variants[""] if len(swept) < 2 else next(iter(swept.values()))
    if not whole:
        what = f" of type {order.type!r}" if order.type else ""
        raise UsageError(f"{strategy} has no answers{what} with golds in {str(run.folder)!r}", "name another run, --strategy or --type")
    keys = sorted(_key(line) for line in whole)
    random.Random(order.seed).shuffle(keys)
    mine, others = keys[: round(order.split * len(keys))], keys[round(order.split * len(keys)) :]
    least = risk_control.least_answers("asked", order.risk, order.delta)
    if not mine:
        raise UsageError(f"no question of {len(keys)} is left to calibrate on", f"run on {least} or more, or give a greater --split")
    variant, tau, taus = "", None, dict[str, dict[float, Counts]]()
    if len(swept) > 1:  # tau is chosen on some of the questions, and the threshold on others: else the bound would not hold
        picking, mine = mine[: len(mine) // 2], mine[len(mine) // 2 :]
        taus = _taus({value: _only(lines, picking) for value, lines in swept.items()}, order)
        tau = best_tau(taus[""]) if taus else None
        tau = next(iter(swept)) if tau is None else tau
        variant = next(name for name in variants if _is_tau(name) and float(name.removeprefix(TAU)) == tau)
    lines = variants[variant]
    model = Counter(str(line.row.get("model") or run.manifest.get("model")) for line in lines).most_common(1)[0][0]
    return Calibration(run, order, strategy, variant, model, _only(lines, mine), _only(lines, others), taus, tau)


def _check(order: Order) -> None:
    limits = (("--risk", order.risk), ("--delta", order.delta), ("--split", order.split))
    for name, value in limits:
        if not 0 < value <= 1 or (name == "--delta" and value == 1):
            raise UsageError(f"{name} {value:g} is no share", "give a number above 0 and up to 1, such as 0.1")


def _strategy(run: Run, order: Order) -> str:
    """Name the strategy that is calibrated: the one that is wanted, else the only one beside the prior."""
    there = list(dict.fromkeys(strategy for _, strategy, _ in run.answered))
    own = [name for name in there if name != PRIOR]
    wanted = order.strategy or (own[0] if len(own) == 1 else "")
    if wanted not in there:
        what = (
            f"the run has no answers of {order.strategy!r}" if order.strategy else f"the run has answers of {', '.join(there) or 'nobody'}"
        )
        raise UsageError(what, f"choose one with --strategy: {', '.join(there)}" if there else "name a run that has asked a strategy")
    return wanted


def _variants(run: Run, strategy: str, kind: str) -> dict[str, list[ResultLine]]:
    """Return the lines with golds by variant; UsageError where the run itself withheld answers by a profile."""
    for one in run.manifest["variants"]:
        if one.get("strategy") == strategy and (one.get("settings") or {}).get("profile"):
            raise UsageError(f"the run {str(run.folder)!r} was made with a profile", "calibrate on a run without --profile")
    found: dict[str, list[ResultLine]] = {"": []}
    for (_, name, variant), lines in run.answered.items():
        if name == strategy and (variant == "" or _is_tau(variant)):
            found.setdefault(variant, []).extend(line for line in lines if line.scored and (not kind or line.type == kind))
    return found


def _is_tau(variant: str) -> bool:
    try:
        return variant.startswith(TAU) and 0 <= float(variant.removeprefix(TAU)) <= 1
    except ValueError:
        return False


def _key(line: ResultLine) -> tuple[Any, ...]:
    return line.row["dataset"], line.row["id"]


def _only(lines: Sequence[ResultLine], keys: Sequence[tuple[Any, ...]]) -> list[ResultLine]:
    wanted = set(keys)
    return [line for line in lines if _key(line) in wanted]


def _taus(swept: Mapping[float, Sequence[ResultLine]], order: Order) -> dict[str, dict[float, Counts]]:
    """Return what each tau would answer under the bound, by type and for all; a tau that keeps the bound nowhere is left out."""
    found: dict[str, dict[float, Counts]] = {"": {}}
    kinds = sorted({line.type for lines in swept.values() for line in lines} - {""})
    for kind in ["", *(kinds if len(kinds) > 1 else [])]:
        for tau, lines in sorted(swept.items()):
            of = outcomes_of([line for line in lines if not kind or line.type == kind])
            if len(of) and (threshold := risk_control.threshold_for(order.bound, of, order.risk, order.delta)) is not None:
                found.setdefault(kind, {})[tau] = counts(of, threshold)
    return found


def best_tau(told: Mapping[float, Counts]) -> float | None:
    """Return the tau with most right answers under the bound, of equal ones the lowest: it asks least."""
    return max(told, key=lambda tau: (told[tau].right, -tau), default=None)

"""The report on a calibration: both bounds with their thresholds and how they did on the questions held out, the fit, and what to heed."""

from collections.abc import Iterator
from pathlib import Path

from ramify.evaluation.report._blocks import Block, Cell, Column, Plot, Table, Words, sections_of, words
from ramify.evaluation.report.writers import markdown
from ramify.evaluation.results.calibration import FEW, Calibration, Counts, Promise, best_tau
from ramify.evaluation.results.measures import percent
from ramify.evaluation.risk_control import Bound, interval, least_answers
from ramify.tools.new_files import write_atomically
from ramify.tools.profile import apply_curve
from ramify.tools.quoting import pluralize

NOTHING = "none"
COUNTED: dict[Bound, str] = {"asked": "of all questions asked", "answered": "of the answers given"}
_COLOURS = "".join(f"--ink-{place}:{colour};" for place, colour in enumerate(("#1f5fa8", "#b3541e", "#3b7a3b"), 1))
_STYLE = f"<style>svg{{--ink:#222;--rule:#bbb;{_COLOURS}background:#fff}}</style>"


def write_calibration(found: Calibration, profile: Path) -> str:
    """Write the profile, where there is one, its report and its curve beside it, and return the report as Markdown."""
    title = f"Calibration of {found.strategy} with {found.model}"
    sections = sections_of(
        ("bounds", "What is promised", _bounds(found)),
        ("types", "By type of question", _types(found)),
        ("tau", "Tau", _tau(found)),
        ("fit", "Confidence", _fit(found)),
        ("heed", "What to heed", _heed(found)),
    )
    plot, told = profile.with_suffix(".svg"), markdown(title, sections)
    told += f"\n![Share of wrong answers by the share of questions answered]({plot.name})\n"
    drawn = Plot.drawn("", "promised", found).svg
    write_atomically(str(drawn).replace(">", f">{_STYLE}", 1), plot)
    write_atomically(told, profile.with_suffix(".md"))
    if (made := found.profile) is not None:
        write_atomically(made.model_dump_json(indent=1) + "\n", profile)
    return told


def promise_of(found: Calibration, bound: Bound) -> str:
    """Say what a bound promises."""
    how = "in expectation" if bound == "asked" else f"with a probability of {100 * (1 - found.order.delta):g} %"
    return f"at most {100 * found.order.risk:g} % {COUNTED[bound]} are wrong, {how}"


def missing(found: Calibration, promise: Promise) -> str:
    """Say that no threshold keeps a bound, what could be promised instead, and how many more questions might do."""
    order = found.order
    least = f"the least that could be promised is {100 * promise.least:g} %" if promise.least is not None else "nothing could be promised"
    if promise.further is None:
        more = "more questions with such outcomes would not help: the surest answers are wrong too often"
    else:
        more = f"if they turned out like these, {promise.further:,} more questions to calibrate on would do"
    needed = least_answers(promise.bound, order.risk, order.delta)
    what = pluralize(needed, "question") if promise.bound == "asked" else f"{pluralize(needed, 'answer')}, all of them right,"
    return f"No threshold keeps this: {promise_of(found, promise.bound)}. It takes {what} at least; {least}; {more}."


def _bounds(found: Calibration) -> Iterator[Block]:
    made = f"{pluralize(len(found.lines), 'question')} of {found.run.folder.resolve().name!r}"
    checked = (
        f"{len(found.held_out):,} others, drawn with seed {found.order.seed}, check it" if found.held_out else "none is left to check it"
    )
    yield Words(f"Calibrated on {made}; {checked}. An answer whose confidence is not above the threshold becomes Unknown.")
    columns = [
        *words("promise", "questions"),
        Column("threshold", "an answer is given where its confidence, as the model gave it, is above this"),
        Column("fitted", "the threshold on the fitted scale of confidence"),
        Column("answered", "coverage: questions with an answer, right or wrong"),
        Column("wrong of asked", "wrong answers among all questions, with the 95 % interval (Clopper and Pearson)"),
        Column("wrong of answered", "wrong answers among those given"),
        Column("right of asked", "informativeness: questions answered rightly"),
    ]
    rows = []
    for promise in found.promises.values():
        mark = " (in the profile)" if promise.bound == found.order.bound and promise.threshold is not None else ""
        for name, told in (("calibrated on", promise.calibrated), ("held out", promise.held_out)):
            if promise.threshold is not None and told is not None and told.questions:
                answered, wrong, right = _shares(told)
                shares = [answered, wrong, _share(told.wrong, told.answered), right]
                limits = [Cell(f"{promise.threshold:.4f}"), Cell(f"{apply_curve(found.curve, promise.threshold):.2f}")]
                rows.append([Cell(promise_of(found, promise.bound) + mark, head=True), Cell(name), *limits, *shares])
    if rows:
        yield Table("Thresholds", columns, rows)
    for promise in found.promises.values():
        if promise.threshold is None:
            yield Words(missing(found, promise), "warning")
        elif promise.held_out is not None and promise.held_out.questions:
            yield Words(_verdict(found, promise, promise.held_out))


def _shares(told: Counts) -> list[Cell]:
    """Return the cells of what is answered, wrong of all questions, and right of all questions."""
    return [_share(count, told.questions) for count in (told.answered, told.wrong, told.right)]


def _share(count: int, total: int) -> Cell:
    if not total:
        return Cell(NOTHING)
    low, high = interval(count, total)
    return Cell(f"{percent(count / total)} %", f"{percent(low)} to {percent(high)}")


def _verdict(found: Calibration, promise: Promise, told: Counts) -> str:
    total = told.questions if promise.bound == "asked" else told.answered
    low, _ = interval(told.wrong, total) if total else (0.0, 1.0)
    share = told.wrong / total if total else 0.0
    within = (
        "as promised" if share <= found.order.risk else "more, within chance" if low <= found.order.risk else "more than chance explains"
    )
    return f"Held out: {percent(share)} % {COUNTED[promise.bound]} are wrong ({told.wrong} of {total}): {within}."


def _types(found: Calibration) -> Iterator[Block]:
    if not found.types:
        return
    order = found.order
    columns = [*words("type"), Column("n", "questions calibrated on")]
    columns += [Column(f"{bound}: threshold", f"lowest that promises this for the type: {promise_of(found, bound)}") for bound in COUNTED]
    rows = [
        [Cell(kind, head=True), Cell(str(count)), *(Cell(NOTHING if one is None else f"{one:.4f}") for one in limits.values())]
        for kind, (count, limits) in found.types.items()
    ]
    delta = order.delta / len(found.types)
    note = (
        f"A type takes {least_answers('asked', order.risk, delta)} questions for the first, and "
        f"{least_answers('answered', order.risk, delta)} right answers for the second, at least. In expectation, each holds by itself, "
        f"without correction; with a probability, all hold together (Bonferroni, δ / {len(found.types)}). A question that is asked has no "
        "type: to use one of these, calibrate with --type."
    )
    yield Table("Thresholds by type", columns, rows, note)


def _tau(found: Calibration) -> Iterator[Block]:
    if not found.taus:
        return
    columns = [*words("type", "tau"), *(Column(name) for name in ("answered", "wrong of asked", "right of asked"))]
    rows = []
    for kind, told in found.taus.items():
        for tau, one in told.items():
            mark = ", recommended" if tau == best_tau(told) else ""
            rows.append([Cell(kind or "all"), Cell(f"{tau:g}{mark}"), *_shares(one)])
    chosen = f"{found.tau:g} is in the profile, for questions that set no tau. " if found.tau is not None else ""
    note = (
        f"{chosen}It is the tau with most right answers, where the threshold promises: {promise_of(found, found.order.bound)}. "
        "Chosen on a part of the questions that the threshold was not calibrated on. Those by type are for a look: nothing is promised "
        "for them."
    )
    yield Table("Tau under the bound", columns, rows, note)


def _fit(found: Calibration) -> Iterator[Block]:
    if not found.curve:
        return
    names = {"platt": "Platt scaling", "isotonic": "Isotonic regression"}
    if found.errors is None:
        yield Words(f"{names[found.fit]} fits the confidences; no answer was held out to check it.")
        return
    before, after = found.errors
    yield Words(
        f"{names[found.fit]} fits the confidences. Their calibration error (ECE) on the questions held out is {before:.3f} before and "
        f"{after:.3f} after it."
    )


def _heed(found: Calibration) -> Iterator[Block]:
    yield Words(
        "A bound holds for questions like those it was calibrated on. With another model, strategy or index, other settings, or "
        "other kinds of questions it does not hold. A result says so where the model, strategy, index or settings differ; the kind of "
        "questions is not checked.",
        "warning",
    )
    if len(found.lines) < FEW:
        yield Words(f"{len(found.lines)} questions are few: with another --seed the threshold may be far from this one.", "warning")
    if not any(line.row.get("unanswerable") for line in found.lines):
        yield Words("No question of the run is without an answer in its documents; if yours are, the bound does not hold.", "warning")
    if not found.indexes:
        yield Words("The run, of an older version, does not tell what its index held: another index will not be noticed.", "warning")
    if len({line.row["dataset"] for line in found.lines}) > 1:
        yield Words("The run has several data sets: the bound is for such a mixture, and for none of them alone.", "warning")
    if failed := sum(line.failed for line in found.lines):
        yield Words(f"{pluralize(failed, 'question')} failed, and count as not answered.", "warning")

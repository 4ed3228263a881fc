"""The report on a calibration: both bounds with their thresholds and held-out results, the fit, and warnings."""

from collections.abc import Iterator
from pathlib import Path

from ramify.lab.report._blocks import Block, Cell, Column, Plot, Table, TextBlock, make_sections, text_columns
from ramify.lab.report._writers import render_markdown
from ramify.lab.results.calibration import MIN_QUESTIONS, AnswerCounts, BoundResult, Calibration, best_tau
from ramify.lab.results.measures import format_percent
from ramify.lab.risk_control import Bound, clopper_pearson_interval, min_answers
from ramify.tools.new_files import write_atomically
from ramify.tools.profile import apply_curve
from ramify.tools.quoting import pluralize

NO_VALUE = "none"
BOUND_SUBJECTS: dict[Bound, str] = {"asked": "of all questions asked", "answered": "of the answers given"}
_COLOURS = "".join(f"--ink-{place}:{colour};" for place, colour in enumerate(("#1f5fa8", "#b3541e", "#3b7a3b"), 1))
_STYLE = f"<style>svg{{--ink:#222;--rule:#bbb;{_COLOURS}background:#fff}}</style>"


def write_calibration(calibration: Calibration, profile: Path) -> str:
    """Write the profile (if there is one), its report and its plot, and return the report as Markdown."""
    title = f"Calibration of {calibration.strategy} with {calibration.model}"
    sections = make_sections(
        ("bounds", "What is promised", _bounds_section(calibration)),
        ("types", "By type of question", _types_section(calibration)),
        ("tau", "Tau", _tau_section(calibration)),
        ("fit", "Confidence", _fit_section(calibration)),
        ("heed", "What to heed", _warnings_section(calibration)),
    )
    plot, text = profile.with_suffix(".svg"), render_markdown(title, sections)
    text += f"\n![Share of wrong answers by the share of questions answered]({plot.name})\n"
    svg = Plot.draw("", "plot_bounds", calibration).svg
    write_atomically(str(svg).replace(">", f">{_STYLE}", 1), plot)
    write_atomically(text, profile.with_suffix(".md"))
    if (new_profile := calibration.profile) is not None:
        write_atomically(new_profile.model_dump_json(indent=1) + "\n", profile)
    return text


def describe_bound(calibration: Calibration, bound: Bound) -> str:
    """Return a description of a bound."""
    how = "in expectation" if bound == "asked" else f"with a probability of {100 * (1 - calibration.options.delta):g} %"
    return f"at most {100 * calibration.options.risk:g} % {BOUND_SUBJECTS[bound]} are wrong, {how}"


def describe_missing_threshold(calibration: Calibration, result: BoundResult) -> str:
    """Return a message on a bound without threshold: the lowest possible risk, and how many more questions might suffice."""
    options = calibration.options
    least = (
        f"the least that could be promised is {100 * result.min_risk:g} %" if result.min_risk is not None else "nothing could be promised"
    )
    if result.further_questions is None:
        more = "more questions with such outcomes would not help: the surest answers are wrong too often"
    else:
        more = f"if they turned out like these, {result.further_questions:,} more questions to calibrate on would do"
    needed = min_answers(result.bound, options.risk, options.delta)
    what = pluralize(needed, "question") if result.bound == "asked" else f"{pluralize(needed, 'answer')}, all of them right,"
    return f"No threshold keeps this: {describe_bound(calibration, result.bound)}. It takes {what} at least; {least}; {more}."


def _bounds_section(calibration: Calibration) -> Iterator[Block]:
    calibrated_on = f"{pluralize(len(calibration.lines), 'question')} of {calibration.run.folder.resolve().name!r}"
    checked = (
        f"{len(calibration.held_out):,} others, drawn with seed {calibration.options.seed}, check it"
        if calibration.held_out
        else "none is left to check it"
    )
    yield TextBlock(f"Calibrated on {calibrated_on}; {checked}. An answer whose confidence is not above the threshold becomes Unknown.")
    columns = [
        *text_columns("promise", "questions"),
        Column("threshold", "an answer is given where its confidence, as the model gave it, is above this"),
        Column("fitted", "the threshold on the fitted scale of confidence"),
        Column("answered", "coverage: questions with an answer, right or wrong"),
        Column("wrong of asked", "wrong answers among all questions, with the 95 % interval (Clopper and Pearson)"),
        Column("wrong of answered", "wrong answers among those given"),
        Column("right of asked", "informativeness: questions answered rightly"),
    ]
    rows = []
    for result in calibration.bound_results.values():
        mark = " (in the profile)" if result.bound == calibration.options.bound and result.threshold is not None else ""
        for name, counts in (("calibrated on", result.calibrated), ("held out", result.held_out)):
            if result.threshold is not None and counts is not None and counts.questions:
                answered, wrong, right = _count_cells(counts)
                shares = [answered, wrong, _share_cell(counts.wrong, counts.answered), right]
                limits = [Cell(f"{result.threshold:.4f}"), Cell(f"{apply_curve(calibration.curve, result.threshold):.2f}")]
                rows.append([Cell(describe_bound(calibration, result.bound) + mark, head=True), Cell(name), *limits, *shares])
    if rows:
        yield Table("Thresholds", columns, rows)
    for result in calibration.bound_results.values():
        if result.threshold is None:
            yield TextBlock(describe_missing_threshold(calibration, result), "warning")
        elif result.held_out is not None and result.held_out.questions:
            yield TextBlock(_held_out_summary(calibration, result, result.held_out))


def _count_cells(counts: AnswerCounts) -> list[Cell]:
    """Return the cells of what is answered, wrong of all questions, and right of all questions."""
    return [_share_cell(count, counts.questions) for count in (counts.answered, counts.wrong, counts.right)]


def _share_cell(count: int, total: int) -> Cell:
    if not total:
        return Cell(NO_VALUE)
    low, high = clopper_pearson_interval(count, total)
    return Cell(f"{format_percent(count / total)} %", f"{format_percent(low)} to {format_percent(high)}")


def _held_out_summary(calibration: Calibration, result: BoundResult, counts: AnswerCounts) -> str:
    total = counts.questions if result.bound == "asked" else counts.answered
    low, _ = clopper_pearson_interval(counts.wrong, total) if total else (0.0, 1.0)
    share = counts.wrong / total if total else 0.0
    within = (
        "as promised"
        if share <= calibration.options.risk
        else "more, within chance"
        if low <= calibration.options.risk
        else "more than chance explains"
    )
    return f"Held out: {format_percent(share)} % {BOUND_SUBJECTS[result.bound]} are wrong ({counts.wrong} of {total}): {within}."


def _types_section(calibration: Calibration) -> Iterator[Block]:
    if not calibration.types:
        return
    options = calibration.options
    columns = [*text_columns("type"), Column("n", "questions calibrated on")]
    columns += [
        Column(f"{bound}: threshold", f"lowest that promises this for the type: {describe_bound(calibration, bound)}")
        for bound in BOUND_SUBJECTS
    ]
    rows = [
        [
            Cell(kind, head=True),
            Cell(str(count)),
            *(Cell(NO_VALUE if threshold is None else f"{threshold:.4f}") for threshold in limits.values()),
        ]
        for kind, (count, limits) in calibration.types.items()
    ]
    delta = options.delta / len(calibration.types)
    note = (
        f"A type takes {min_answers('asked', options.risk, delta)} questions for the first, and "
        f"{min_answers('answered', options.risk, delta)} right answers for the second, at least. In expectation, each holds by itself, "
        f"without correction; with a probability, all hold together (Bonferroni, δ / {len(calibration.types)}). "
        "A question that is asked has no type: to use one of these, calibrate with --type."
    )
    yield Table("Thresholds by type", columns, rows, note)


def _tau_section(calibration: Calibration) -> Iterator[Block]:
    if not calibration.taus:
        return
    columns = [*text_columns("type", "tau"), *(Column(name) for name in ("answered", "wrong of asked", "right of asked"))]
    rows = []
    for kind, counts_by_tau in calibration.taus.items():
        for tau, counts in counts_by_tau.items():
            mark = ", recommended" if tau == best_tau(counts_by_tau) else ""
            rows.append([Cell(kind or "all"), Cell(f"{tau:g}{mark}"), *_count_cells(counts)])
    chosen = f"{calibration.tau:g} is in the profile, for questions that set no tau. " if calibration.tau is not None else ""
    note = (
        f"{chosen}It is the tau with most right answers, where the threshold promises: "
        f"{describe_bound(calibration, calibration.options.bound)}. "
        "Chosen on a part of the questions that the threshold was not calibrated on. Those by type are for a look: nothing is promised "
        "for them."
    )
    yield Table("Tau under the bound", columns, rows, note)


def _fit_section(calibration: Calibration) -> Iterator[Block]:
    if not calibration.curve:
        return
    names = {"platt": "Platt scaling", "isotonic": "Isotonic regression"}
    if calibration.errors is None:
        yield TextBlock(f"{names[calibration.fit]} fits the confidences; no answer was held out to check it.")
        return
    before, after = calibration.errors
    yield TextBlock(
        f"{names[calibration.fit]} fits the confidences. Their calibration error (ECE) on the questions held out is "
        f"{before:.3f} before and {after:.3f} after it."
    )


def _warnings_section(calibration: Calibration) -> Iterator[Block]:
    yield TextBlock(
        "A bound holds for questions like those it was calibrated on. With another model, strategy or index, other settings, or "
        "other kinds of questions it does not hold. A result says so where the model, strategy, index or settings differ; the kind of "
        "questions is not checked.",
        "warning",
    )
    if len(calibration.lines) < MIN_QUESTIONS:
        yield TextBlock(
            f"{len(calibration.lines)} questions are few: with another --seed the threshold may be far from this one.", "warning"
        )
    if not any(line.row.get("unanswerable") for line in calibration.lines):
        yield TextBlock("No question of the run is without an answer in its documents; if yours are, the bound does not hold.", "warning")
    if not calibration.indexes:
        yield TextBlock("The run, of an older version, does not tell what its index held: another index will not be noticed.", "warning")
    if len({line.row["dataset"] for line in calibration.lines}) > 1:
        yield TextBlock("The run has several data sets: the bound is for such a mixture, and for none of them alone.", "warning")
    if failed := sum(line.failed for line in calibration.lines):
        yield TextBlock(f"{pluralize(failed, 'question')} failed, and count as not answered.", "warning")

"""Reports of a test run: lines for a terminal, JSON, JUnit's XML and a page."""

import re
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any
from xml.etree import ElementTree

from ramify.nodes.tree import ROOT
from ramify.nodes.tree.notes import confidence_figure
from ramify.testing.running import HOLDS, Outcome, Status
from ramify.tools.quoting import one_line, pluralize, truncate_line

FORMAT = "ramify-test-run/1"
ORDER: tuple[Status, ...] = ("failed", "error", "passed", "moved", "unchanged")
_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot have."""
_MAX_CHARS = 160
"""Characters shown of an answer, or of what does not hold of it."""
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "li{margin:.6rem 0}.failed,.error{font-weight:600}pre{white-space:pre-wrap;margin:.2rem 0 .6rem;font-size:.9rem}"
    "ul{list-style:none;padding:0}"
)


def outcome_lines(outcome: Outcome, number: int, total: int) -> list[str]:
    """Return the lines of a test, as they are printed when it is done."""
    share = f"[{number:>{len(str(total))}}/{total}]"
    line = f"{share} {outcome.status.upper():<9} {one_line(outcome.test.question)}"
    return [line, *(f"      {detail}" for detail in detail_lines(outcome))]


def detail_lines(outcome: Outcome) -> list[str]:
    """Return what did not hold, and what changed since the last right result; for one that holds, only what moved."""
    if outcome.status in ("passed", "unchanged"):
        return []
    lines = [outcome.error] if outcome.error else []
    record, before = outcome.record, outcome.before
    if record is not None:
        lines += [truncate_line(objection, _MAX_CHARS) for objection in record.objections]
        root = outcome.difference is not None and outcome.difference.hop.path == ROOT
        if outcome.status == "failed" and before is not None and not root:
            lines.append(f"was: {_answer(before.answer, before.confidence)}, is: {_answer(record.answer, record.confidence)}")
    lines += outcome.change_lines()
    if record is not None and record.conflict and (before is None or before.conflict != record.conflict):
        lines.append(record.conflict)
    return [one_line(line) for line in lines]


def _answer(answer: str, confidence: float | None) -> str:
    answer = truncate_line(answer, _MAX_CHARS)
    return answer if confidence is None else f"{answer} ({confidence_figure(confidence)})"


def summary_line(outcomes: Sequence[Outcome], deselected: int = 0) -> str:
    """Return the counts, the share of questions that were asked, and what they cost."""
    parts = _counts(outcomes) + ([f"{deselected} deselected"] if deselected else [])
    asked = sum(bool(outcome.asked) for outcome in outcomes)
    calls, seconds = sum(outcome.calls for outcome in outcomes), sum(outcome.seconds for outcome in outcomes)
    share = f"asked {asked} of {len(outcomes)}" + (f" ({asked / len(outcomes):.0%})" if outcomes else "")
    return f"{', '.join(parts) or 'no tests'} in {seconds:.1f} s · {share}, {pluralize(calls, 'model call')}"


def counts_line(outcomes: Sequence[Outcome], not_run: int = 0) -> str:
    """Return the counts of the outcomes, and of the tests that have not been run."""
    return ", ".join(_counts(outcomes) + ([f"{not_run} not run"] if not_run else [])) or "no tests"


def _counts(outcomes: Sequence[Outcome]) -> list[str]:
    counts = Counter(outcome.status for outcome in outcomes)
    return [f"{counts[status]} {status}" for status in ORDER if counts[status]]


def to_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return a run as a JSON object."""
    return {"format": FORMAT, "passed": all(outcome.holds for outcome in outcomes), "tests": [_row(outcome) for outcome in outcomes]}


def _row(outcome: Outcome) -> dict[str, Any]:
    record, difference = outcome.record, outcome.difference
    hops = {name: hop.model_dump(mode="json") if hop else None for name, hop in difference._asdict().items()} if difference else None
    return {
        "question": outcome.test.question,
        "status": outcome.status,
        "answer": record.answer if record else None,
        "confidence": record.confidence if record else None,
        "answer_before": outcome.before.answer if outcome.before else None,
        "objections": record.objections if record else [],
        "error": outcome.error,
        "changed_hop": hops,
        "details": detail_lines(outcome),
        "asked": outcome.asked,
        "model_calls": outcome.calls,
        "seconds": round(outcome.seconds, 3),
    }


def to_junit(outcomes: Sequence[Outcome], name: str) -> str:
    """Return a run as JUnit's XML, which CI systems show."""
    counts = Counter(outcome.status for outcome in outcomes)
    totals = {"tests": len(outcomes), "failures": counts["failed"], "errors": counts["error"]}
    seconds = sum(outcome.seconds for outcome in outcomes)
    shown: dict[str, Any] = {key: str(value) for key, value in totals.items()} | {"time": f"{seconds:.3f}"}
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", name=_valid(name), **shown)
    for outcome in outcomes:
        case = ElementTree.SubElement(
            suite, "testcase", classname=_valid(name), name=_valid(outcome.test.question), time=f"{outcome.seconds:.3f}"
        )
        details = [_valid(line) for line in detail_lines(outcome)]
        if outcome.status not in HOLDS:
            problem = ElementTree.SubElement(
                case, "failure" if outcome.status == "failed" else "error", message=details[0] if details else ""
            )
            problem.text = "\n".join(details)
        elif details:
            ElementTree.SubElement(case, "system-out").text = "\n".join(details)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _valid(text: str) -> str:
    return _INVALID.sub("�", text)


def to_page(outcomes: Sequence[Outcome], name: str) -> str:
    """Return a run as a self-contained page."""
    items = [
        f'<li class="{outcome.status}"><span>{outcome.status}</span> · {escape(outcome.test.question)}'
        + (f"<pre>{escape(chr(10).join(details))}</pre>" if (details := detail_lines(outcome)) else "")
        + "</li>"
        for outcome in sorted(outcomes, key=lambda outcome: ORDER.index(outcome.status))
    ]
    policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{policy}<meta name="viewport" content="width=device-width">'
        f"<title>{escape(name)}</title><style>{_STYLE}</style></head><body><h1>{escape(name)}</h1>\n"
        f"<p>{escape(summary_line(outcomes))}</p>\n<ul>\n" + "\n".join(items) + "\n</ul></body></html>\n"
    )

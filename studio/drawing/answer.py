"""The answer as HTML: how sure it is, and numbered sources that unfold and lead to their files. Page and notebook share it."""

import re

from ramify.graphs.result import Result
from ramify.nodes.state import NOT_CITED, Citation
from ramify.nodes.tree import is_unknown
from ramify.studio.drawing.cards import measure
from ramify.studio.drawing.phrases import ORIGINS, advice, file_of, quoted, reason, settled, stopped, title_of
from ramify.tools.markup import element, marked, safe

LONG = 120
"""Characters from which on an answer is a text to read, not a name to see."""

_BEHIND = re.compile(r"\[(\d{1,3})\](?=(?:\[\d{1,3}\])*$)", re.MULTILINE)


def answer_html(result: Result, prefix: str = "") -> str:
    """Give the answer with the numbers of its sources, how sure it is, and what there is to say about it; below it the notices."""
    kind = " unknown" if is_unknown(result.answer) else " long" if len(result.answer) > LONG else ""
    said = element("span", _said(result, prefix), dir="auto") + _numbers(result, prefix)
    origin = ORIGINS.get(result.confidence_source or "", "")
    parts = [
        element("p", said, class_=f"final{kind}"),
        element("div", measure("confidence", result.confidence) + element("span", origin), class_="measures"),
    ]
    if result.explanation:
        parts.append(element("p", safe(result.explanation), dir="auto"))
    parts += [element("p", safe(_sentence(told)), class_="note") for told in (settled(result), reason(result), advice(result)) if told]
    if told := stopped(result):
        parts.append(element("p", safe(_sentence(told)), class_="warning"))
    notices = "".join(element("p", safe(notice)) for notice in result.notices)
    return element("section", "".join(parts), class_="result") + (element("aside", notices, class_="notices") if notices else "")


def _sentence(told: str) -> str:
    return f"{told[:1].upper()}{told[1:].rstrip('.')}."


def _said(result: Result, prefix: str) -> str:
    """Write the answer; a number at the end of a line of it, behind what it is the source of, leads there."""
    cited = set(_cited(result))
    return _BEHIND.sub(lambda found: _link(int(found[1]), prefix) if int(found[1]) in cited else found[0], safe(result.answer))


def _numbers(result: Result, prefix: str) -> str:
    """Each leads into its passage: a browser unfolds what a link leads into. What is not cited has no number behind the answer.

    One that stands in the answer already, behind what it is the source of, is not said again.
    """
    return "".join(_link(number, prefix) for number in _cited(result) if f"[{number}]" not in result.answer)


def _cited(result: Result) -> list[int]:
    return [number for number, citation in enumerate(result.citations, 1) if citation.cited]


def _link(number: int, prefix: str) -> str:
    return element("a", f"[{number}]", class_="number", href=f"#{prefix}source-{number}", title=f"Open source {number}")


def sources_html(result: Result, prefix: str = "") -> str:
    """Give the passages that the answer rests on, or was shown, or that come closest, each folded to what matters."""
    cited = _section("Sources", result.citations, result, f"{prefix}source")
    return cited + _section("Closest passages", result.closest, result, f"{prefix}closest")


def _section(title: str, citations: list[Citation], result: Result, name: str) -> str:
    if not citations:
        return ""
    listed = "".join(element("li", _source(number, citation, result, f"{name}-{number}")) for number, citation in enumerate(citations, 1))
    return element("section", element("h2", title) + element("ol", listed, class_="citations"))


def _source(number: int, citation: Citation, result: Result, name: str) -> str:
    answers = [] if is_unknown(result.answer) else [result.answer]
    parts = [element("span", f"[{number}]", class_="number"), _linked(title_of(citation), "title", citation)]
    if file := file_of(citation):
        parts.append(_linked(file, "source", citation))
    if not citation.cited and citation in result.citations:
        parts.append(element("span", NOT_CITED, class_="source"))
    if citation.also:
        parts.append(element("span", safe(citation.elsewhere), class_="source"))
    parts.append(element("span", marked(quoted(citation, result.answer), answers), class_="snippet", dir="auto"))
    whole = element("p", marked(citation.text, answers), id=name, dir="auto")
    return element("details", element("summary", " ".join(parts)) + whole)


def _linked(text: str, kind: str, citation: Citation) -> str:
    """Name what is cited, as a link that opens it where its file is known."""
    if not citation.link.startswith("file:"):
        return element("span", safe(text), class_=kind)
    return element("a", safe(text), class_=kind, href=citation.link, title=f"Open {citation.path}")

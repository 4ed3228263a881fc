"""The answer as HTML: how sure it is, and numbered sources that open. Page and notebook share it."""

from ramify.graphs.result import Result
from ramify.nodes.state import NOT_CITED
from ramify.nodes.tree import is_unknown
from ramify.studio.cards import measure
from ramify.studio.words import ORIGINS, STOPPED, advice, heading, settled, snippet
from ramify.tools.markup import element, marked, safe

LONG = 120
"""Characters from which on an answer is a text to read, not a name to see."""


def answer_html(result: Result, prefix: str = "") -> str:
    """Give the answer with the numbers of its sources, how sure it is, and what there is to say about it."""
    kind = " unknown" if is_unknown(result.answer) else " long" if len(result.answer) > LONG else ""
    said = element("span", safe(result.answer), dir="auto") + _numbers(result, prefix)
    origin = ORIGINS.get(result.confidence_source or "", "")
    parts = [
        element("p", said, class_=f"final{kind}"),
        element("div", measure("confidence", result.confidence) + element("span", origin), class_="measures"),
    ]
    if result.explanation:
        parts.append(element("p", safe(result.explanation), dir="auto"))
    if told := settled(result):
        parts.append(element("p", safe(f"{told.capitalize()}."), class_="note"))
    if told := advice(result):
        parts.append(element("p", safe(f"{told.capitalize()}."), class_="note"))
    if result.stopped_by in STOPPED:
        parts.append(element("p", safe(STOPPED[result.stopped_by].capitalize() + "."), class_="warning"))
    parts += [element("p", safe(notice), class_="note") for notice in result.notices]
    return element("section", "".join(parts), class_="result")


def _numbers(result: Result, prefix: str) -> str:
    """Each leads into its passage: a browser unfolds what a link leads into. What is not cited has no number behind the answer."""
    numbers = [number for number, citation in enumerate(result.citations, 1) if citation.cited]
    return "".join(element("a", f"[{n}]", class_="number", href=f"#{prefix}source-{n}", title=f"Open source {n}") for n in numbers)


def sources_html(result: Result, prefix: str = "") -> str:
    """Give the passages that the answer rests on, or else was shown, each folded to what matters; nothing where there are none."""
    if not result.citations:
        return ""
    listed = "".join(element("li", _source(number, result, prefix)) for number in range(1, len(result.citations) + 1))
    return element("section", element("h2", "Sources") + element("ol", listed, class_="citations"))


def _source(number: int, result: Result, prefix: str) -> str:
    citation = result.citations[number - 1]
    title = heading(result.passages.get(citation.id), citation.source)
    answers = [] if is_unknown(result.answer) else [result.answer]
    parts = [element("span", f"[{number}]", class_="number"), element("span", safe(title), class_="title")]
    parts.append(element("span", safe(citation.source), class_="source") if citation.source != title else "")
    parts.append("" if citation.cited else element("span", NOT_CITED, class_="source"))
    parts.append(element("span", marked(snippet(citation.text, result.answer), answers), class_="snippet", dir="auto"))
    whole = element("p", marked(citation.text, answers), id=f"{prefix}source-{number}", dir="auto")
    return element("details", element("summary", " ".join(parts)) + whole)

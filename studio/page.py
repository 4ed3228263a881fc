"""One self-contained page: the answer, its citations, the tree. It loads nothing and runs only its own few lines of script."""

import hashlib
import os
from base64 import b64encode
from pathlib import Path
from tempfile import NamedTemporaryFile

from ramify.graphs.result import Result
from ramify.nodes.tree import is_unknown
from ramify.studio.cards import branches_html, measure
from ramify.studio.markup import element, marked, packaged, safe
from ramify.studio.words import STOPPED, cost, heading, settled, snippet
from ramify.tools.errors import InputError

SOURCES = {"logprobs": "from log probabilities", "stated": "as the model states it"}


def page(result: Result) -> str:
    """Give the whole page of a result."""
    script = packaged("fold.js")
    style = packaged("tree.css") + packaged("page.css")
    body = element("main", _head(result) + _answer(result) + _citations(result) + _tree(result) + _foot(result), class_="ramify")
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        element("title", safe(f"{result.question} — Ramify")),
        element("style", style),
    ]
    return f'<!doctype html>\n<html lang="en">\n<head>{"".join(head)}</head>\n<body>{body}{element("script", script)}</body>\n</html>\n'


def _policy(script: str) -> str:
    """Forbid all loading, and any script but the page's own."""
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _head(result: Result) -> str:
    made = element("p", safe(f"{result.strategy} · {result.model}"), class_="made")
    return element("header", made + element("h1", safe(result.question), dir="auto"))


def _answer(result: Result) -> str:
    unknown = " unknown" if is_unknown(result.answer) else ""
    parts = [element("p", safe(result.answer), class_=f"final{unknown}", dir="auto")]
    source = SOURCES.get(result.confidence_source or "", "")
    parts.append(element("div", measure("confidence", result.confidence) + element("span", source), class_="measures"))
    if result.explanation:
        parts.append(element("p", safe(result.explanation), dir="auto"))
    if told := settled(result):
        parts.append(element("p", safe(f"{told.capitalize()}."), class_="note"))
    if result.stopped_by in STOPPED:
        parts.append(element("p", safe(STOPPED[result.stopped_by].capitalize() + "."), class_="warning"))
    parts += [element("p", safe(notice), class_="note") for notice in result.notices]
    return element("section", "".join(parts), class_="result")


def _citations(result: Result) -> str:
    if not result.citations:
        return ""
    listed = "".join(element("li", _citation(number, result)) for number in range(1, len(result.citations) + 1))
    return element("section", element("h2", "Sources") + element("ol", listed, class_="citations"))


def _citation(number: int, result: Result) -> str:
    citation = result.citations[number - 1]
    title = heading(result.passages.get(citation.id), citation.source)
    answers = [] if is_unknown(result.answer) else [result.answer]
    parts = [element("span", f"[{number}]", class_="number"), element("span", safe(title), class_="title")]
    parts.append(element("span", safe(citation.source), class_="source") if citation.source != title else "")
    parts.append(element("span", marked(snippet(citation.text, result.answer), answers), class_="snippet", dir="auto"))
    return element("details", element("summary", " ".join(parts)) + element("p", marked(citation.text, answers), dir="auto"))


def _tree(result: Result) -> str:
    tools = ""
    if len(result.tree) > 1:
        tools = _button("Unfold all", "open", "below") + _button("Fold all", "shut", "below")
    if any(branch.evidence for branch in result.tree.values()):
        tools += _button("Show passages", "open", "evidence") + _button("Hide passages", "shut", "evidence")
    bar = element("div", tools, class_="tools") if tools else ""
    return element("section", element("h2", "How it was found") + bar + branches_html(result.tree, result.passages), class_="tree")


def _button(label: str, fold: str, kind: str) -> str:
    return element("button", label, type="button", data_fold=fold, data_kind=kind)


def _foot(result: Result) -> str:
    return element("footer", safe(cost(result)))


def write_page(result: Result, path: Path) -> None:
    """Write the page so that it is there whole or not at all; InputError where it cannot be written."""
    try:
        with NamedTemporaryFile("w", dir=path.parent, prefix=".ramify-", delete=False, encoding="utf-8") as file:
            file.write(page(result))
        os.chmod(file.name, 0o666 & ~_umask())
        Path(file.name).replace(path)
    except OSError as error:
        raise InputError(
            f"cannot write {str(path)!r} ({error.strerror or error})", "give --html a file in a folder you may write to"
        ) from error


def _umask() -> int:
    """Read the mask; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""One self-contained page: the answer, its citations, the tree. It loads nothing and runs only its own few lines of script."""

import hashlib
from base64 import b64encode
from pathlib import Path

from ramify.graphs.result import Result
from ramify.studio.drawing.answer import answer_html, sources_html
from ramify.studio.drawing.cards import branches_html, style
from ramify.studio.drawing.phrases import brief, cost, searched
from ramify.studio.drawing.tree_view import Look
from ramify.tools.atomic_file import write_whole
from ramify.tools.markup import element, packaged, safe

SHEETS = ("answer.css", "page.css")


def page(result: Result) -> str:
    """Give the whole page of a result."""
    script = packaged(__package__, "fold.js")
    body = element("main", _head(result) + answer_html(result) + sources_html(result) + _tree(result) + _foot(result), class_="ramify")
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        element("title", safe(f"{brief(result.question)} — Ramify")),
        element("style", style() + packaged(__package__, *SHEETS)),
    ]
    return f'<!doctype html>\n<html lang="en">\n<head>{"".join(head)}</head>\n<body>{body}{element("script", script)}</body>\n</html>\n'


def _policy(script: str) -> str:
    """Forbid all loading, and any script but the page's own."""
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _head(result: Result) -> str:
    index = f" · {searched(result, '--index DIR')}" if result.index else ""
    made = element("p", safe(f"{result.strategy} · {result.model}{index}"), class_="made")
    return element("header", made + element("h1", safe(brief(result.question)), dir="auto"))


def _tree(result: Result) -> str:
    tools = ""
    if len(result.tree) > 1:
        tools = _button("Unfold all", "open", "below") + _button("Fold all", "shut", "below")
    if any(branch.evidence for branch in result.tree.values()):
        tools += _button("Show passages", "open", "evidence") + _button("Hide passages", "shut", "evidence")
    bar = element("div", tools, class_="tools") if tools else ""
    return element("section", element("h2", "How it was found") + bar + branches_html(result.tree, Look(result.passages)), class_="tree")


def _button(label: str, fold: str, kind: str) -> str:
    return element("button", label, type="button", data_fold=fold, data_kind=kind)


def _foot(result: Result) -> str:
    return element("footer", element("div", safe(cost(result))))


def write_page(result: Result, path: Path) -> None:
    """Write the page of a result; InputError where it cannot be written."""
    write_whole(page(result), path)

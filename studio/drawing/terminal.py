"""An answer and its tree in the terminal, with or without colours."""

import re
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, Group
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.tree import Tree as Drawing

from ramify.graphs.run import Result
from ramify.nodes.tree import DROPPED, ROOT, WORKING, Branch, Tree, branches_below
from ramify.nodes.tree.citation import Citation, Sentence
from ramify.nodes.tree.notes import folded
from ramify.nodes.tree.phrases import brief, figure, kind_of, legend, measures
from ramify.studio.drawing.phrases import (
    UNSUPPORTED,
    advice,
    cost,
    file_of,
    found_words,
    full_text,
    is_the_answer,
    quoted,
    reason,
    searched,
    settled,
    stopped,
    sureness,
    title_of,
)
from ramify.tools.quoting import nonempty_lines, one_line

STYLES = {"leaf": "green", "inner": "blue", "split": "cyan", "pruned": "bright_black", "failed": "red"}
WORKING_STYLE = "yellow"
LABEL_WIDTH = 8


def show(result: Result, console: Console, tree: bool = False) -> None:
    """Print an answer with citations, cost and optionally its tree; if the result asks back, only that question."""
    if result.asked_back:
        console.print(Text(one_line(result.asked_back), style="bold"))
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", width=LABEL_WIDTH)
    table.add_column(overflow="fold")
    for label, content in _rows(result):
        table.add_row(label, content)
    console.print(table)
    if tree:
        console.print()
        console.print(drawing(result.tree))


def _rows(result: Result) -> Iterator[tuple[str, Text]]:
    text = full_text(result)
    if not text or not is_the_answer(result):
        yield "answer", Text("\n".join(nonempty_lines(result.answer)), style="bold")
    if told := sureness(result):
        yield "", Text(told, style="dim")
    if text:
        label = "closest" if result.citations and result.citations[-1].closest else "quoted"
        yield label if result.quoted else "text", _text(result, text)
    if result.explanation:
        yield "because", Text("\n".join(nonempty_lines(result.explanation)))
    if told := settled(result):
        yield "settled", Text(told)
    if told := reason(result):
        yield "why", Text(one_line(told))
    if told := advice(result):
        yield "", Text(told, style="yellow")
    if told := stopped(result):
        yield "note", Text(told, style="yellow")
    for number, citation in enumerate(result.citations, 1):
        head = head_of(number, citation, citation.mark)
        if not (result.quoted and result.text):  # else its quotation stands above
            head.append(f"\n{one_line(quoted(citation, result.answer))}", style="not bold")
        yield "sources" if number == 1 else "", head
    if told := searched(result, "--index DIR"):
        yield "index", Text(one_line(told), style="dim")
    yield "cost", Text(one_line(f"{cost(result)} · {result.strategy} · {result.model}"), style="dim")


def _text(result: Result, text: list[list[Sentence]]) -> Text:
    """Return the sentences with their numbers; in quotations the found words stand out, and what is not supported says so."""
    shown = Text()
    for number, line in enumerate(text):
        shown.append("\n" if number else "")
        for place, sentence in enumerate(line):
            shown.append((" " if place else "") + one_line(sentence.text))
            shown.append("".join(f" [{one}]" for one in sentence.citations), style="cyan")
            shown.append(f" ({UNSUPPORTED})" if sentence.supported is False else "", style="yellow")
    if result.quoted:
        shown.highlight_regex("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in found_words(result)) or "(?!)", "bold")
    return shown


def head_of(number: int, citation: Citation, mark: str) -> Text:
    """Return the heading of a citation, as a terminal link."""
    head = Text.assemble((f"[{number}] ", "cyan"), (one_line(title_of(citation)), _linked("bold", citation)))
    if file := file_of(citation):
        head.append("  ").append(one_line(file), style=_linked("dim", citation))
    head.append(mark, style="dim")
    return head.append(f"  {one_line(citation.elsewhere)}", style="dim") if citation.also else head


def _linked(style: str, citation: Citation) -> Style:
    return Style.parse(style) + Style(link=citation.link or None)


def drawing(tree: Tree) -> Group:
    """Return the drawing of a tree, with a legend of its notes."""
    drawn = Drawing(_label(tree[ROOT]), guide_style="bright_black")
    _hang(drawn, branches_below(tree), ROOT)
    told = legend(tree)
    if not told:
        return Group(drawn)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="italic", width=LABEL_WIDTH)
    table.add_column(style="dim", overflow="fold")
    for word, meaning in told.items():
        table.add_row(word, meaning)
    return Group(drawn, Text(), table)


def _hang(drawn: Drawing, below: Mapping[str, Sequence[Branch]], path: str) -> None:
    for child in below[path]:
        _hang(drawn.add(_label(child)), below, child.path)


def _label(branch: Branch) -> Group:
    dropped = branch.status in DROPPED
    note = folded(branch.note)
    head = Text.assemble(
        (f"{branch.path} ", "bold"),
        (branch.status, style_of(branch.status)),
        *((f" · {word}", "italic bright_black") for word in note.words),
        ("  ", ""),
        (one_line(kind_of(branch)), "dim" if dropped else ""),
    )
    lines = [head]
    if said := _said(branch):
        lines.append(said)
    if note.rest:
        lines.append(Text(brief(one_line(note.rest)), style="bright_black" if dropped else "italic bright_black"))
    return Group(*lines)


def _said(branch: Branch) -> Text | None:
    figures = " · ".join(f"{name} {figure(value)}" for name, value in measures(branch))
    if branch.answer is None:
        return Text(figures, style="dim") if figures else None
    answer = Text.assemble(("→ ", "dim"), (one_line(branch.answer) or "(nothing)", "dim" if branch.status in DROPPED else "bold"))
    return answer.append(f"  {figures}" if figures else "", style="not bold dim")


def style_of(status: str) -> str:
    """Return the colour of a status."""
    return WORKING_STYLE if status in WORKING else STYLES.get(status, "")

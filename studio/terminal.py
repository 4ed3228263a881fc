"""An answer and its tree, drawn in a terminal: with colours where there are any, and understandable without."""

from collections.abc import Iterator

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text
from rich.tree import Tree as Drawing

from ramify.graphs.result import Result
from ramify.nodes.tree import DROPPED, ROOT, WORKING, Branch, Tree, children
from ramify.studio.consoles import one_line
from ramify.studio.words import STOPPED, advice, brief, cost, figure, heading, kind_of, measures, searched, settled, snippet, sureness

STYLES = {"leaf": "green", "inner": "blue", "split": "cyan", "pruned": "bright_black", "failed": "red"}
WORKING_STYLE = "yellow"
LABEL_WIDTH = 8


def show(result: Result, console: Console, tree: bool = False) -> None:
    """Print an answer with its citations, what it cost, and its tree if wanted."""
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
    yield "answer", Text(one_line(result.answer), style="bold")
    yield "", Text(sureness(result), style="dim")
    if result.explanation:
        yield "because", Text(one_line(result.explanation))
    if told := settled(result):
        yield "settled", Text(told)
    if told := advice(result):
        yield "", Text(told, style="yellow")
    if result.stopped_by in STOPPED:
        yield "note", Text(STOPPED[result.stopped_by], style="yellow")
    for number in range(1, len(result.citations) + 1):
        yield "sources" if number == 1 else "", _citation(number, result)
    if told := searched(result, "--index DIR"):
        yield "index", Text(one_line(told), style="dim")
    yield "cost", Text(f"{cost(result)} · {result.strategy} · {result.model}", style="dim")


def _citation(number: int, result: Result) -> Text:
    citation = result.citations[number - 1]
    title = one_line(heading(result.passages.get(citation.id), citation.source))
    head = Text.assemble((f"[{number}] ", "cyan"), (title, "bold"))
    if citation.source != title:
        head.append(f"  {one_line(citation.source)}", style="dim")
    head.append(citation.mark, style="dim")
    return head.append(f"\n{snippet(citation.text, result.answer)}", style="not bold")


def drawing(tree: Tree) -> Drawing:
    """Draw a tree: paths, statuses in words and colours, questions, answers, figures, notes."""
    drawn = Drawing(_label(tree[ROOT]), guide_style="bright_black")
    _hang(drawn, tree, ROOT)
    return drawn


def _hang(drawn: Drawing, tree: Tree, path: str) -> None:
    for child in children(tree, path):
        _hang(drawn.add(_label(child)), tree, child.path)


def _label(branch: Branch) -> Group:
    dropped = branch.status in DROPPED
    head = Text.assemble(
        (f"{branch.path} ", "bold"),
        (branch.status, style_of(branch.status)),
        ("  ", ""),
        (one_line(kind_of(branch)), "dim" if dropped else ""),
    )
    lines = [head]
    if said := _said(branch):
        lines.append(said)
    if branch.note:
        lines.append(Text(brief(one_line(branch.note)), style="bright_black" if dropped else "italic bright_black"))
    return Group(*lines)


def _said(branch: Branch) -> Text | None:
    figures = " · ".join(f"{name} {figure(value)}" for name, value in measures(branch))
    if branch.answer is None:
        return Text(figures, style="dim") if figures else None
    answer = Text.assemble(("→ ", "dim"), (one_line(branch.answer) or "(nothing)", "dim" if branch.status in DROPPED else "bold"))
    return answer.append(f"  {figures}" if figures else "", style="not bold dim")


def style_of(status: str) -> str:
    """Give a status its colour."""
    return WORKING_STYLE if status in WORKING else STYLES.get(status, "")

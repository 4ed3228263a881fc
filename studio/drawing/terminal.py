"""An answer and its tree in the terminal, with or without colours."""

import re
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, Group
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.tree import Tree as RichTree

from ramify.graphs.run import Result
from ramify.nodes.tree import DROPPED, ROOT, WORKING, Branch, Tree, branches_below, is_unknown
from ramify.nodes.tree.citation import Citation, Sentence
from ramify.nodes.tree.notes import figure, shorten_note
from ramify.studio.drawing.phrases import (
    UNSUPPORTED,
    answers_to_mark,
    citation_file,
    citation_quote,
    citation_title,
    confidence_text,
    conflict_text,
    cost_text,
    index_text,
    kind_of,
    legend,
    measures,
    shorten_question,
    source_lists,
    stop_reason,
    text_is_answer,
    text_lines,
    unknown_advice,
    unknown_reason,
)
from ramify.tools.quoting import nonempty_lines, one_line

STATUS_STYLES = {"leaf": "green", "inner": "blue", "split": "cyan", "pruned": "bright_black", "failed": "red"}
WORKING_STYLE = "yellow"
LABEL_WIDTH = 10


def print_answer(result: Result, console: Console, tree: bool = False) -> None:
    """Print an answer with citations, cost and optionally its tree; if the result is a question to the user, only that question."""
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
        console.print(render_tree(result.tree))


def _rows(result: Result) -> Iterator[tuple[str, Text]]:
    text = text_lines(result)
    says_it = bool(text) and text_is_answer(result)
    yield "answer", _text(result, text) if says_it else Text("\n".join(nonempty_lines(result.answer)), style="bold")
    if line := confidence_text(result):
        yield "", Text(line, style="dim")
    if text and not says_it:
        label = "closest" if is_unknown(result.answer) else "quoted"
        yield label if result.quoted else "text", _text(result, text)
    if result.explanation and not is_unknown(result.answer):
        yield "because", Text("\n".join(nonempty_lines(result.explanation)))
    if line := conflict_text(result):
        yield "settled", Text(line)
    if line := unknown_reason(result):
        yield "why", Text(one_line(line))
    if line := unknown_advice(result):
        yield "", Text(line, style="yellow")
    if line := stop_reason(result):
        yield "note", Text(line, style="yellow")
    above = {number for sentence in result.sentences for number in sentence.citations} if result.quoted else set()
    for title, citations in source_lists(result):
        for place, (number, citation) in enumerate(citations):
            head = citation_heading(number, citation, citation.mark)
            if number not in above:  # else its quotation is printed above
                head.append(f"\n{one_line(citation_quote(citation, result.answer))}", style="not bold")
            yield "" if place else title.casefold(), head
    if line := index_text(result, "--index DIR"):
        yield "index", Text(one_line(line), style="dim")
    yield "cost", Text(one_line(f"{cost_text(result)} · {result.strategy} · {result.model}"), style="dim")


def _text(result: Result, text: list[list[Sentence]]) -> Text:
    """Return the sentences with citation numbers; in quotations answers are bold, and unsupported sentences are marked."""
    line_text = Text()
    for number, line in enumerate(text):
        line_text.append("\n" if number else "")
        for position, sentence in enumerate(line):
            line_text.append((" " if position else "") + one_line(sentence.text))
            line_text.append("".join(f" [{cited}]" for cited in sentence.citations), style="cyan")
            line_text.append(f" ({UNSUPPORTED})" if sentence.supported is False else "", style="yellow")
    if result.quoted:
        line_text.highlight_regex("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in answers_to_mark(result)) or "(?!)", "bold")
    return line_text


def citation_heading(number: int, citation: Citation, mark: str) -> Text:
    """Return the heading of a citation, as a terminal link."""
    head = Text.assemble((f"[{number}] ", "cyan"), (one_line(citation_title(citation)), _link_style("bold", citation)))
    if file := citation_file(citation):
        head.append("  ").append(one_line(file), style=_link_style("dim", citation))
    head.append(mark, style="dim")
    return head.append(f"  {one_line(citation.elsewhere)}", style="dim") if citation.also else head


def _link_style(style: str, citation: Citation) -> Style:
    return Style.parse(style) + Style(link=citation.link or None)


def render_tree(tree: Tree) -> Group:
    """Return a tree for the terminal, with a legend of its notes."""
    rich_tree = RichTree(_label(tree[ROOT]), guide_style="bright_black")
    _add_children(rich_tree, branches_below(tree), ROOT)
    note_meanings = legend(tree)
    if not note_meanings:
        return Group(rich_tree)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="italic", width=LABEL_WIDTH)
    table.add_column(style="dim", overflow="fold")
    for word, meaning in note_meanings.items():
        table.add_row(word, meaning)
    return Group(rich_tree, Text(), table)


def _add_children(rich_tree: RichTree, children: Mapping[str, Sequence[Branch]], path: str) -> None:
    for child in children[path]:
        _add_children(rich_tree.add(_label(child)), children, child.path)


def _label(branch: Branch) -> Group:
    is_dropped = branch.status in DROPPED
    note = shorten_note(branch.note)
    head = Text.assemble(
        (f"{branch.path} ", "bold"),
        (branch.status, status_style(branch.status)),
        *((f" · {word}", "italic bright_black") for word in note.words),
        ("  ", ""),
        (one_line(kind_of(branch)), "dim" if is_dropped else ""),
    )
    lines = [head]
    if answer_line := _answer_line(branch):
        lines.append(answer_line)
    if note.rest:
        lines.append(Text(shorten_question(one_line(note.rest)), style="bright_black" if is_dropped else "italic bright_black"))
    return Group(*lines)


def _answer_line(branch: Branch) -> Text | None:
    figures = " · ".join(f"{name} {figure(value)}" for name, value in measures(branch))
    if branch.answer is None:
        return Text(figures, style="dim") if figures else None
    answer = Text.assemble(("→ ", "dim"), (one_line(branch.answer) or "(nothing)", "dim" if branch.status in DROPPED else "bold"))
    return answer.append(f"  {figures}" if figures else "", style="not bold dim")


def status_style(status: str) -> str:
    """Return the colour of a status."""
    return WORKING_STYLE if status in WORKING else STATUS_STYLES.get(status, "")

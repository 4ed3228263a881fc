"""The tree as HTML: a small map, and a card for every branch, nested as the branches are.

Page, notebook and the documents' pictures share it; the report's script makes the same cards, in the same style.
"""

from collections.abc import Mapping

from ramify.nodes.tree import ROOT, Branch, Passage, Tree, children, descendants, is_unknown
from ramify.nodes.tree.notes import folded
from ramify.studio.drawing.phrases import brief, figure, heading, kind_of, legend, measures, one_line
from ramify.studio.drawing.tree_map import map_svg
from ramify.studio.drawing.tree_view import Look
from ramify.tools.markup import element, marked, packaged, safe


def tree_html(tree: Tree, passages: Mapping[str, Passage], prefix: str = "") -> str:
    """Give the tree as a fragment that brings its own style; where several are on one page, each needs its own prefix."""
    return element("div", element("style", style()) + branches_html(tree, Look(passages, prefix)), class_="ramify")


def style() -> str:
    """Give the style sheet of maps and cards, for a page that holds `branches_html`."""
    return packaged("ramify.nodes", "tree.css")


def branches_html(tree: Tree, look: Look) -> str:
    """Give the map and the cards, for a page that has the style already; nothing before the root is planted."""
    if ROOT not in tree:
        return ""
    return map_svg(tree, look) + element("ol", _item(tree, tree[ROOT], look), class_="branches root") + _legend(tree)


def _legend(tree: Tree) -> str:
    """Say what the words for frequent notes mean."""
    told = "".join(element("dt", safe(word)) + element("dd", safe(meaning)) for word, meaning in legend(tree).items())
    return element("dl", told, class_="legend") if told else ""


def _item(tree: Tree, branch: Branch, look: Look) -> str:
    below = children(tree, branch.path)
    return element("li", _card(branch, look) + _below(tree, branch, below, look))


def _below(tree: Tree, branch: Branch, below: list[Branch], look: Look) -> str:
    if not below:
        return ""
    count = len(descendants(tree, branch.path))
    summary = element("summary", f"{count} {'branch' if count == 1 else 'branches'} below")
    inner = element("ol", "".join(_item(tree, child, look) for child in below), class_="branches")
    return f'<details class="below" open>{summary}{inner}</details>'


def _card(branch: Branch, look: Look) -> str:
    note = folded(branch.note)
    head = element("span", safe(branch.path), class_="path") + element("span", safe(look.state(branch)), class_="status")
    head += "".join(element("span", safe(word), class_="word", title=branch.note) for word in note.words)
    parts = [element("div", head, class_="head"), element("p", safe(kind_of(branch)), class_="question", dir="auto")]
    if branch.answer is not None:
        parts.append(element("p", element("b", safe(branch.answer or "(nothing)")), class_="answer", dir="auto"))
    parts += [_measures(branch), _note(note.rest), _evidence(branch, look.passages)]
    busy = " busy" if branch.path in look.busy else ""
    return element("article", "".join(parts), class_=f"card {look.tone(branch)}{busy}", id=look.name(branch))


def _measures(branch: Branch) -> str:
    told = "".join(measure(name, value) for name, value in measures(branch))
    return element("div", told, class_="measures") if told else ""


def measure(name: str, value: float) -> str:
    """Show a figure from 0 to 1 as a bar and as a number."""
    bar = element("meter", "", min="0", max="1", value=f"{value:.3f}", aria_label=name)
    return element("span", f"{safe(name)} {bar} {figure(value)}", class_="measure")


def _note(note: str) -> str:
    return element("p", safe(brief(one_line(note))), class_="note", dir="auto") if note else ""


def _evidence(branch: Branch, passages: Mapping[str, Passage]) -> str:
    found = [passages[key] for key in branch.evidence if key in passages]
    if not found:
        return ""
    answers = [branch.answer] if branch.answer and not is_unknown(branch.answer) else []
    batch = branch.kind == "batch"
    shown = "".join(_passage(passage, passage.id in branch.cited, answers, not batch) for passage in found)
    told = f"{kind_of(branch)} read" if batch else f"{len(found)} {'passage' if len(found) == 1 else 'passages'} found"
    summary = element("summary", told)
    return element("details", summary + element("ul", shown, class_="passages"), class_="evidence")


def _passage(passage: Passage, cited: bool, answers: list[str], compared: bool) -> str:
    title = heading(passage, passage.source)
    head = element("span", safe(title), class_="title")
    similarity = f" · similarity {passage.score:.2f}" if compared else ""
    head += " " + element("span", safe(f"{passage.source}{similarity}"), class_="source")
    head += " " + element("span", "cited", class_="cited") if cited else ""
    return element("li", head + element("p", marked(passage.text, answers), dir="auto"), class_="passage")

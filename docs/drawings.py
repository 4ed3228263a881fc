"""The pictures of the documents that are drawn, not looked at: the way from a wrong answer, and the demo's graph; see docs/pictures.py."""

from html import escape
from pathlib import Path

from ramify.lab.inspection.contents import inspect_index
from ramify.lab.inspection.graph_layout import HEIGHT, WIDTH, layout_graph
from ramify.tools.demo import demo_index
from ramify.tools.pages import render_macro
from ramify.tools.quoting import truncate_line
from ramify.tools.search.searcher import open_index

HERE = Path(__file__).parent
EDIT = "#c2410c"
MARGIN = 24


def text(x: float, y: float, content: str, size: int = 14, colour: str = "#1c2330", **more: str) -> str:
    """Write one line."""
    rest = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}"{rest}>{escape(content)}</text>'


def picture(name: str, title: str, width: float, height: float, content: str) -> None:
    """Write a picture."""
    style = 'font-family="system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif"'
    ground = f'<rect width="{width:g}" height="{height:g}" rx="12" fill="#f4f6f9"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" {style}>'
    (HERE / name).write_text(f"{head}<title>{escape(title)}</title>{ground}{content}</svg>\n", encoding="utf-8")


WAY = (
    ("1", "Tasks", "Open the thread's steps. Each", "branch's work is a task of its own:", "what it was given, what it replied."),
    ("2", "Tree", "In the state after the last step,", "find the first branch, from the top,", "whose answer is wrong."),
    ("3", "Note", "Read its note, its confidence and", "its evidence: was it split, searched", "or answered badly?"),
    ("4", "Fork", "Go back to the checkpoint at which", "that branch was about to be worked", "on, and edit the state there."),
    ("5", "Edit", "Change its question or its status.", "Only this branch has to be given;", "the others stay."),
    ("6", "Run on", "Branches that were settled are not", "asked again. The old run stays in", "the history beside the new one."),
)


def way() -> None:
    """Draw the way from a wrong answer to its cause and back."""
    width, height, step = 292.0, 132.0, 316.0
    parts = []
    for number, (mark, name, *lines) in enumerate(WAY):
        x, y = MARGIN + (number % 3) * step, MARGIN + (number // 3) * (height + 36)
        parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" fill="#ffffff" stroke="#cfd6e0"/>')
        parts.append(f'<circle cx="{x + 28:g}" cy="{y + 30:g}" r="14" fill="{EDIT if name == "Edit" else "#1d5fc4"}"/>')
        parts.append(text(x + 28, y + 35, mark, 15, "#ffffff", text_anchor="middle", font_weight="700"))
        parts.append(text(x + 52, y + 36, name, 18, font_weight="700"))
        parts += [text(x + 18, y + 68 + 20 * row, line, 14, "#3a4353") for row, line in enumerate(lines)]
    arrows = [(MARGIN + width + 3, MARGIN + height / 2), (MARGIN + step + width + 3, MARGIN + height / 2)]
    arrows += [(x, y + height + 36) for x, y in arrows]
    parts += [f'<path d="M{x:g} {y:g} h14 m-5 -5 l5 5 l-5 5" fill="none" stroke="#5a6475" stroke-width="2"/>' for x, y in arrows]
    picture(
        "studio_way.svg",
        "From a wrong answer to its cause, and on",
        2 * MARGIN + 2 * step + width,
        2 * MARGIN + 2 * height + 36,
        "".join(parts),
    )


GROUND = """<style>
.labels text { fill: #1c2330; stroke: #f4f6f9; stroke-width: 3.2px; stroke-linejoin: round; paint-order: stroke; }
.dots circle { stroke: #f4f6f9; }
</style>"""


def names() -> None:
    """Draw the graph of the demo corpus, with a legend of its largest communities."""
    inside = inspect_index(open_index(demo_index("graph"))).graph
    assert inside is not None
    shown = layout_graph(inside)
    parts = [GROUND, render_macro("inspect_parts.html", "marks", shown).replace("\n", "")]
    column = (WIDTH - 2 * MARGIN) / 3
    for number, (id, colour) in enumerate(shown.colours.items()):
        x, y = MARGIN + (number % 3) * column, HEIGHT + 22 + (number // 3) * 24
        parts.append(f'<circle cx="{x + 7:g}" cy="{y - 5:g}" r="6" fill="{colour}"/>')
        parts.append(text(x + 20, y, truncate_line(inside.reports[id].title, 38), 12, "#3a4353"))
    rows = -(-len(shown.colours) // 3)
    title = f"The {len(shown.dots)} most connected of the {len(inside.graph.names)} names in the demo corpus, coloured by community"
    picture("graph.svg", title, WIDTH, HEIGHT + 14 + rows * 24 + MARGIN / 2, "".join(parts))

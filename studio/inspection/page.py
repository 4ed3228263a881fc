"""One self-contained page of an index: its sizes, a picture of its graph with its reports, or its groups. It loads and runs nothing."""

from collections.abc import Iterable
from pathlib import Path

from ramify.studio.inspection.contents import Inside, Inspection
from ramify.studio.inspection.graph_layout import HEIGHT, NAMES, OTHER, WIDTH, Picture, picture
from ramify.studio.inspection.graph_svg import drawing
from ramify.studio.inspection.group_page import groups_html
from ramify.studio.inspection.phrases import CORPORA, LEVELS, NOTES, corpus_rows, how_to_add, level_rows, sizes
from ramify.studio.inspection.reports import anchor, reports_html
from ramify.tools.index import Index
from ramify.tools.markup import element, packaged, safe
from ramify.tools.pages import style

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
SHEETS = ("drawing/page.css", "inspection/inspect.css")


def inspect_page(found: Inspection, index: Index) -> str:
    """Give the whole page of an index."""
    title = Path(found.folder).name or found.folder
    parts = [_head(found, title), _sizes(found)]
    if found.grouped is not None:
        parts.append(groups_html(found.grouped, index))
    elif found.inside is None:
        parts.append(element("p", safe(how_to_add(found)), class_="note"))
    else:
        parts += [_levels(found, found.inside), _picture(found.inside), reports_html(found.inside, index)]
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        element("title", safe(f"{title} — Ramify")),
        element("style", style() + packaged("ramify.studio", *SHEETS)),
    ]
    body = element("main", "".join(parts), class_="ramify inspect")
    return f'<!doctype html>\n<html lang="en">\n<head>{"".join(head)}</head>\n<body>{body}</body>\n</html>\n'


def _head(found: Inspection, title: str) -> str:
    made = element("p", safe(f"Ramify · index of kind {found.manifest.kind}"), class_="made")
    return element("header", made + element("h1", safe(title), dir="auto") + element("p", safe(found.folder), class_="made"))


def _sizes(found: Inspection) -> str:
    rows = (element("dt", safe(thing)) + element("dd", safe(told), dir="auto") for thing, told in sizes(found))
    return element("section", element("h2", "What it holds") + element("dl", "".join(rows), class_="sizes"))


def _levels(found: Inspection, inside: Inside) -> str:
    tables = _table(LEVELS, level_rows(inside)) + _table(CORPORA, corpus_rows(found))
    notes = "".join(element("p", safe(note), class_="note") for note in NOTES)
    return element("section", element("h2", "Levels of communities") + element("div", tables, class_="tables") + notes)


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    top = element("tr", "".join(element("th", safe(head), scope="col") for head in heads))
    body = element("tbody", "".join(map(_row, rows)))
    return element("div", element("table", element("thead", top) + body), class_="wide", tabindex="0")


def _row(cells: tuple[str, ...]) -> str:
    first, *rest = map(safe, cells)
    return element("tr", element("th", first, scope="row") + "".join(element("td", cell) for cell in rest))


def _picture(inside: Inside) -> str:
    shown = picture(inside)
    box = {"viewBox": f"0 0 {WIDTH:g} {HEIGHT:g}", "role": "group", "aria_label": "Picture of the graph"}
    drawn = element("svg", drawing(shown, lambda id: f"#{anchor(id)}"), class_="graph", **box)
    return element(
        "section",
        element("h2", "The graph")
        + element("figure", element("div", drawn, class_="wide") + _legend(inside, shown) + _caption(inside, shown)),
    )


def _legend(inside: Inside, shown: Picture) -> str:
    items = [element("li", f"{_swatch(colour)}{_link(inside, id)} {inside.size(id):,} names") for id, colour in shown.colours.items()]
    others = len(inside.root) - len(shown.colours)
    if others:
        items.append(element("li", _swatch(OTHER) + f"{others:,} other communities"))
    return element("ul", "".join(items), class_="legend")


def _link(inside: Inside, id: str) -> str:
    return element("a", safe(inside.reports[id].title), href=f"#{anchor(id)}", dir="auto")


def _swatch(colour: str) -> str:
    return element("i", class_="swatch", style=f"background:{colour}")


def _caption(inside: Inside, shown: Picture) -> str:
    undrawn = f", and of the connections among them the {len(shown.lines):,} told of most often" if shown.undrawn else ""
    fewer = (
        f"Of the {NAMES:,} most connected of {len(inside.graph.names):,} names the {len(shown.dots):,} that are connected with one another"
    )
    all_ = f"The {len(shown.dots):,} most connected of {len(inside.graph.names):,} names"
    told = (
        f"{all_ if len(shown.dots) == NAMES else fewer}{undrawn}. The area of a dot is its number of "
        "connections in the whole graph, its colour its community at level 0; a dot leads to its community's report. Placed by ForceAtlas2."
    )
    return element("figcaption", safe(told))

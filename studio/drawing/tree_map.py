"""The tree as a small drawing: a box a branch, coloured by status, with its question and its answer, that leads to the branch's card."""

from rich.cells import cell_len, chop_cells

from ramify.nodes.tree import ROOT, Branch, Tree, children
from ramify.studio.drawing.phrases import brief, figure, kind_of, one_line
from ramify.studio.drawing.tree_view import Look
from ramify.tools.markup import element, safe

WIDTH, HEIGHT, GAP, LEVEL, MARGIN = 168, 66, 14, 96, 4
CELLS, BOLD = 26, 22
"""How many narrow characters fit into a line of a box, and of an answer behind its arrow."""
LINES = 2
"""Lines for a question; one more where there is no answer."""
PADDING, FIRST, STEP = 8, 15, 15
Place = tuple[float, float]


def map_svg(tree: Tree, look: Look) -> str:
    """Draw the tree; one branch alone needs no map. What is wider than the page is moved sideways, and not made small."""
    if len(tree) < 2:
        return ""
    places: dict[str, Place] = {}
    width = _place(tree, ROOT, 0.0, places)
    height = max(y for _, y in places.values()) + HEIGHT
    edges = "".join(_edge(branch, places) for branch in tree.values() if branch.parent in places)
    boxes = "".join(_box(branch, places[branch.path], look) for branch in tree.values() if branch.path in places)
    box = f"{-MARGIN} {-MARGIN} {width + 2 * MARGIN:g} {height + 2 * MARGIN:g}"
    size = {"width": f"{width + 2 * MARGIN:g}", "height": f"{height + 2 * MARGIN:g}"}
    drawn = element("svg", edges + boxes, class_="map", viewBox=box, role="group", aria_label="Map of the tree", **size)
    return element("div", drawn, class_="overview", tabindex="0", role="group", aria_label="Overview")


def _place(tree: Tree, path: str, left: float, places: dict[str, Place]) -> float:
    """Place a branch in the middle above its children, from `left` on; give the width that all of it takes."""
    y = path.count(".") * LEVEL
    below = children(tree, path)
    width = 0.0
    for child in below:
        width += _place(tree, child.path, left + width, places) + GAP
    width = max(width - GAP, WIDTH)
    middles = [places[child.path][0] for child in (below[:1] + below[-1:])]
    places[path] = (sum(middles) / len(middles) if middles else left + WIDTH / 2, y)
    return width


def _edge(branch: Branch, places: dict[str, Place]) -> str:
    (x1, y1), (x2, y2) = places[branch.parent or ROOT], places[branch.path]
    top, bottom = y1 + HEIGHT, y2
    middle = (top + bottom) / 2
    return element("path", d=f"M{x1:g} {top:g} C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {bottom:g}", class_=f"edge {branch.status}")


def _box(branch: Branch, place: Place, look: Look) -> str:
    x, y = place
    question, answer = one_line(kind_of(branch)), one_line(branch.answer or "")
    hover = [f"{branch.path} {look.state(branch)}", question, f"→ {brief(answer)}" if answer else ""]
    told = element("title", safe("\n".join(filter(None, hover))))
    shape = element("rect", x=f"{x - WIDTH / 2:g}", y=f"{y:g}", width=str(WIDTH), height=str(HEIGHT), rx="7")
    score = f" · {figure(branch.score)}" if branch.kind == "batch" and branch.score is not None else ""
    head = f"{branch.path} {look.state(branch)}{score}"
    lines = [(head, "label"), *((line, "wording") for line in lines_of(question, LINES + (not answer)))]
    lines += [(f"→ {lines_of(answer, 1, BOLD)[0]}", "reply")] if answer else []
    said = "".join(
        element("text", safe(line), x=f"{x - WIDTH / 2 + PADDING:g}", y=f"{y + FIRST + number * STEP:g}", class_=kind)
        for number, (line, kind) in enumerate(lines)
    )
    # In its old name space, because JupyterLab takes an `a` with a plain `href` for one of HTML, and stumbles.
    return element("a", told + shape + said, class_=look.tone(branch), **{"xlink:href": f"#{look.name(branch)}"})


def lines_of(text: str, most: int, room: int = CELLS) -> list[str]:
    """Break a text into lines that fit into a box, at words where there are any; what does not fit is cut off."""
    lines = [""]
    for word in text.split():
        for part in [word] if cell_len(word) <= room else chop_cells(word, room):
            longer = f"{lines[-1]} {part}".strip()
            if cell_len(longer) <= room:
                lines[-1] = longer
            else:
                lines.append(part)
    if len(lines) > most:
        last = lines[most - 1]
        lines = [*lines[: most - 1], (last if cell_len(last) < room else chop_cells(last, room - 1)[0]) + "…"]
    return lines

"""Read the texts of diagrams (SmartArt) in Microsoft's formats."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element


def diagram_lines(data: "_Element") -> Iterator[str]:
    """Yield the texts of a diagram's points, each before those below it."""
    points = {point.get("modelId", ""): point for point in data.iterfind("{*}ptLst/{*}pt")}
    below: dict[str, list[tuple[int, str]]] = {}
    for link in data.iterfind("{*}cxnLst/{*}cxn"):
        if link.get("type", "parOf") == "parOf":
            order = link.get("srcOrd", "")
            below.setdefault(link.get("srcId", ""), []).append((int(order) if order.isdecimal() else 0, link.get("destId", "")))
    waiting = [*reversed(points), *(name for name, point in points.items() if point.get("type") == "doc")]
    while waiting:
        name = waiting.pop()
        point = points.pop(name, None)
        if point is None:
            continue
        texts = ("".join(run.text or "" for run in paragraph.iter("{*}t")) for paragraph in point.iterfind("{*}t/{*}p"))
        yield from (" ".join(text.split()) for text in texts if text.strip())
        waiting += [other for _, other in sorted(below.get(name, ()), reverse=True)]

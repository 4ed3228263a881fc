"""The texts of charts, their data as a table, and of diagrams."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ramify.formats.tables import table_lines
from ramify.tools.documents.tables import Cell

if TYPE_CHECKING:
    from lxml.etree import _Element


_AXES = ("catAx", "valAx", "dateAx", "serAx")
_CATEGORIES = ("cat", "xVal")
_VALUES = ("val", "yVal", "bubbleSize")
_EPOCH = datetime(1899, 12, 30)
_LAST_DAY = 2_958_465
_MAX_POINTS = 10_000
"""Points of a series that are read."""
_LITERAL = re.compile(r'"[^"]*+"|\[[^\]]*+\]|\\.')


def chart_lines(chart: "_Element") -> Iterator[str]:
    """Yield a chart's title, the titles of its axes, its written labels, and its series as the columns of a table under the categories."""
    titles = [_text(title) for title in chart.iterfind(".//{*}chart/{*}title")]
    axes = [_text(title) for axis in _AXES for title in chart.iterfind(f".//{{*}}{axis}/{{*}}title")]
    yield from (title for title in (*titles, *axes) if title)
    labels = [_text(label) for label in chart.iterfind(".//{*}dLbl/{*}tx/{*}rich")]
    yield from dict.fromkeys(label for label in labels if label)
    columns = list(_series_columns(chart)) or list(_dimension_columns(chart))
    if columns:
        count = max(len(points) for _, points in columns)
        yield from table_lines(
            [
                [Cell(name, is_heading=True) for name, _ in columns],
                *([Cell(points[place] if place < len(points) else "") for _, points in columns] for place in range(count)),
            ]
        )


def _series_columns(chart: "_Element") -> Iterator[tuple[str, list[str]]]:
    """Yield the name and points of each column: categories, unless they are those of the series before, and values."""
    shown: list[str] = []
    for number, series in enumerate(chart.iterfind(".//{*}ser"), start=1):
        tag = next(series.iterfind("{*}tx"), None)
        name = " ".join(_points(tag)) if tag is not None else ""
        for part in (*_CATEGORIES, *_VALUES):
            source = next(series.iterfind(f"{{*}}{part}"), None)
            points = _points(source) if source is not None else []
            if part in _CATEGORIES and points and points != shown:
                shown = points
                yield "", points
            elif part in _VALUES and points:
                yield name or f"series {number}", points


def _dimension_columns(chart: "_Element") -> Iterator[tuple[str, list[str]]]:
    """Yield the columns of the newer kinds of charts, such as waterfalls and treemaps."""
    names = [_text(tag) for tag in chart.iterfind(".//{*}series/{*}tx")]
    values = 0
    for dimension in chart.iterfind(".//{*}chartData/{*}data/*"):
        is_value = str(dimension.tag).endswith("numDim")
        for level in reversed(list(dimension.iterfind("{*}lvl"))):
            yield (names[values] if is_value and values < len(names) else ""), _level_points(level, level.get("formatCode", ""))
        values += is_value


def _points(source: "_Element") -> list[str]:
    """Return the stored points of a series, as they are shown; names of several levels are joined, outermost first."""
    levels = list(source.iterfind(".//{*}lvl"))
    if levels:
        columns = [_level_points(level, "") for level in reversed(levels)]
        length = max(map(len, columns))
        filled = [_fill_down(column + [""] * (length - len(column))) for column in columns[:-1]]
        innermost = columns[-1] + [""] * (length - len(columns[-1]))
        return [", ".join(filter(None, names)) for names in zip(*filled, innermost, strict=True)]
    stored = next(
        (element for name in ("strCache", "strLit", "numCache", "numLit", "rich") for element in source.iter(f"{{*}}{name}")), None
    )
    if stored is None:
        return [text] if (text := " ".join(source.findtext("{*}v", "").split())) else []
    if str(stored.tag).endswith("rich"):
        return [_text(stored)]
    return _level_points(stored, stored.findtext("{*}formatCode", ""))


def _level_points(level: "_Element", form: str) -> list[str]:
    points: dict[int, str] = {}
    for place, point in enumerate(level.iterfind("{*}pt")):
        index = point.get("idx", "")
        number = int(index) if index.isdecimal() and len(index) < 9 else place
        if number < _MAX_POINTS:
            points[number] = shown_number(" ".join((point.findtext("{*}v") or point.text or "").split()), point.get("formatCode") or form)
    return [points.get(place, "") for place in range(max(points, default=-1) + 1)]


def _fill_down(names: list[str]) -> list[str]:
    """Return the names of an outer level, which are stored only where they begin."""
    for place, name in enumerate(names):
        names[place] = name or (names[place - 1] if place else "")
    return names


def shown_number(text: str, form: str) -> str:
    """Return a stored number as it is shown with a format: percents, dates and fixed decimal places."""
    plain = _LITERAL.sub("", form.split(";")[0])
    try:
        value = float(text)
    except ValueError:
        return text
    if re.search("[dy]", plain, re.IGNORECASE) and "General" not in plain and 0 < value < _LAST_DAY:
        day = _EPOCH + timedelta(days=value)
        return str(day.date()) if day.time() == day.min.time() else str(day.replace(microsecond=0))
    places = len(re.sub(r"[^0].*", "", plain.partition(".")[2]))
    if "%" in plain and "E" not in plain:
        return f"{value * 100:.{places}f}%"
    if re.fullmatch(r"[#,0]*+\.?0*+", plain) and plain:
        return f"{value:{',' if ',' in plain else ''}.{places}f}"
    return f"{value:.15g}"


def _text(element: "_Element") -> str:
    """Return the text of the runs within an element."""
    return " ".join(" ".join(text for part in element.iter("{*}t", "{*}v") if (text := part.text)).split())


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

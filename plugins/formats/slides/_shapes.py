"""Read the shapes of a PowerPoint slide: texts, tables, charts, diagrams and groups."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from ramify.formats.numbers import format_number
from ramify.formats.office.charts import chart_lines, diagram_lines
from ramify.formats.office.equations import equation_text
from ramify.formats.office.runs import DESCRIPTION, HIDDEN_SHAPE, STRUCK, Run, join_runs
from ramify.formats.tables import table_lines
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.tables import Cell

if TYPE_CHECKING:
    from lxml.etree import _Element

_TITLES = ("title", "ctrTitle")
_FOOTERS = ("ftr", "dt", "hdr")
_NUMBER_FORMS = {"arabic": "1", "alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_AFFIXES = {"ParenBoth": ("(", ")"), "ParenR": ("", ")"), "Period": ("", "."), "Plain": ("", "")}


class SlideReader:
    """Reads the shapes of a presentation's slides, and notes what it leaves out."""

    def __init__(self, source: str, report: ReadReport) -> None:
        self.source, self.report = source, report
        self._footers: set[str] = set()
        self._unread: Counter[str] = Counter()
        self._leave_out = partial(report.leave_out, source)
        self._part: Any = None

    def close(self) -> None:
        """Remark on the objects that were not read."""
        for kind, count in self._unread.items():
            self.report.remark(self.source, f"not read: {count} × {kind}")

    def read_shapes(self, part: Any, tree: "_Element") -> tuple[str, list[str]]:
        """Return the title and the other texts of a slide."""
        self._part = part
        heading, parts = "", []
        for shape in _shapes(tree):
            kind = _placeholder(shape)
            text = "\n".join(self._shape_lines(shape)).strip("\n")
            if not text.strip():
                continue
            if _is_hidden(shape):
                self._leave_out(HIDDEN_SHAPE, [text])
            elif kind in _TITLES and not heading:
                heading = " ".join(text.split())
            elif kind == "sldNum":
                self._leave_out("slide number", [text])
            elif kind in _FOOTERS and text in self._footers:
                self._leave_out("repeated footer", [text])
            else:
                self._footers |= {text} if kind in _FOOTERS else set()
                parts.append(text)
        return heading, parts

    def _shape_lines(self, shape: "_Element") -> Iterator[str]:
        name = _local_name(shape)
        description = next(
            (stated for element in shape.iterfind("*/{*}cNvPr") if " " in (stated := (element.get("descr") or "").strip())), ""
        )
        if description and name == "pic":
            self._leave_out(DESCRIPTION, [description])
        if name == "graphicFrame":
            yield from self._graphic_lines(shape)
        elif (body := next(shape.iterfind("{*}txBody"), None)) is not None:
            yield from self._body_lines(body, self._inherited_styles(shape))

    def _graphic_lines(self, frame: "_Element") -> Iterator[str]:
        for data in frame.iterfind("{*}graphic/{*}graphicData/*"):
            name = _local_name(data)
            if name == "tbl":
                yield from table_lines(list(self._table_rows(data)))
            elif name == "chart":
                yield from self._related_lines(data, "id", "chart", chart_lines)
            elif name == "relIds":
                yield from self._related_lines(data, "dm", "diagram", diagram_lines)
            elif (embedded := next(data.iter("{*}oleObj"), None)) is not None:
                self._unread[f"embedded object ({embedded.get('progId') or 'of unknown kind'})"] += 1

    def _related_lines(self, data: "_Element", key: str, kind: str, read: Any) -> Iterator[str]:
        """Yield the lines of the part that an element names."""
        from lxml.etree import XMLSyntaxError, fromstring

        identity = next((value for name, value in data.attrib.items() if name.endswith(f"}}{key}")), "")
        relation = self._part.rels.get(identity)
        if relation is None or relation.is_external:
            self._unread[kind] += 1
            return
        try:
            root = fromstring(relation.target_part.blob)
        except XMLSyntaxError:
            self._unread[kind] += 1
            return
        yield from read(root)

    def _table_rows(self, table: "_Element") -> Iterator[list[Cell]]:
        first_is_header = any(stated.get("firstRow") in ("1", "true") for stated in table.iterfind("{*}tblPr"))
        for number, row in enumerate(table.iterfind("{*}tr")):
            cells = []
            for cell in row.iterfind("{*}tc"):
                if cell.get("hMerge") in ("1", "true") or cell.get("vMerge") in ("1", "true"):
                    continue
                body = next(cell.iterfind("{*}txBody"), None)
                text = " ".join(" ".join(self._body_lines(body, [])).split()) if body is not None else ""
                columns, rows = (int(cell.get(name) or 1) for name in ("gridSpan", "rowSpan"))
                cells.append(Cell(text, columns, rows, first_is_header and number == 0))
            yield cells

    def _body_lines(self, body: "_Element", inherited: list["_Element"]) -> Iterator[str]:
        """Yield the paragraphs of a text, with the numbers of numbered ones."""
        styles = [*body.iterfind("{*}lstStyle"), *inherited]
        counts: dict[int, tuple[str, int]] = {}
        for paragraph in body.iterfind("{*}p"):
            text = join_runs(self._runs(paragraph), self._leave_out).strip()
            if not text:
                yield ""
                continue
            properties = next(paragraph.iterfind("{*}pPr"), None)
            level = int(properties.get("lvl") or 0) if properties is not None else 0
            numbering = _numbering([] if properties is None else [properties], level, styles)
            counts = {outer: count for outer, count in counts.items() if outer < level or (outer == level and numbering is not None)}
            if numbering is None:
                yield text
                continue
            form, start = numbering.get("type") or "arabicPeriod", int(numbering.get("startAt") or 1)
            kind = f"{form} {start}"
            before, count = counts.get(level, ("", 0))
            counts[level] = (kind, count + 1 if before == kind else start)
            label = _label(form, counts[level][1])
            self.report.add(label)
            yield f"{label} {text}"

    def _runs(self, element: "_Element") -> Iterator[Run]:
        for child in element:
            name = _local_name(child)
            if name in ("r", "fld"):
                stated = next((dict(properties.attrib) for properties in child.iterfind("{*}rPr")), {})
                raised = str(stated.get("baseline") or "0").rstrip("%")
                position = 0 if raised.strip("0.-") == "" else -1 if raised.startswith("-") else 1
                left_out = STRUCK if stated.get("strike", "noStrike") != "noStrike" else ""
                yield Run((child.findtext("{*}t") or "").replace("\v", "\n"), position, left_out)
            elif name == "br":
                yield Run("\n")
            elif name == "m":
                yield Run(" ".join(equation_text(part) for part in child))
            elif name == "AlternateContent":
                yield from self._runs(_alternative(child))

    def _inherited_styles(self, shape: "_Element") -> list["_Element"]:
        """Return the list styles of the placeholders in the layout and its master that a placeholder is based on."""
        stated = next(shape.iterfind("{*}nvSpPr/{*}nvPr/{*}ph"), None)
        layout = getattr(getattr(self._part, "slide_layout", None), "placeholders", ())
        if stated is None:
            return []
        index = stated.get("idx", "0")
        bodies = (placeholder.element for placeholder in layout if str(placeholder.placeholder_format.idx) == index)
        return [style for element in bodies for style in element.iterfind("{*}txBody/{*}lstStyle")]


def _numbering(properties: list["_Element"], level: int, styles: list["_Element"]) -> "_Element | None":
    """Return how a paragraph is numbered (`a:buAutoNum`): by itself, else by the nearest style that says so or has bullets instead."""
    stated = chain(properties, *(style.iterfind(f"{{*}}lvl{level + 1}pPr") for style in styles))
    for group in stated:
        for child in group:
            if _local_name(child) in ("buAutoNum", "buNone", "buChar", "buBlip"):
                return child if _local_name(child) == "buAutoNum" else None
    return None


def _label(form: str, number: int) -> str:
    """Return a number as a numbered paragraph shows it; `form` is such as "alphaLcParenR"."""
    affix = next((affix for affix in _AFFIXES if form.endswith(affix)), "Period")
    before, after = _AFFIXES[affix]
    return f"{before}{format_number(number, _NUMBER_FORMS.get(form.removesuffix(affix), '1'))}{after}"


def _shapes(tree: "_Element") -> Iterator["_Element"]:
    """Yield the shapes of a slide in order, those within groups too, and of alternatives the first."""
    waiting: list[Iterable[_Element]] = [iter(tree)]
    while waiting:
        level = iter(waiting.pop())
        for element in level:
            name = _local_name(element)
            inner = element if name == "grpSp" else _alternative(element) if name == "AlternateContent" else None
            if inner is not None:
                waiting += [level, iter(inner)]
                break
            if name in ("sp", "cxnSp", "pic", "graphicFrame"):
                yield element


def _alternative(element: "_Element") -> "_Element":
    """Return the first content of `mc:AlternateContent` that has a text, the first one if none has."""
    contents = [child for child in element if isinstance(child.tag, str)]
    texted = (content for content in contents if any(text.strip() for text in content.itertext()) or _is_graphic(content))
    return next(texted, contents[0] if contents else element)


def _is_graphic(content: "_Element") -> bool:
    return next(content.iter("{*}graphicFrame"), None) is not None


def _placeholder(shape: "_Element") -> str:
    """Return the kind of a placeholder, "" if the shape is none."""
    return next((placeholder.get("type") or "obj" for placeholder in shape.iterfind("*/{*}nvPr/{*}ph")), "")


def _is_hidden(shape: "_Element") -> bool:
    """Return whether a shape, or a group around it, is hidden."""
    around = (shape, *shape.iterancestors("{*}grpSp"))
    return any(element.get("hidden") in ("1", "true") for holder in around for element in holder.iterfind("*/{*}cNvPr"))


def _local_name(element: "_Element") -> str:
    return str(element.tag).rpartition("}")[2]

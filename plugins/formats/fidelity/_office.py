"""All text nodes of office documents and books that a reader sees, without the readers' code."""

import re
from collections.abc import Iterator
from io import BytesIO
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from ramify.formats.fidelity._numbers import number_forms
from ramify.formats.fidelity._text import JOINT, RawText, decodings, optional, visible_texts

if TYPE_CHECKING:
    from lxml.etree import _Element

_PARTS = re.compile(
    r"word/(?:document\d*|footnotes|endnotes|comments|header\d*|footer\d*)\.xml|ppt/(?:slides/slide|notesSlides/notesSlide|comments/[^/]*)\d*\.xml"
    r"|(?:word|ppt)/(?:charts/chart|diagrams/data)[^/]*\.xml"
)
_PAGE_FIELDS = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|PAGEREF|slidenum)\b", re.IGNORECASE)
_UNSEEN_OFFICE = frozenset(
    ["Fallback", "moveFrom", "annotation-xml", "del", "rPrChange", "tracked-changes", "forms", "sequence-decls", "variable-decls",
     "user-field-decls", "event-listeners", "creator", "date-string", "index-title-template",
     "index-entry-span"]
)  # fmt: skip
"""Local names of elements whose text is not shown."""
_BREAKS = {"tab": " ", "br": " ", "cr": " ", "line-break": "\n", "s": " ", "noBreakHyphen": "-", "ptab": " "}
_TEXT_ELEMENTS = frozenset(["t"])
_ODF_PAGE_FIELDS = frozenset(
    ["page-number", "page-count", "bookmark-ref", "note-citation", "sequence-ref", "reference-ref", "desc", "title"]
)
_RAISED_STYLES = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}text-position"


def parse(content: bytes) -> "_Element":
    """Parse an XML part without entities and network access."""
    return etree.fromstring(
        content, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)
    )


def local_name(element: "_Element") -> str:
    """Return the name of an element without its namespace."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def attribute(element: "_Element", name: str) -> str:
    """Return an attribute by its name without namespace, "" if there is none."""
    return next((str(value) for key, value in element.attrib.items() if etree.QName(key).localname == name), "")


def raw_ooxml(content: bytes) -> Iterator[RawText]:
    """Yield the paragraphs of a Word document or presentation, with its notes, comments, charts, headers and footers, each text once."""
    with ZipFile(BytesIO(content)) as archive:
        names = set(archive.namelist())
        used = {name for part in names if part.endswith(".rels") for name in _targets(archive, part)}
        headings: set[str] = set()
        for name in sorted(names & used):
            if not _PARTS.fullmatch(name):
                continue
            root = parse(archive.read(name))
            texts = [*_chart_values(root, name), *_Paragraphs().collect(root, name)]
            if "/header" in name or "/footer" in name:
                texts = [text for text in texts if text.text not in headings and not headings.add(text.text)]  # type: ignore[func-returns-value]
            yield from texts
        count = sum(name.endswith(("notes.xml", "comments.xml")) for name in names)
        yield optional(" ".join(map(str, range(1, 1000)))) if count else RawText("")


def _targets(archive: ZipFile, relations: str) -> Iterator[str]:
    """Yield the names of the parts that a part refers to."""
    folder = dirname(dirname(relations))
    for relation in parse(archive.read(relations)):
        target = unquote(relation.get("Target", ""))
        yield target.lstrip("/") if target.startswith("/") else normpath(join(folder, target))


def _chart_values(root: "_Element", place: str) -> Iterator[RawText]:
    """Yield the names and values of a chart; categories that a series shares with the first one need not be repeated."""
    shared: set[str] = set()
    for series in root.iter("{*}ser"):
        for part in series:
            values = [value.text or "" for value in part.iter("{*}v")]
            code = part.findtext(".//{*}formatCode") or "General"
            key = "\n".join(values)
            if local_name(part) in ("cat", "xVal") and key in shared:
                yield optional(key, place)
            else:
                forms = (number_forms(value, code, False, place) for value in values)
                yield from (RawText(*form) for form in forms)
                shared.add(key)


class _Paragraphs:
    """Collects the paragraphs of an XML part; a paragraph within another, such as a text box in it, is a text of its own."""

    def __init__(self, raised_styles: frozenset[str] = frozenset()) -> None:
        self._raised_styles = raised_styles
        self._open: list[list[str]] = [[]]
        self._texts: list[str] = []
        self._optional: list[str] = []
        self._field: list[str] = []
        """Of each open field of Word, its instruction."""

    def collect(self, root: "_Element", place: str) -> Iterator[RawText]:
        """Yield the texts under an element."""
        self._walk(root)
        self._texts += ["".join(self._open[0])]
        for text in self._texts:
            if text.strip(f" \n{JOINT}"):
                yield RawText(text, place)
        yield from (optional(text, place) for text in self._optional)

    def _walk(self, element: "_Element") -> None:
        name = local_name(element)
        if not name or name in _UNSEEN_OFFICE or self._is_hidden(element, name):
            return
        if name == "fldChar":
            self._change_field(element)
        if name == "p" or name == "h":
            self._open.append([])
        elif name in ("tc", "table-cell"):
            self._write(" ")
        joint = JOINT if self._is_joined(element, name) else ""
        self._write(joint)
        if self._is_optional(element, name):
            self._optional.append(" ".join("".join(part.itertext()) for part in element))
            self._optional.append("".join(element.itertext()))
        else:
            self._write_content(element, name)
        self._write(joint)
        if name == "p" or name == "h":
            self._texts.append("".join(self._open.pop()))

    def _write_content(self, element: "_Element", name: str) -> None:
        self._write(_BREAKS.get(name, ""))
        mixed = "opendocument" in str(element.tag) or "MathML" in str(element.tag)
        if name in _TEXT_ELEMENTS or mixed:
            self._write(element.text or "")
        for child in element:
            self._walk(child)
            if mixed:
                self._write(child.tail or "")

    def _write(self, text: str) -> None:
        self._open[-1].append(text)

    def _change_field(self, element: "_Element") -> None:
        kind = attribute(element, "fldCharType")
        if kind == "begin":
            field = next((part for part in element.itersiblings() if local_name(part) == "instrText"), None)
            following = element.getparent().itersiblings() if element.getparent() is not None else ()
            texts = (part.text or "" for run in following for part in run if local_name(part) == "instrText")
            self._field.append(field.text or "" if field is not None else next(texts, ""))
        elif kind == "end" and self._field:
            self._field.pop()

    def _is_optional(self, element: "_Element", name: str) -> bool:
        """Return whether a text need not be read: page numbers, which depend on the program, and prompts of empty controls."""
        if name in _ODF_PAGE_FIELDS:
            return attribute(element, "reference-format") in ("", "page", "direction")
        if name == "t" and any(_PAGE_FIELDS.match(field) for field in self._field):
            return True
        if name == "sdt":
            return any(local_name(part) == "showingPlcHdr" for part in element.iter("{*}showingPlcHdr"))
        if name == "fld":
            return bool(_PAGE_FIELDS.match(element.get("type", "")))
        return name == "fldSimple" and bool(_PAGE_FIELDS.match(attribute(element, "instr")))

    def _is_hidden(self, element: "_Element", name: str) -> bool:
        if name == "r":
            vanish = element.find("{*}rPr/{*}vanish")
            return vanish is not None and attribute(vanish, "val") not in ("0", "false")
        return name in ("creator", "date") and "purl.org" in str(element.tag)

    def _is_joined(self, element: "_Element", name: str) -> bool:
        """Return whether a text may be read joined to what is beside it: raised, lowered, struck, or part of an equation or ruby."""
        if name in ("mi", "mn", "mo", "mtext", "rt", "rubyBase", "ruby-base", "ruby-text", "ins", "footnoteReference", "endnoteReference"):
            return True
        if name == "span":
            return attribute(element, "style-name") in self._raised_styles
        if name != "r":
            return False
        if "/math" in str(element.tag):
            return True
        properties = element.find("{*}rPr")
        if properties is None:
            return False
        parts = {local_name(part) for part in properties}
        return bool(
            parts & {"vertAlign", "strike", "dstrike", "position"}
            or properties.get("baseline", "0") != "0"
            or "strike" in properties.attrib
        )


def raw_odf(content: bytes) -> Iterator[RawText]:
    """Yield the paragraphs of an OpenDocument text or presentation, with those of objects in it and of the headers and footers used."""
    with ZipFile(BytesIO(content)) as archive:
        root = parse(archive.read("content.xml"))
        yield from _document_texts(root, "content")
        names = archive.namelist()
        for name in names:
            if re.fullmatch(r"(?:\./)?Object [^/]*/content\.xml", name):
                yield from _document_texts(parse(archive.read(name)), name)
        if "styles.xml" in names:
            yield from _header_texts(parse(archive.read("styles.xml")), root)
        yield optional(" ".join(map(str, range(1, 1000))))


def _document_texts(root: "_Element", place: str) -> Iterator[RawText]:
    raised = frozenset(
        attribute(style, "name")
        for style in root.iter("{*}style")
        for properties in style.iterfind("{*}text-properties")
        if properties.get(_RAISED_STYLES, "0% 100%").split()[0] != "0%"
        or attribute(properties, "text-line-through-style") not in ("", "none")
    )
    body = next((part for part in root if local_name(part) == "body"), root)
    yield from _Paragraphs(raised).collect(body, place)


def _header_texts(styles: "_Element", content: "_Element") -> Iterator[RawText]:
    """Yield the headers and footers of the pages that a text uses, each text once."""
    used = {attribute(style, "master-page-name") for root in (styles, content) for style in root.iter("{*}style")} | {"Standard"}
    shown: dict[str, RawText] = {}
    for page in styles.iter("{*}master-page"):
        if attribute(page, "name") in used and local_name(page.getparent()) == "master-styles":
            for part in page:
                if local_name(part) in ("header", "footer"):
                    shown |= {text.text: text for text in _Paragraphs().collect(part, local_name(part))}
    yield from shown.values()


def raw_epub(content: bytes) -> Iterator[RawText]:
    """Yield the visible text of a book's pages, in the order of its spine."""
    with ZipFile(BytesIO(content)) as archive:
        root = next(parse(archive.read("META-INF/container.xml")).iter("{*}rootfile")).get("full-path", "")
        package = parse(archive.read(root))
        items = {item.get("id"): item for item in package.iter("{*}item")}
        names = set(archive.namelist())
        for reference in package.iter("{*}itemref"):
            item = items.get(reference.get("idref"))
            name = normpath(join(dirname(root), unquote(item.get("href", "")))) if item is not None else ""
            if name in names:
                texts = (text._replace(place=name) for text in visible_texts(decodings(archive.read(name))[0]))
                is_contents = item is not None and "nav" in (item.get("properties") or "").split()
                yield from (optional(text.text, name) if is_contents else text for text in texts)

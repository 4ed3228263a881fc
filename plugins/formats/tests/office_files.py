"""OpenDocument files made for one point of a test, with styles and further parts."""

from collections.abc import Mapping
from pathlib import Path

from plugins.formats.tests.made import zipped
from tests.tools.documents.shown import Shown, shown

_NAMES = {name: name for name in ("office", "style", "text", "table", "presentation", "form", "chart")}
_NAMES |= {"draw": "drawing", "svg": "svg-compatible", "fo": "xsl-fo-compatible"}
SPACES = " ".join(f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for prefix, name in _NAMES.items())
SPACES += (
    ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"'
    ' xmlns:field="urn:openoffice:names:experimental:ooo-ms-interop:xmlns:field:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
MATH = 'xmlns="http://www.w3.org/1998/Math/MathML"'


def content(kind: str, body: str, styles: str = "") -> str:
    """Return the content of a file or object of a kind: "text", "presentation", "chart"."""
    return (
        f"<office:document-content {SPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )


def common(styles: str, masters: str = "") -> str:
    """Return the part with a file's common styles and its page styles."""
    return (
        f"<office:document-styles {SPACES}><office:styles>{styles}</office:styles>"
        f"<office:master-styles>{masters}</office:master-styles></office:document-styles>"
    )


def read_opendocument(folder: Path, body: str, styles: str = "", kind: str = "text", parts: Mapping[str, str] | None = None) -> Shown:
    """Write a file of OpenDocument and read it."""
    path = folder / ("slides.odp" if kind == "presentation" else "text.odt")
    path.write_bytes(zipped({"META-INF/manifest.xml": "<manifest/>", "content.xml": content(kind, body, styles), **(parts or {})}))
    return shown(path)


def text(read: Shown) -> str:
    """Return all text that was read, with one space between words and one line for each."""
    lines = (" ".join(line.split()) for document in read.documents for line in document.page_content.splitlines())
    return "\n".join(line for line in lines if line)


def remarks(read: Shown) -> list[str]:
    """Return what was remarked."""
    return [remark for _, remark in read.remarks]


def list_style(name: str, *levels: str) -> str:
    """Return a list style with attributes for each level."""
    written = "".join(f'<text:list-level-style-number text:level="{place}" {stated}/>' for place, stated in enumerate(levels, start=1))
    return f'<text:list-style style:name="{name}">{written}</text:list-style>'


def text_style(name: str, stated: str, family: str = "text") -> str:
    """Return a style with properties of its text."""
    return f'<style:style style:name="{name}" style:family="{family}"><style:text-properties {stated}/></style:style>'

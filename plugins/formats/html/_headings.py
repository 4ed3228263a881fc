"""Find the paragraphs of a web page that act as headings: short, bold and alone, with text below."""

import re
from collections.abc import Mapping

from lxml import etree, html

from ramify.formats.html._styles import Styles

BOLD_LEVEL = 7
"""Level of a bold paragraph, below all headings."""
_MAX_WORDS, _MAX_CHARS = 10, 90
_MIN_WORDS_BELOW = 4
_MIN_BESIDE_HEADINGS = 2
"""Least bold paragraphs that act as headings on a page that has headings below its title."""
_PARENTS = frozenset(["body", "main", "article", "section", "div", "center", "td"])
_BLOCKS_BELOW = frozenset(["p", "div", "ul", "ol", "dl", "table", "pre", "blockquote", "figure"])
_SENTENCE_ENDS = frozenset(".!:;,…。：！–—-")
_LABEL = re.compile(
    r"(?:note|notes|important|warning|caution|attention|danger|tip|hint|example|remark|info|hinweis|achtung|warnung|wichtig|beispiel|tipp)s?",
    re.IGNORECASE,
)
_HEADING_START = re.compile(r"[\W_]*(?:\d+(?:\.\d+)*+[.)]?\s+)?(?:[^\W\d_]|$)")


def find_bold_headings(
    content: html.HtmlElement, sizes: Mapping[html.HtmlElement, tuple[int, ...]], styles: Styles
) -> frozenset[html.HtmlElement]:
    """Return the bold paragraphs that act as headings; on a page with other headings, none unless there are several."""
    headings = [paragraph for paragraph in content.iter("p", "div") if _is_heading(paragraph, content, sizes, styles)]
    has_headings = any(True for _ in content.iter("h2", "h3", "h4", "h5", "h6"))
    return frozenset(headings) if len(headings) >= (_MIN_BESIDE_HEADINGS if has_headings else 1) else frozenset()


def _is_heading(
    paragraph: html.HtmlElement, content: html.HtmlElement, sizes: Mapping[html.HtmlElement, tuple[int, ...]], styles: Styles
) -> bool:
    if not 0 < sizes[paragraph][0] <= _MAX_WORDS or paragraph is content or not _is_bold(paragraph, styles):
        return False
    parent, after = paragraph.getparent(), paragraph.getnext()
    while after is not None and after.tag in ("br", "hr") and not (after.tail or "").strip():
        after = after.getnext()
    if parent.tag not in _PARENTS or any(above.tag in ("li", "dd", "blockquote", "figure", "aside") for above in paragraph.iterancestors()):
        return False
    text = " ".join(paragraph.text_content().split())
    is_title = (
        len(text) <= _MAX_CHARS
        and text.rstrip("\"'”’») ")[-1:] not in _SENTENCE_ENDS
        and not _LABEL.fullmatch(text)
        and not text[0].islower()
        and _HEADING_START.match(text) is not None
    )
    if not is_title or (paragraph.tail or "").strip():
        return is_title and len((paragraph.tail or "").split()) >= _MIN_WORDS_BELOW
    return after is not None and after.tag in _BLOCKS_BELOW and sizes[after][0] >= _MIN_WORDS_BELOW and not _is_bold(after, styles)


def _is_bold(paragraph: html.HtmlElement, styles: Styles) -> bool:
    """Return whether all text of a paragraph is bold."""
    if "bold" in styles.effects(paragraph):
        return not any(element.tag in ("p", "div") for element in paragraph.iterdescendants(etree.Element))
    if (paragraph.text or "").strip() or not len(paragraph):
        return False
    has_bold = False
    for child in paragraph:
        text_within = "".join(child.itertext()).strip()
        is_bold = "bold" in styles.effects(child) or (
            len(child) == 1 and not (child.text or "").strip() and "bold" in styles.effects(child[0])
        )
        if (text_within and not is_bold) or (child.tail or "").strip():
            return False
        has_bold = has_bold or (is_bold and bool(text_within))
    return has_bold

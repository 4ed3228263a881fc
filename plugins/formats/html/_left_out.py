"""Leave out what is no text of a page: scripts, hidden and struck text, menus and other parts of the site."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from lxml import etree, html

from ramify.formats.html._inline import UNSHOWN_INPUTS
from ramify.formats.html._styles import Styles
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.sections import word_count

SITE_PART = ("menu or other part of the site", "menus or other parts of the site")
_HIDDEN = ("hidden passage", "")
_STRUCK = ("struck passage", "")
_SLOGAN = ("slogan", "")
_BUTTON = ("button", "")
_DRAWN = ("text in a drawing", "texts in drawings")
_UNSHOWN = ("", "")
"""Left out without a remark: no one reads it on the page."""
Kind = tuple[str, str]
"""What a text is that is left out, in the singular and, if irregular, the plural."""

_UNSHOWN_ELEMENTS = frozenset(["script", "style", "noscript", "head", "iframe", "object", "canvas", "audio", "video", "datalist"])
_SITE_ROLES = frozenset(["navigation", "search", "banner", "contentinfo", "menu", "menubar", "toolbar", "dialog", "alertdialog"])
_TEXT_ELEMENTS = frozenset(["p", "li", "td", "th", "dd", "figcaption", "blockquote"])
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_FORMULA_NAME = re.compile(r"math|katex|mjx|mwe|tex\b", re.IGNORECASE)
_SKIP_LINK = re.compile(
    r"\s*(?:(?:skip|jump) (?:directly )?to\b|(?:back|return) to (?:the )?top\b|zum inhalt\b|nach oben\b|↑)", re.IGNORECASE
)
_NAMED_PARTS = (
    (300, r"cookies?-?(?:consent|banner|notice|bar|popup|message|overlay|law|info)(?:-[\w-]+)?|gdpr-[\w-]+"),
    (80, r"newsletter(?:-[\w-]+)?|(?:subscribe|signup)-(?:box|form|banner)"),
    (60, r"(?:social-?)?shar(?:e|ing)-?(?:buttons?|links?|bar|box|tools|icons)|social-?(?:links?|icons?|buttons?|bar|media)"),
    (60, r"breadcrumbs?(?:-[\w-]+)?|skip-(?:to-[\w-]+|links?|nav)"),
    (300, r"(?:related|recommended)-(?:posts?|articles?|links?|content|stories|reading|pages?|products?)(?:-[\w-]+)?"),
)  # fmt: skip
"""Names of classes whose elements belong to the site wherever they stand, after the most words of such an element."""
_NAMED_PART = [(most, re.compile(rf"(?:[\w-]{{1,20}}-)?(?:{pattern})")) for most, pattern in _NAMED_PARTS]
_SLOGAN_NAME = re.compile(r"(?:[\w-]+-)?(?:slogan|tagline|motto|strapline)|site-description")
_HERO_NAME = re.compile(r"(?:[\w-]+-)?hero(?:-[\w-]+)?|jumbotron|(?:promo|ad|advert|top|page|site)-banner")
_SHARE_NAME = re.compile(r"(?:[\w-]+-)?(?:shar(?:e|ing)|social|addthis|sharedaddy)(?:-[\w-]+)?")
_MAX_SHARE_WORDS, _MAX_UNLINKED_WORDS = 30, 3
_MAX_SUBSCRIPTION_WORDS, _MAX_SUBSCRIPTION_FIELDS = 60, 2
_MAX_SLOGAN_WORDS = 30
_MAX_NAME_CHARS = 60
_REMOVED_TAG = "taken-out"


def remove_elements(root: html.HtmlElement, kind_of: Callable[[html.HtmlElement], Kind | None], source: str, report: ReadReport) -> int:
    """Remove the elements of a kind, report their texts, and return how many they are.

    They are removed together; one by one would be quadratic, since the text after each is joined to the text before it.
    """
    steps = etree.iterwalk(root, events=("start",))
    removed: list[html.HtmlElement] = []
    for _, element in steps:
        kind = kind_of(element) if isinstance(element.tag, str) and element is not root and element.tag != "body" else None
        if kind is None:
            continue
        steps.skip_subtree()
        removed.append(element)
        if kind[0] and word_count(text := words_of(element)):
            report.leave_out(source, kind[0], [text], kind[1])
    for element in removed:
        element.tag = _REMOVED_TAG
    etree.strip_elements(root, _REMOVED_TAG, with_tail=False)
    return len(removed)


def words_of(element: html.HtmlElement) -> str:
    """Return the text of an element on one line, with spaces between those of its elements."""
    return " ".join(" ".join(element.itertext()).split())


def left_out_kind(element: html.HtmlElement, styles: Styles, is_site: bool) -> Kind | None:
    """Return as what an element is left out of any page; None if it is read. Only a site has menus and slogans around its text."""
    tag, role = element.tag, element.get("role")
    if tag in _UNSHOWN_ELEMENTS:
        return _UNSHOWN
    if tag == "nav" or (is_site and role in _SITE_ROLES):
        return SITE_PART
    if tag == "svg":
        return _DRAWN
    if tag == "button" or role == "button":
        return None if _is_text_of_page(element) else _BUTTON
    effects = styles.effects(element)
    if "hidden" in effects or element.get("hidden", "until-found") != "until-found" or (tag == "dialog" and "open" not in element.attrib):
        return None if _holds_formula(element) else _HIDDEN
    if "struck" in effects:
        return _STRUCK
    if element.get("aria-hidden") == "true":
        return _UNSHOWN if _is_formula(element) else _HIDDEN
    return _named_kind(element) if is_site else None


def _is_text_of_page(button: html.HtmlElement) -> bool:
    """Return whether a button is a word of a sentence, or opens a passage that it names, such as a question."""
    parent = button.getparent()
    text = button.text_content().strip()
    around = f"{parent.text or ''}{button.tail or ''}" if parent is not None and parent.tag in _TEXT_ELEMENTS else ""
    if (
        word_count(around)
        or text.endswith("?")
        or (parent is not None and parent.tag in (*_HEADINGS, "dt", "summary") and parent.text_content().strip() == text)
    ):
        return True
    return word_count(text) > 1 and ("aria-expanded" in button.attrib or "accordion" in button.get("class", ""))


def _is_formula(element: html.HtmlElement) -> bool:
    """Return whether an element shows a formula that is also there for screen readers."""
    parent = element.getparent()
    names = f"{element.tag} {element.get('class', '')} {parent.get('class', '') if parent is not None else ''}"
    return bool(_FORMULA_NAME.search(names))


def _holds_formula(element: html.HtmlElement) -> bool:
    return element.tag == "math" or (bool(_FORMULA_NAME.search(element.get("class", ""))) and any(True for _ in element.iter("math")))


def _named_kind(element: html.HtmlElement) -> Kind | None:
    """Return what the class of an element says that it is, such as a slogan or a cookie notice."""
    if element.tag == "a" and element.get("href", "").startswith("#") and _SKIP_LINK.match(element.text_content()):
        return SITE_PART
    if element.tag == "form" and _is_subscription(element):
        return SITE_PART
    parent = element.getparent()
    if element.tag == "p" and parent is not None and _named(parent.get("class", "")).is_hero and _is_slogan(element):
        return _SLOGAN
    name = _named(element.get("class", ""))
    if name.is_slogan and _is_slogan(element):
        return _SLOGAN
    if name.most_words and element.tag not in ("section", *_HEADINGS) and word_count(element.text_content()) <= name.most_words:
        return SITE_PART
    return SITE_PART if name.is_share and _is_share_box(element) else None


def _is_subscription(form: html.HtmlElement) -> bool:
    """Return whether a form with few words only asks for an address, as that of a newsletter does."""
    kinds = [field.get("type", "").lower() for field in form.iter("input", "select", "textarea")]
    fields = [kind for kind in kinds if kind not in UNSHOWN_INPUTS]
    return "email" in fields and len(fields) <= _MAX_SUBSCRIPTION_FIELDS and word_count(form.text_content()) <= _MAX_SUBSCRIPTION_WORDS


def _is_share_box(element: html.HtmlElement) -> bool:
    """Return whether a text is short and nearly all of it is links and buttons."""
    words = word_count(element.text_content())
    linked = sum(word_count(link.text_content()) for link in element.iter("a", "button"))
    return 0 < words <= _MAX_SHARE_WORDS and 0 < linked >= words - _MAX_UNLINKED_WORDS


class _Named(NamedTuple):
    """What the classes of an element say: a slogan, a place for slogans, links to share it, a part of the site of at most so many words."""

    is_slogan: bool
    is_hero: bool
    is_share: bool
    most_words: int


@lru_cache(maxsize=1024)
def _named(classes: str) -> _Named:
    names = [name.lower().replace("_", "-") for name in classes.split() if len(name) <= _MAX_NAME_CHARS]
    return _Named(
        any(_SLOGAN_NAME.fullmatch(name) for name in names),
        any(_HERO_NAME.fullmatch(name) for name in names),
        any(_SHARE_NAME.fullmatch(name) for name in names),
        max((most for name in names for most, pattern in _NAMED_PART if pattern.fullmatch(name)), default=0),
    )


def _is_slogan(element: html.HtmlElement) -> bool:
    """Return whether a text is short and states nothing: it has no digits and is no heading."""
    text = element.text_content()
    return element.tag not in _HEADINGS and word_count(text) <= _MAX_SLOGAN_WORDS and not any(sign.isdigit() for sign in text)

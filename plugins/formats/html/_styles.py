"""What styles and roles make of the elements of a page: hidden, struck, raised, lowered or bold text, tables and headings."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from lxml import html

_EFFECTS = {
    "hidden": re.compile(
        r"\b(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden|mso-hide\s*:\s*all)\b"
        r"|(?<![\w-])(?:font-size\s*:\s*0(?:px|pt|r?em|%)?|color\s*:\s*transparent|(?:left|right|top)\s*:\s*-\d{4,5}(?:px|pt|r?em)?"
        r"|clip\s*:\s*rect\((?:[01](?:px)?[\s,]*){4}\))\s*(?:[;!]|$)",
        re.IGNORECASE,
    ),
    "struck": re.compile(r"\btext-decoration(?:-line)?\s*:[^;:]*line-through", re.IGNORECASE),
    "raised": re.compile(r"\bvertical-align\s*:\s*super\b", re.IGNORECASE),
    "lowered": re.compile(r"\bvertical-align\s*:\s*sub\b", re.IGNORECASE),
    "bold": re.compile(r"\bfont-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE),
}
_TRANSPARENT = re.compile(r"(?<![\w-])opacity\s*:\s*0(?:\.0+)?\s*(?:[;!]|$)", re.IGNORECASE)
_ANIMATED = re.compile(r"transform|transition|animation|will-change", re.IGNORECASE)
_WHITE = re.compile(r"(?<![\w-])color\s*:\s*(?:white|#fff(?:fff)?|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\))\s*(?:[;!]|$)", re.IGNORECASE)
_WHITE_GROUND = re.compile(r"background(?:-color)?\s*:\s*(?:white|#fff(?:fff)?)\s*(?:[;!]|$)", re.IGNORECASE)
_SHOWN = re.compile(r"\b(?:display\s*:\s*(?!none)[a-z]|visibility\s*:\s*visible)", re.IGNORECASE)
_TAG_EFFECTS = {
    "s": "struck", "strike": "struck", "del": "struck", "sup": "raised", "sub": "lowered", "b": "bold", "strong": "bold",
    "template": "hidden",
}  # fmt: skip
_NEVER_HIDDEN = frozenset(["html", "body", "main"])
"""Scripts show a page that is hidden as a whole."""
_SIMPLE_SELECTOR = re.compile(r"([a-z][a-z0-9]*)?((?:[.#][\w-]+)*)", re.IGNORECASE)
_NAMES = re.compile(r"[.#]?[\w-]+")
_BRACES = re.compile(r"[{}]")
_MAX_RULES = 20_000

_ROLE_TAGS = {"table": "table", "grid": "table", "row": "tr", "columnheader": "th", "rowheader": "th", "cell": "td", "gridcell": "td",
    "rowgroup": "tbody", "heading": "h2"}  # fmt: skip
_NEUTRAL = frozenset(["div", "span", "p", "section", "b", "strong"])


def name_by_role(root: html.HtmlElement) -> None:
    """Give elements whose role says that they are headings or parts of a table the tags of these."""
    for element in list(root.iter(*_NEUTRAL)):
        role = element.get("role", "")
        if role in _ROLE_TAGS:
            level = element.get("aria-level", "2")
            element.tag = f"h{level}" if role == "heading" and level in ("1", "2", "3", "4", "5", "6") else _ROLE_TAGS[role]
            if role == "rowheader":
                element.set("scope", "row")


class _Rule(NamedTuple):
    """A style rule with a simple selector: an element name or "", and the classes and ids that it needs."""

    tag: str
    names: frozenset[str]
    effects: frozenset[str]


class Styles:
    """The effects of tags, style attributes, and simple selectors of the style sheets within a page."""

    def __init__(self, root: html.HtmlElement) -> None:
        rules = list(_sheet_rules("\n".join(sheet.text_content() for sheet in root.iter("style"))))
        self._has_sheets = bool(rules) or any("stylesheet" in link.get("rel", "").lower() for link in root.iter("link"))
        shown = {name for selector, body in rules if _SHOWN.search(body) for name in _NAMES.findall(selector)}
        self._rules: defaultdict[str, list[_Rule]] = defaultdict(list)
        for selector, body in rules:
            simple = _SIMPLE_SELECTOR.fullmatch(selector)
            effects = _effects_of(body)
            names = frozenset(_NAMES.findall(simple[2])) if simple else frozenset()
            if simple and shown & (names or {selector}):
                effects -= {"hidden"}  # another rule shows it, such as that of an open tab
            if simple and effects:
                tag = (simple[1] or "").lower()
                self._rules[min(names, default=tag)].append(_Rule(tag, names, effects))

    def effects(self, element: html.HtmlElement) -> frozenset[str]:
        """Return what styles do to an element's text: "hidden", "struck", "raised", "lowered", "bold"."""
        own = _TAG_EFFECTS.get(element.tag)
        effects = frozenset([own]) if own else frozenset()
        if style := element.get("style"):
            effects |= _effects_of(style)
            if (_TRANSPARENT.search(style) and not _ANIMATED.search(style)) or (_WHITE.search(style) and self._is_on_white(element, style)):
                effects |= {"hidden"}
            if "hidden" not in effects and _SHOWN.search(style):
                return effects
        if self._rules:
            names = {f".{name}" for name in element.get("class", "").split()} | {f"#{element.get('id')}"}
            for key in (element.tag, *names):
                for rule in self._rules.get(key, ()):
                    if rule.names <= names and rule.tag in ("", element.tag):
                        effects |= rule.effects
        if element.tag in _NEVER_HIDDEN:
            effects -= {"hidden"}
        return effects

    def _is_on_white(self, element: html.HtmlElement, style: str) -> bool:
        """Return whether the ground of an element is white: by its own style, or because nothing on the page colours it."""
        if _WHITE_GROUND.search(style):
            return True
        around = (element, *element.iterancestors())
        return not self._has_sheets and not any(
            "background" in holder.get("style", "") or holder.get("bgcolor") or holder.get("background") for holder in around
        )


def _effects_of(declarations: str) -> frozenset[str]:
    return frozenset(effect for effect, pattern in _EFFECTS.items() if pattern.search(declarations))


def _sheet_rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors of a style sheet, each with its declarations; rules within at-rules (print, small screens) are skipped."""
    first, *rest = sheet.split("/*")
    sheet = first + "".join(part.partition("*/")[2] for part in rest)
    depth = start = body = count = 0
    for brace in _BRACES.finditer(sheet):
        if brace[0] == "{":
            depth += 1
            body = brace.end() if depth == 1 else body
            continue
        depth -= 1
        if depth <= 0:
            selectors = sheet[start : body - 1].strip() if body > start else "@"
            for selector in () if selectors.startswith("@") else selectors.split(","):
                count += 1
                if count > _MAX_RULES:
                    return
                yield selector.strip(), sheet[body : brace.start()]
            depth, start = 0, brace.end()

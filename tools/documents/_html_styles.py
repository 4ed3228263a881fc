"""What styles do to the elements of a page: hide, strike, raise, lower or embolden their text."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from lxml import html

_EFFECTS = {
    "hidden": re.compile(r"\b(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all)\b", re.IGNORECASE),
    "struck": re.compile(r"\btext-decoration(?:-line)?\s*:[^;:]*line-through", re.IGNORECASE),
    "raised": re.compile(r"\bvertical-align\s*:\s*super\b", re.IGNORECASE),
    "lowered": re.compile(r"\bvertical-align\s*:\s*sub\b", re.IGNORECASE),
    "bold": re.compile(r"\bfont-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE),
}
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


class _Rule(NamedTuple):
    """A style rule with a simple selector: an element name or "", and the classes and ids that it needs."""

    tag: str
    names: frozenset[str]
    effects: frozenset[str]


class Styles:
    """The effects of tags, style attributes, and simple selectors of the style sheets within a page."""

    def __init__(self, root: html.HtmlElement) -> None:
        rules = list(_sheet_rules("\n".join(sheet.text_content() for sheet in root.iter("style"))))
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

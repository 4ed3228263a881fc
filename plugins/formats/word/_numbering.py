"""Number the headings, clauses and list items of a Word document as a reader sees them."""

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ramify.formats.numbers import format_number
from ramify.formats.word._parts import Styles, find_value, is_on, number_value

if TYPE_CHECKING:
    from lxml.etree import _Element

BULLET = "-"
"""The label of a list item without a number."""
_LEVELS = range(9)
_MAX_NUMBER = 32_767
_FORMS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
_LETTERS = {
    "russianLower": "абвгдежзиклмнопрстуфхцчшщыэюя",
    "russianUpper": "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ",
    "chicago": "*†‡§",
    "ganada": "가나다라마바사아자차카타파하",
    "chosung": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
    "aiueo": "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
    "iroha": "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス",
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
    "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
    "arabicAlpha": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
}
_LETTERS |= {"aiueoFullWidth": _LETTERS["aiueo"], "irohaFullWidth": _LETTERS["iroha"]}
_DIGITS = {
    "decimalFullWidth": "０１２３４５６７８９",
    "decimalFullWidth2": "０１２３４５６７８９",
    "ideographDigital": "〇一二三四五六七八九",
    "japaneseDigitalTenThousand": "〇一二三四五六七八九",
    "koreanDigital": "영일이삼사오육칠팔구",
    "hindiNumbers": "०१२३४५६७८९",
    "thaiNumbers": "๐๑๒๓๔๕๖๗๘๙",
}
_COUNTING = {
    "chineseCounting": ("一二三四五六七八九", "十百千"),
    "chineseCountingThousand": ("一二三四五六七八九", "十百千"),
    "taiwaneseCounting": ("一二三四五六七八九", "十百千"),
    "taiwaneseCountingThousand": ("一二三四五六七八九", "十百千"),
    "japaneseCounting": ("一二三四五六七八九", "十百千"),
    "koreanCounting": ("일이삼사오육칠팔구", "십백천"),
    "chineseLegalSimplified": ("壹贰叁肆伍陆柒捌玖", "拾佰仟"),
}
_CARDINALS = "zero one two three four five six seven eight nine ten eleven twelve"
_ORDINALS = "0 first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_WORDS = {"cardinalText": _CARDINALS.title().split(), "ordinalText": _ORDINALS.title().split()}
_ENCLOSED = {"decimalEnclosedCircle": (0x2460, 20), "decimalEnclosedParen": (0x2474, 20), "decimalEnclosedFullstop": (0x2488, 20)}
"""The character of 1, and how many there are."""
_KEPT_FORMS = frozenset(["none", "bullet", "decimalZero"])
"""Forms that a level in decimal digits leaves as they are."""
_PLACEHOLDER = re.compile(r"%([1-9])")


class _Level(NamedTuple):
    """A level of a list."""

    start: int
    number_format: str
    text: str
    is_legal: bool
    """Whether the numbers of all levels are written in decimal digits."""
    restart: int | None
    """The level, counted from 1, after which this one begins anew; 0 for never, None for each level above."""
    style: str | None
    is_hidden: bool


class _List(NamedTuple):
    """A numbered list: the definition that counts it, its levels, and the levels that it starts anew."""

    counted_by: str
    levels: dict[int, _Level]
    starts: dict[int, int]


class Numbering:
    """The lists of a document, and the numbers reached in each."""

    def __init__(self, root: "_Element | None", styles: Styles) -> None:
        self._styles = styles
        self._definitions = (
            {}
            if root is None
            else {find_value(definition, ".", "abstractNumId"): definition for definition in root.iterfind("{*}abstractNum")}
        )
        self._numbers = {} if root is None else {find_value(number, ".", "numId"): number for number in root.iterfind("{*}num")}
        self._lists: dict[str, _List | None] = {}
        self._reached: dict[str, dict[int, int]] = {}
        self._started: set[tuple[str, int]] = set()

    def next_label(self, properties: "_Element | None", style: str | None) -> str:
        """Count a paragraph, and return its number, BULLET, or "" if it has neither."""
        number_id, depth = self._place(properties, style)
        numbered = self._list(number_id) if number_id else None
        if numbered is None or depth not in numbered.levels:
            return ""
        level, reached = numbered.levels[depth], self._reached.setdefault(numbered.counted_by, {})
        if depth in numbered.starts and (number_id, depth) not in self._started:
            reached[depth] = numbered.starts[depth] - 1
        self._started.add((number_id, depth))
        reached[depth] = reached.get(depth, level.start - 1) + 1
        for other, below in numbered.levels.items():
            if other < depth:
                reached.setdefault(other, below.start)
            elif other > depth and (below.restart is None or depth < below.restart):
                reached.pop(other, None)
        if level.number_format == "bullet":
            return BULLET if level.text.strip() and not level.is_hidden else ""
        return "" if level.is_hidden else self._write(level, numbered, reached)

    def _write(self, level: _Level, numbered: _List, reached: dict[int, int]) -> str:
        def formatted(mark: re.Match[str]) -> str:
            depth = int(mark[1]) - 1
            if depth not in numbered.levels:
                return ""
            form = numbered.levels[depth].number_format
            return word_number(reached.get(depth, 1), "decimal" if level.is_legal and form not in _KEPT_FORMS else form)

        return " ".join(_PLACEHOLDER.sub(formatted, level.text).split())

    def _place(self, properties: "_Element | None", style: str | None) -> tuple[str, int]:
        """Return the list of a paragraph, "" if it has none, and its level, from its own properties or those of its styles."""
        own = properties.find("{*}numPr") if properties is not None else None
        number_id, depth = (find_value(own, "{*}numId"), find_value(own, "{*}ilvl")) if own is not None else ("", "")
        number_id = number_id or self._styles.value(style, "{*}pPr/{*}numPr/{*}numId")
        numbered = self._list(number_id) if number_id not in ("", "0") else None
        if numbered is None:
            return "", 0
        if not depth:
            linked = {level.style: str(place) for place, level in numbered.levels.items() if level.style}
            stated = (
                linked.get(name) or self._styles.own_value(name, "{*}pPr/{*}numPr/{*}ilvl") for name in self._styles.names_of_chain(style)
            )
            depth = next((value for value in stated if value), "")
        return number_id, int(depth) if depth.isdecimal() else 0

    def _list(self, number_id: str) -> _List | None:
        if number_id not in self._lists:
            self._lists[number_id] = self._read_list(number_id)
        return self._lists[number_id]

    def _read_list(self, number_id: str) -> _List | None:
        number = self._numbers.get(number_id)
        counted_by = find_value(number, "{*}abstractNumId") if number is not None else ""
        definition = self._definitions.get(counted_by)
        linked = find_value(definition, "{*}numStyleLink") if definition is not None else ""
        if linked:  # the definition is that of a style's list
            by_style = (name for name, other in self._definitions.items() if find_value(other, "{*}styleLink") == linked)
            counted_by = next(by_style, counted_by)
            definition = self._definitions[counted_by]
        if number is None or definition is None:
            return None
        levels = {
            place: _read_level(level) for level in definition.iterfind("{*}lvl") if (place := number_value(level, ".", "ilvl")) in _LEVELS
        }
        starts = {}
        for override in number.iterfind("{*}lvlOverride"):
            if (place := number_value(override, ".", "ilvl")) not in _LEVELS:
                continue
            for level in override.iterfind("{*}lvl"):
                levels[place] = _read_level(level)
            if override.find("{*}startOverride") is not None:
                starts[place] = number_value(override, "{*}startOverride")
        return _List(counted_by, dict(sorted(levels.items())), starts)


def _read_level(level: "_Element") -> _Level:
    form = next(level.iter("{*}numFmt"), None)
    name = find_value(form, ".") if form is not None else "decimal"
    if name == "custom" and form is not None:  # such as "001, 002, 003, ..."
        name = find_value(form, ".", "format").partition(",")[0].strip() or "decimal"
    restart = level.find("{*}lvlRestart")
    return _Level(
        start=number_value(level, "{*}start"),
        number_format=name,
        text=find_value(level, "{*}lvlText"),
        is_legal=is_on(level.find("{*}isLgl")),
        restart=None if restart is None else number_value(restart, "."),
        style=find_value(level, "{*}pStyle"),
        is_hidden=is_on(level.find("{*}rPr/{*}vanish")),
    )


@cache
def word_number(number: int, form: str) -> str:
    """Return a number in one of Word's formats, in decimal digits if the format is not known."""
    if form == "none" or not 0 <= number <= _MAX_NUMBER:
        return "" if form == "none" else str(number)
    if form in _FORMS:
        return format_number(number, _FORMS[form], repeats_letters=True)
    if form in _WORDS and number < len(_WORDS[form]):
        return _WORDS[form][number]
    if form in _LETTERS and 0 < number <= len(_LETTERS[form]):
        return _LETTERS[form][number - 1]
    if form in _ENCLOSED and 0 < number <= _ENCLOSED[form][1]:
        return chr(_ENCLOSED[form][0] + number - 1)
    if form in _DIGITS:
        return "".join(_DIGITS[form][int(digit)] for digit in str(number))
    if form in _COUNTING:
        return _counted(number, *_COUNTING[form])
    if form == "ordinal":
        return f"{number}{'th' if 10 < number % 100 < 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
    if form == "numberInDash":
        return f"- {number} -"
    width = 2 if form == "decimalZero" else len(form) if form.isdecimal() else 0
    return f"{number:X}" if form == "hex" else f"{number:0{width}d}" if width else str(number)


def _counted(number: int, digits: str, units: str) -> str:
    """Return a number below ten thousand in East Asian words: 十二, 二十三."""
    if not 0 < number < 10_000:
        return str(number)
    written = ""
    for power in (3, 2, 1):
        count, number = divmod(number, 10**power)
        if count:
            written += ("" if count == 1 and not (written or power > 1) else digits[count - 1]) + units[power - 1]
    return written + (digits[number - 1] if number else "")

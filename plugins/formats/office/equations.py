"""Write the equations of Office Math (`m:oMath`) and MathML (`math`) on one line: `x^2`, `(a+b)/2`, `√x`, `∑_(i=1)^n x_i`."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

if TYPE_CHECKING:
    from lxml.etree import _Element

_INVISIBLE = str.maketrans({"\u2061": " ", "\u2062": None, "\u2063": None, "\u2064": None, "\u200b": None})
_STYLED = re.compile(r"[\U0001d400-\U0001d7ff]")
"""Mathematical alphanumeric symbols, which are letters and digits in another typeface."""
_ATOM = re.compile(r"\d+(?:[.,]\d+)*+|[^\W\d_]+|\S")
"""What needs no parentheses in a fraction or as an index: a number, a word or a symbol."""
_MARKS = frozenset("′″‴'\"°")
"""What is written directly behind its base, although the file raises it."""
_OVER = {
    "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "¯": "\u0304", "‾": "\u0304", "-": "\u0304", "_": "\u0304", "─": "\u0304",
    "→": "\u20d7", "⃗": "\u20d7", "˙": "\u0307", ".": "\u0307", "¨": "\u0308", "ˇ": "\u030c", "˘": "\u0306",
}  # fmt: skip
"""Combining characters of the accents over a letter."""
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


class _Piece(NamedTuple):
    """Part of a row: its text, and what it is: "text", "word" (a name such as sin), "script" (it begins with its base) or "structure"."""

    text: str
    kind: str = "text"


def equation_text(element: "_Element") -> str:
    """Return an equation, or any part of one, as a line of text."""
    text = " ".join(_write(element).text.split())
    return text or (element.get("alttext") or "").strip()


def _write(element: "_Element") -> _Piece:
    name = _local_name(element)
    if name in _TOKENS:
        text = _STYLED.sub(lambda letter: normalize("NFKC", letter[0]), (element.text or "").translate(_INVISIBLE))
        text = text if name in _TYPED else " ".join(text.split())
        return _Piece(text, "word" if name not in _TYPED and name != "mn" and len(text) > 1 and text.isalpha() else "text")
    if name in _SKIPPED:
        return _Piece("")
    return _STRUCTURES.get(name, _row)(element)


def _row(element: "_Element") -> _Piece:
    return _join(map(_write, _children(element)))


def _join(pieces: Iterable[_Piece]) -> _Piece:
    """Return pieces side by side, with a space where two would read as one number or word."""
    written: list[str] = []
    before = _Piece("")
    count = 0
    for piece in pieces:
        if not piece.text:
            continue
        if _is_apart(before, piece):
            written.append(" ")
        written.append(piece.text)
        before = piece
        count += 1
    return before if count == 1 else _Piece("".join(written))


def _is_apart(before: _Piece, after: _Piece) -> bool:
    if not before.text or not before.text[-1].isalnum():
        return bool(before.text) and before.kind == "structure" and (after.text[0].isalnum() or after.text[0] in "√(")
    if "word" in (before.kind, after.kind):
        return after.text[0].isalnum() or after.text[0] == "√"
    if not after.text[0].isalnum():
        return before.kind == "structure" and after.text[0] in "√("
    return before.kind in ("script", "structure") or after.kind == "structure" or (after.kind == "script" and after.text[0].isdigit())


def _wrap(text: str) -> str:
    """Return a text in parentheses unless it is one number, word or symbol, or in brackets already."""
    return text if not text or _ATOM.fullmatch(text) or _is_bracketed(text) else f"({text})"


def _is_bracketed(text: str) -> bool:
    """Return whether the bracket at the start of a text is closed by the one at its end."""
    opening, closing = text[0], _BRACKETS.get(text[0])
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == opening) - (letter == closing)
        if closing is None or depth == 0:
            return closing is not None and place == len(text) - 1
    return False


def _index(mark: str, text: str) -> str:
    """Return a raised ("^") or lowered ("_") text as it follows its base."""
    return "" if not text else text if mark == "^" and set(text) <= _MARKS else f"{mark}{_wrap(text)}"


def _scripted(base: _Piece, lower: str, upper: str) -> _Piece:
    text = base.text if base.kind == "word" or re.fullmatch(r"[\w.,]*+", base.text) else _wrap(base.text)
    return _Piece(f"{text}{_index('_', lower)}{_index('^', upper)}", "script")


def _fraction(element: "_Element") -> _Piece:
    above, below = _parts(element, "num", "den")
    bar = next(element.iterfind("{*}fPr/{*}type"), None)
    line = element.get("linethickness", "") if bar is None else "0" if "noBar" in bar.attrib.values() else ""
    if line and re.fullmatch(r"0*+\.?0*+[a-z%]*+", line):  # such as a binomial coefficient
        return _Piece(f"{above.text} ¦ {below.text}")
    return _Piece(f"{_wrap(above.text)}/{_wrap(below.text)}" if above.text or below.text else "", "structure")


def _root(element: "_Element") -> _Piece:
    if _local_name(element) == "msqrt":
        inner, degree = _row(element).text, ""
    else:
        base, index = _parts(element, "e", "deg")
        inner, degree = base.text, index.text
    if degree and degree != "2":
        return _Piece(f"{_wrap(inner)}^(1/{_wrap(degree)})", "script")
    return _Piece(f"√{_wrap(inner)}", "structure")


def _scripts(*names: str) -> Callable[["_Element"], _Piece]:
    """Return a writer of a base with a lowered ("sub") and a raised ("sup") part, in this order of elements."""

    def write(element: "_Element") -> _Piece:
        pieces = dict(zip(names, _parts(element, *(_PART_NAMES.get(_local_name(element), names))), strict=True))
        lower, upper = pieces.get("sub", _Piece("")).text, pieces.get("sup", _Piece("")).text
        if names[0] == "e":
            accent = _OVER.get(upper)
            if accent and len(pieces["e"].text) == 1 and _local_name(element) == "mover":
                return _Piece(pieces["e"].text + accent)
            return _scripted(pieces["e"], lower, upper)
        return _Piece(f"{_index('_', lower)}{_index('^', upper)}{pieces['e'].text}", "structure")

    return write


def _large_operator(element: "_Element") -> _Piece:
    """Return a sum, product or integral with its limits (`m:nary`)."""
    lower, upper, inner = _parts(element, "sub", "sup", "e")
    symbol = _property(element, "naryPr", "chr", "∫")
    return _Piece(f"{symbol}{_index('_', lower.text)}{_index('^', upper.text)} {inner.text}", "structure")


def _function(element: "_Element") -> _Piece:
    name, inner = _parts(element, "fName", "e")
    return _Piece(f"{name.text}{'' if inner.text[:1] in _BRACKETS else ' '}{inner.text}", "structure")


def _brackets(element: "_Element") -> _Piece:
    """Return texts in brackets (`m:d`, `mfenced`)."""
    if _local_name(element) == "mfenced":
        opening, closing = element.get("open", "("), element.get("close", ")")
        between = (element.get("separators", ",").strip() or ",")[0]
    else:
        opening, closing, between = (
            _property(element, "dPr", name, usual) for name, usual in (("begChr", "("), ("endChr", ")"), ("sepChr", "|"))
        )
    inner = f"{between} ".join(_write(child).text for child in _children(element) if _local_name(child) != "dPr")
    return _Piece(f"{opening}{inner}{closing}")


def _accent(element: "_Element") -> _Piece:
    """Return a text with an accent or a bar over it (`m:acc`, `m:bar`)."""
    (inner,) = _parts(element, "e")
    if _local_name(element) == "bar":
        mark = "\u0304" if _property(element, "barPr", "pos", "bot") == "top" else "\u0332"
    else:
        mark = _property(element, "accPr", "chr", "\u0302")
        mark = _OVER.get(mark, mark)
    return _Piece(f"{inner.text if len(inner.text) == 1 else f'({inner.text})'}{mark}")


def _rows(element: "_Element") -> _Piece:
    """Return a matrix or several equations below each other: rows separated by semicolons, cells by commas."""
    rows = (
        ", ".join(_write(cell).text for cell in _children(row)) if _local_name(row) in _ROWS else _write(row).text
        for row in _children(element)
    )
    return _Piece("; ".join(row for row in rows if row.strip()), "structure")


def _multiple_scripts(element: "_Element") -> _Piece:
    """Return a base with scripts on both sides (`mmultiscripts`)."""
    base, *rest = _children(element)[:_MAX_SCRIPTS] or [element]
    sides: list[list[str]] = [[]]
    for child in rest:
        if _local_name(child) == "mprescripts":
            sides.append([])
        else:
            sides[-1].append(_write(child).text)
    after, before = ("".join(_index("_^"[place % 2], text) for place, text in enumerate(side)) for side in (*sides, [])[:2])
    return _Piece(f"{before}{'' if base is element else _write(base).text}{after}", "structure" if before else "script")


def _first(element: "_Element") -> _Piece:
    """Return the first of several forms of the same equation (`semantics`, `maction`, `mc:AlternateContent`)."""
    return next((piece for piece in map(_write, _children(element)) if piece.text), _Piece(""))


def _phantom(element: "_Element") -> _Piece:
    return _Piece("") if _property(element, "phantPr", "show", "1") in ("0", "off", "false") else _row(element)


def _parts(element: "_Element", *names: str) -> Iterator[_Piece]:
    """Yield the parts of these names; in MathML, whose parts have no names, those at their places."""
    children = _children(element)
    if _local_name(element).startswith("m"):
        yield from (_write(children[place]) if place < len(children) else _Piece("") for place in range(len(names)))
        return
    by_name = {_local_name(child): child for child in children}
    yield from (_write(by_name[name]) if name in by_name else _Piece("") for name in names)


def _property(element: "_Element", group: str, name: str, usual: str) -> str:
    """Return the value of a property of Office Math, or what it is without one."""
    stated = next(element.iterfind(f"{{*}}{group}/{{*}}{name}"), None)
    if stated is None:
        return usual
    return next((str(value) for key, value in stated.attrib.items() if str(key).endswith("val")), usual if name == "pos" else "")


def _children(element: "_Element") -> list["_Element"]:
    return [child for child in element if isinstance(child.tag, str)]


def _local_name(element: "_Element") -> str:
    return str(element.tag).rpartition("}")[2].rpartition(":")[2]


_TYPED = frozenset(["t", "mtext", "ms"])
"""Elements whose spaces are as a person typed them."""
_TOKENS = _TYPED | {"mi", "mn", "mo"}
_SKIPPED = frozenset(["annotation", "annotation-xml", "mphantom", "mspace", "none", "del", "moveFrom", "delText", "instrText"])
_ROWS = frozenset(["mr", "mtr", "mlabeledtr"])
_MAX_SCRIPTS = 100
_PART_NAMES = {"limLow": ("e", "lim"), "limUpp": ("e", "lim")}
_STRUCTURES: dict[str, Callable[["_Element"], _Piece]] = {
    "f": _fraction, "mfrac": _fraction,
    "rad": _root, "msqrt": _root, "mroot": _root,
    "sSup": _scripts("e", "sup"), "msup": _scripts("e", "sup"), "mover": _scripts("e", "sup"), "limUpp": _scripts("e", "sup"),
    "sSub": _scripts("e", "sub"), "msub": _scripts("e", "sub"), "munder": _scripts("e", "sub"), "limLow": _scripts("e", "sub"),
    "sSubSup": _scripts("e", "sub", "sup"), "msubsup": _scripts("e", "sub", "sup"), "munderover": _scripts("e", "sub", "sup"),
    "sPre": _scripts("sub", "sup", "e"), "mmultiscripts": _multiple_scripts,
    "nary": _large_operator, "func": _function, "d": _brackets, "mfenced": _brackets, "acc": _accent, "bar": _accent,
    "m": _rows, "eqArr": _rows, "mtable": _rows, "oMathPara": _rows, "mstack": _rows, "mlongdiv": _rows, "msgroup": _rows,
    "semantics": _first, "maction": _first, "AlternateContent": _first, "phant": _phantom,
}  # fmt: skip

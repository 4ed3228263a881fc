"""Rewrite what models write in place of JSON: Python's dicts, comments, other quotes, unquoted names, superfluous commas.

Each sign is read a bounded number of times; a string that is not closed reaches to the end of the text.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

LITERALS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_INSIDE = r'(?!\s*+(?:[,:：，}\]#]|//|/\*|"\w++"\s*+[:：]|\Z))'
"""What follows a quote inside a string that is quoted so."""
_SIGNS = {"：": ":", "，": ","}
_TOKEN = re.compile(
    rf"""
    (?P<double>"(?:[^"\\]|\\.|"{_INSIDE})*+(?:"|\\?\Z))
    | (?P<single>'(?:[^'\\]|\\.|'{_INSIDE})*+(?:'|\\?\Z))
    | (?P<curly>[“”„](?:[^“”\\]|\\.|[“”]{_INSIDE})*+(?:[“”]|\\?\Z))
    | (?P<comment>//[^\n]*+|\#[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z))
    | (?P<name>[^\W\d]\w*+(?=\s*+[:：]))
    | (?P<word>[^\W\d]\w*+)
    | (?P<space>\s++)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt]|(.?))|"', re.DOTALL)
"""An escape, or a quote that needs one; the group is the sign of an escape that JSON does not have."""
_WRITTEN_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


def to_json(text: str) -> str:
    """Return a text from its first brace on, as JSON as far as that is clear."""
    written: list[str] = []
    last, before, name_at = "", "", 0  # the last two signs that are neither space nor comment, and where the last one is
    start = text.find("{")
    for kind, token in _tokens(text[start:] if start >= 0 else ""):
        if kind == "comment":
            continue
        if kind == "space":
            written.append(" ")
            continue
        token = _SIGNS.get(token, token) if kind == "" else _mend_token(kind, token, last)
        if token in "}]" and last == ",":
            del written[name_at]
        elif token == ":" and last.endswith('"') and before not in ("{", ","):
            written.insert(name_at, ",")
        elif token in ".+" and last in (":", ",", "["):  # .9, +0.9
            token = "0." if token == "." else " "
        before, last, name_at = last, token, len(written)
        written.append(token)
    return "".join(written)


def close_brackets(written: str) -> str:
    """Return JSON of `to_json` with the brackets that are not closed at its end; the text itself if it ends within a value or a name."""
    end, opened = written.rstrip(" `"), list[str]()
    for kind, token in _tokens(end):
        if not kind and token in "{[":
            opened.append("}" if token == "{" else "]")
        elif not kind and token in "}]" and opened:
            opened.pop()
    return end + "".join(reversed(opened)) if end.endswith(('"', "]", "}", "true", "false", "null")) or end[-1:].isdigit() else written


def _mend_token(kind: str, token: str, last: str) -> str:
    """Return a string, a name or a word as JSON has it."""
    if kind in ("double", "single", "curly"):
        closed = len(token) > 1 and token[-1] in "\"'“”"
        return f'"{_ESCAPE.sub(_mend_escape, token[1:-1])}"' if closed else token
    return f'"{token}"' if kind == "name" and last in ("{", ",") else LITERALS.get(token, token)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a text with their kinds; a sign outside them has none."""
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        yield (token.lastgroup or "", token[0]) if token else ("", text[position])
        position = token.end() if token else position + 1


def _mend_escape(escape: re.Match[str]) -> str:
    """Return an escape that JSON has: of an escaped quote the quote alone, else the backslash as itself."""
    if escape[1] is None:
        return r"\"" if escape[0] == '"' else escape[0]
    return escape[1] if escape[1] in ("'", "“", "”") else rf"\\{escape[1]}"


def decode_string(text: str) -> str:
    """Return the text that a JSON string contains, or the text itself if it is not one."""
    stripped = text.strip()
    if stripped.startswith('{\\"'):  # escaped, but not quoted
        stripped = f'"{stripped}"'
    if not (stripped.startswith('"') and stripped.endswith('"')):
        return text
    try:
        decoded = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        return text
    return decoded if isinstance(decoded, str) else text


def decode_letters(value: dict[str, Any]) -> dict[str, Any]:
    r"""Return an object in whose texts letters that were escaped twice (`\u00f3`) are decoded."""
    return {name: _decode_text(part) for name, part in value.items()}


def _decode_text(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode_text(part) if isinstance(part, str) else part for part in value]
    return _WRITTEN_ESCAPE.sub(_decode_letter, value) if isinstance(value, str) and "\\u" in value else value


def _decode_letter(escape: re.Match[str]) -> str:
    letter = chr(int(escape[1], 16))
    return letter if ord(letter) > 127 and unicodedata.category(letter).startswith("L") else escape[0]

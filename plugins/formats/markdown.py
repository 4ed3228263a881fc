"""Prepare Markdown: leave out comments and struck text, write HTML within it as text, and join lines wrapped by hand."""

import html
import re
from collections.abc import Callable, Iterator
from functools import partial

from ramify.formats.html.reader import html_text
from ramify.formats.raised import lowered, raised
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.readers import FormatReader
from ramify.tools.documents.sections import word_count
from ramify.tools.documents.text import read_markdown
from ramify.tools.documents.wrapped_text import join_wrapped

_FENCE = re.compile(r"\s{0,3}(?:> ?)*(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_CODE_MARKS = re.compile(r"`+")
_TABLE_TAG = re.compile(r"<(/?)table\b", re.IGNORECASE)
_ELEMENT = re.compile(r"<(span|div|p|sup|sub|s|del|strike)\b([^<>]{0,300})>([^<]{0,2000})</\1>", re.IGNORECASE)
_HIDDEN = re.compile(r"\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_STRUCK = re.compile(r"(?<!~)~~(?![~\s])((?:[^~\n]|~(?!~)|\n(?!\s*\n)){1,2000})~~(?!~)")
_RAISED = re.compile(r"(?<=[\w)])\^([\w+−-]{1,12})\^")
_LOWERED = re.compile(r"(?<=[^\W\d_])~(\d{1,3})~(?!~)")
_HEADING = re.compile(r"^ {0,3}<h([1-6])\b[^<>]{0,300}>([^<\n]{1,300})</h\1>", re.IGNORECASE | re.MULTILINE)
_TAG = re.compile(
    r"</?(?:details|summary|div|p|span|kbd|b|i|u|em|strong|center|small|big|font|a|br|hr|ul|ol|li|picture|ins|mark|samp|var|code|wbr)"
    r"(?:\s[^<>]{0,1000})?/?>|<(?:img|source)\s[^<>]{0,1000}>",
    re.IGNORECASE,
)
_SPACED_TAG = re.compile(r"<(?:br|li)\b", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_STRUCTURE_SIGNS, _LINE_SIGNS = frozenset("`~|*_"), frozenset("#>-+=")
"""Signs that are Markdown anywhere, and at the start of a line; as entities they are not."""
_INVISIBLE = re.compile(r"[\xad\u200b\u2060\ufeff]")
_REFERENCE_COMMENT = re.compile(r"^ {0,3}\[[^\]\n]{0,40}\]:[ \t]*(?:#|<#?>)[ \t]+[\"'(]([^\n]*)$", re.MULTILINE)
"""A comment as a reference to nothing: "[//]: # (text)"."""
_ATTRIBUTE_NAMES = frozenset(["open", "hidden", "clear", "reversed", "compact", "noshade"])
_LEFT_OUT = re.compile(" ?\ue001")
_BLANK_LINES = re.compile(r"\n{3,}")
_CONTEXT = 80


def tidy_markdown(text: str, source: str, report: ReadReport) -> str:
    """Return Markdown without comments, struck and hidden text, with its HTML written as text; code stays as it is."""
    rewrite = partial(_rewrite_text, source=source, report=report)
    parts = (part if is_code else _outside_code(part, rewrite) for is_code, part in _split_code(text))
    return join_wrapped("".join(parts))


def _split_code(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the blocks of code, fenced or indented, and the texts between them."""
    fence: str | None = None
    part: list[str] = []
    was_code = in_list = False
    is_blank = True
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        indented = line.startswith(("    ", "\t")) and not in_list
        is_code = fence is not None or mark is not None or (indented and bool(line.strip()) and (is_blank or was_code))
        if mark and (fence is None or mark[1].startswith(fence)):
            fence = mark[1] if fence is None else None
        if line.strip() and not line[0].isspace():
            in_list = _LIST_ITEM.match(line) is not None
        if is_code != was_code and part:
            yield was_code, "".join(part)
            part = []
        part.append(line)
        was_code, is_blank = is_code, not line.strip()
    yield was_code, "".join(part)


def _outside_code(text: str, rewrite: Callable[[str], str]) -> str:
    """Rewrite a text but the code within its lines, which is replaced by private signs meanwhile."""
    marks = list(_CODE_MARKS.finditer(text))
    following: dict[int, int] = {}
    closing: list[int | None] = [None] * len(marks)
    for number in range(len(marks) - 1, -1, -1):
        length = len(marks[number][0])
        closing[number] = following.get(length)
        following[length] = number
    codes: list[str] = []
    parts: list[str] = []
    done = number = 0
    while number < len(marks):
        end = closing[number]
        if end is None or "\n\n" in text[marks[number].end() : marks[end].start()]:
            number += 1
            continue
        codes.append(text[marks[number].start() : marks[end].end()])
        parts += [text[done : marks[number].start()], _CODE_SIGN]
        done, number = marks[end].end(), end + 1
    if _CODE_SIGN in text:
        return text
    first, *others = rewrite("".join([*parts, text[done:]])).split(_CODE_SIGN)
    if len(others) != len(codes):  # some code was left out or is within a table
        return rewrite(text)
    return first + "".join(code + other for code, other in zip(codes, others, strict=True))


_CODE_SIGN, _LEFT_OUT_SIGN = "\ue000", "\ue001"


def _rewrite_text(text: str, source: str, report: ReadReport) -> str:
    given = text
    text = _without_comments(text.replace("\xad", ""), source, report)
    if "~" in text:
        text = _STRUCK.sub(lambda match: _leave_out(match[1], "struck passage", source, report), text)
        text = _LOWERED.sub(lambda match: lowered(match.string[max(0, match.start() - _CONTEXT) : match.start()], match[1]), text)
    if "^" in text:
        text = _RAISED.sub(lambda match: raised(match.string[max(0, match.start() - _CONTEXT) : match.start()], match[1], False), text)
    if "<" in text:
        text = _write_tables(text, source, report)
        text = _ELEMENT.sub(lambda match: _write_element(match, source, report), text)
        text = _HEADING.sub(lambda match: f"{'#' * int(match[1])} {match[2].strip()}", text)
        text = _TAG.sub(_write_tag, text)
    text = _LEFT_OUT.sub("", _ENTITY.sub(_decode_entity, text))
    return text if text == given else _BLANK_LINES.sub("\n\n", text)


def _write_tag(match: re.Match[str]) -> str:
    """Return "" or a space for a tag; a comparison such as "a<b and c>d" is kept."""
    attributes = match[0].strip("</>").split()[1:]
    if attributes and "=" not in match[0] and not _ATTRIBUTE_NAMES.issuperset(attributes):
        return match[0]
    return " " if _SPACED_TAG.match(match[0]) and match.string[match.end() :][:1] != "\n" else ""


def _without_comments(text: str, source: str, report: ReadReport) -> str:
    if "]:" in text:
        text = _REFERENCE_COMMENT.sub(lambda match: _leave_out(match[1].rstrip("\"') \t"), "hidden passage", source, report), text)
    first, *others = text.split("<!--")
    parts = [first]
    for other in others:
        comment, end, rest = other.partition("-->")
        parts.append(_leave_out(comment, "hidden passage", source, report) + rest if end else f"<!--{other}")
    return "".join(parts)


def _leave_out(text: str, kind: str, source: str, report: ReadReport) -> str:
    if word_count(text):
        report.leave_out(source, kind, [" ".join(text.split())])
    return _LEFT_OUT_SIGN


def _write_element(match: re.Match[str], source: str, report: ReadReport) -> str:
    """Return an HTML element without elements in it as text."""
    tag, attributes, text = match[1].lower(), match[2], match[3]
    before, after = match.string[max(0, match.start() - _CONTEXT) : match.start()], match.string[match.end() :][:_CONTEXT]
    if tag in ("s", "del", "strike"):
        return _leave_out(text, "struck passage", source, report)
    if _HIDDEN.search(attributes):
        return _leave_out(text, "hidden passage", source, report)
    if tag in ("sup", "sub"):
        mark = html.unescape(text)
        return raised(before, mark, False, after) if tag == "sup" else lowered(before, mark, after)
    return text


def _write_tables(text: str, source: str, report: ReadReport) -> str:
    """Write HTML tables as lines, as on a web page."""
    parts: list[str] = []
    done = depth = start = 0
    for tag in _TABLE_TAG.finditer(text):
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            end = text.find(">", tag.end()) + 1
            if not depth and end:
                parts += [text[done:start], html_text(text[start:end], source, report)]
                done = end
    return "".join([*parts, text[done:]])


def _decode_entity(match: re.Match[str]) -> str:
    sign = html.unescape(match[0])
    line = match.string[max(0, match.start() - _CONTEXT) : match.start()].rpartition("\n")[2]
    if sign in _STRUCTURE_SIGNS or (sign in _LINE_SIGNS and not line.strip()):
        return match[0]
    return _INVISIBLE.sub("", sign.replace("\xa0", " "))


READER = FormatReader(partial(read_markdown, tidy=tidy_markdown), {"yaml": "pyyaml"}, plain=True)

"""The text of a part of a mail: transfer encoding and character set, flowed and enriched text, invitations."""

import base64
import codecs
import re
from collections.abc import Iterator
from datetime import datetime
from email.message import MIMEPart

from ramify.formats.html.reader import html_text
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.text import decode_text, detect_encoding, is_utf8
from ramify.tools.documents.wrapped_text import join_wrapped

_NOT_BASE64 = re.compile(r"\S \S|[^A-Za-z0-9+/=\s]{3}|^--")
_BASE64_GROUP = re.compile(r"[A-Za-z0-9+/]+")
_WIDER_CHARSETS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932",
    "euc_kr": "cp949", "big5": "cp950",
}  # fmt: skip
"""Character sets that are declared for text in a larger one."""
_CHARSET_NAMES = {
    "ks_c_5601-1987": "cp949",
    "iso-8859-8-i": "iso8859-8",
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "unicode-1-1-utf-7": "utf-7",
}
_SEVERAL_BYTES = ("utf", "iso2022", "hz", "gb", "big5", "euc", "shift", "cp932", "cp949", "cp950", "johab")
"""Beginnings of character sets in which text of another one is rarely valid."""
_HTML_CHARSET = re.compile(rb"<meta[^<>]{0,200}charset\s*=\s*[\"']?([\w.:-]{2,40})", re.IGNORECASE)


def part_payload(part: MIMEPart, source: str, report: ReadReport) -> bytes:
    """Return a part's content without its transfer encoding; what is wrongly declared as base64 is kept as it is."""
    raw = part.get_payload()
    if "base64" not in str(part.get("Content-Transfer-Encoding", "")).lower() or not isinstance(raw, str):
        content = part.get_payload(decode=True)
        return content if isinstance(content, bytes) else b""
    lines = raw.split("\n")
    encoded = [line for line in lines if not _NOT_BASE64.search(line)]
    if 2 * sum(map(len, encoded)) < len(raw.strip()):
        report.remark(source, "a part is declared as base64 and is not: read as it is")
        return raw.encode("utf-8", "surrogateescape")
    groups = _BASE64_GROUP.findall("".join("".join(encoded).split()))
    return b"".join(base64.b64decode(f"{group[: len(group) - (len(group) % 4 == 1)]}==") for group in groups)


def part_text(part: MIMEPart, source: str, report: ReadReport) -> str:
    """Return the text of a part as it is read; "" if it cannot be decoded."""
    kind = part.get_content_subtype() if part.get_content_maintype() == "text" else "calendar" if is_calendar(part) else "plain"
    text = _decode(part, source, report, is_html=kind == "html").replace("\r\n", "\n").replace("\r", "\n")
    if kind == "html":
        return html_text(text, source, report)
    if kind in ("enriched", "richtext"):
        return enriched_text(text)
    if kind == "calendar":
        events = calendar_text(text)
        report.add(events)
        return events
    if str(part.get_param("format", "")).lower() == "flowed":
        return flowed_text(text, str(part.get_param("delsp", "")).lower() == "yes")
    return join_wrapped(text) if kind == "plain" else text


def is_calendar(part: MIMEPart) -> bool:
    """Return whether a part is an invitation or another event."""
    named = str(part.get_filename("") or "").lower().endswith(".ics")
    return part.get_content_type() in ("text/calendar", "application/ics") or named


def _decode(part: MIMEPart, source: str, report: ReadReport, is_html: bool) -> str:
    """Return a part's text in the declared character set, unless its bytes show that it is another one."""
    content = part_payload(part, source, report)
    declared = str(part.get_content_charset("") or "")
    if is_html and not declared and (match := _HTML_CHARSET.search(content[:4096])):
        declared = match[1].decode("ascii", "replace")
    codec = _find_codec(declared)
    if codec.startswith(_SEVERAL_BYTES):
        try:
            return content.decode(codec).removeprefix("\ufeff")
        except UnicodeDecodeError:
            codec = ""
    if content.isascii():
        return content.decode("ascii")
    encoding = "utf-8-sig" if is_utf8(content) else codec
    try:
        encoding = encoding or detect_encoding(content, source, report)
        if encoding == "utf-8-sig" and declared:
            report.remark(source, f"text declared as {declared} is read as utf-8")
        return decode_text(content, encoding)
    except UnreadableError as error:
        report.remark(source, f"a part of its text is not read: {error}")
        return ""


def _find_codec(charset: str) -> str:
    """Return Python's name of a character set; "" if it is unknown."""
    try:
        name = codecs.lookup(_CHARSET_NAMES.get(charset.strip().lower(), charset.strip() or "?")).name
        "".encode(name)
    except (LookupError, UnicodeError, ValueError):
        return ""
    return _WIDER_CHARSETS.get(name, name)


_SIGNATURE = "-- "


def flowed_text(text: str, deletes_space: bool = False) -> str:
    """Return text of `format=flowed` (RFC 3676) with each paragraph on one line, behind the marks of its quotation."""
    joined: list[str] = []
    depth, is_open = -1, False
    for line in text.split("\n"):
        own = len(line) - len(line.lstrip(">"))
        content = line[own:].removeprefix(" ")
        flows = content.endswith(" ") and content != _SIGNATURE
        content = content[:-1] if flows and deletes_space else content
        if is_open and own == depth and content != _SIGNATURE:
            joined[-1] += content
        else:
            joined.append(f"{'>' * own} {content}" if own else content)
        depth, is_open = own, flows
    return "\n".join(line.rstrip() for line in joined)


_PARAMETER = re.compile(r"<param>[^<]*(?:<(?!/param>)[^<]*)*</param>", re.IGNORECASE)
_COMMAND = re.compile(r"</?[A-Za-z][\w-]{0,60}>")


def enriched_text(text: str) -> str:
    """Return the text of text/enriched (RFC 1896): a single line break is a space, further ones are kept."""
    marked = _PARAMETER.sub("", text).replace("<<", "\0")
    return re.sub(r"\n+", lambda breaks: breaks[0][1:] or " ", _COMMAND.sub("", marked)).replace("\0", "<")


_FOLDED = re.compile(r"\n[ \t]")
_PROPERTY = re.compile(r"(?P<name>[\w-]++)(?P<parameters>(?:;[^:;\"]*+(?:\"[^\"]*+\"[^:;\"]*+)*+)*+):(?P<value>.*+)")
_ESCAPED = re.compile(r"\\(.)")
_PERSON = re.compile(r"CN=(?:\"([^\"]*)\"|([^;:]*))")
_ZONE = re.compile(r"TZID=\"?([^\";:]*)")
_METHODS = {"CANCEL": "Cancelled", "REPLY": "Reply", "REQUEST": "Invitation"}


def calendar_text(text: str) -> str:
    """Return the events of an iCalendar text (RFC 5545), each as lines of fields: what, when, where, who."""
    lines = [match for line in _FOLDED.sub("", text).split("\n") if (match := _PROPERTY.fullmatch(line.strip()))]
    method = next((_METHODS.get(line["value"].strip().upper()) for line in lines if line["name"].upper() == "METHOD"), None) or "Event"
    events: list[dict[str, list[re.Match[str]]]] = []
    inner: list[str] = []
    for line in lines:
        name, value = line["name"].upper(), line["value"].strip().upper()
        if name == "BEGIN":
            inner.append(value)
            events += [{}] if value in ("VEVENT", "VTODO") else []
        elif name == "END":
            inner = inner[:-1]
        elif inner[-1:] in (["VEVENT"], ["VTODO"]):
            events[-1].setdefault(name, []).append(line)
    return "\n\n".join("\n".join(_event_lines(event, method)) for event in events)


def _event_lines(event: dict[str, list[re.Match[str]]], method: str) -> Iterator[str]:
    def value(name: str) -> str:
        return _ESCAPED.sub(lambda sign: "\n" if sign[1] in "nN" else sign[1], event[name][0]["value"]).strip() if name in event else ""

    def people(name: str) -> str:
        shown = [(_PERSON.search(line["parameters"]), line["value"]) for line in event.get(name, ())]
        return ", ".join((match[1] or match[2]) if match else address.partition(":")[2] or address for match, address in shown)

    start, end = _event_time(event, "DTSTART"), _event_time(event, "DTEND") or _event_time(event, "DUE")
    end = end.removeprefix(start[:11]) if start[10:11] == " " else end
    fields = {
        method: value("SUMMARY"),
        "Time": f"{start} to {end}" if start and end else start or end,
        "Duration": value("DURATION"),
        "Repeated": value("RRULE"),
        "Place": value("LOCATION"),
        "Organizer": people("ORGANIZER"),
        "Attendees": people("ATTENDEE"),
        "Status": value("STATUS") if value("STATUS") == "CANCELLED" else "",
    }
    yield from (f"{name}: {' '.join(text.split())}" for name, text in fields.items() if text)
    if description := value("DESCRIPTION"):
        yield description


def _event_time(event: dict[str, list[re.Match[str]]], name: str) -> str:
    """Return a time as "2024-03-01 10:00 (Europe/Berlin)"; as it is written if it has another form."""
    if name not in event:
        return ""
    written, zone = event[name][0]["value"].strip(), _ZONE.search(event[name][0]["parameters"])
    for form, shown in (("%Y%m%dT%H%M%S", "%Y-%m-%d %H:%M"), ("%Y%m%dT%H%M", "%Y-%m-%d %H:%M"), ("%Y%m%d", "%Y-%m-%d")):
        try:
            time = datetime.strptime(written.removesuffix("Z"), form).strftime(shown)
        except ValueError:
            continue
        return f"{time} ({zone[1]})" if zone else f"{time} (UTC)" if written.endswith("Z") else time
    return written

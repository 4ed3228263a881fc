"""Compare what was read of a file with its raw text, and print the differences."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.formats.fidelity._text import JOINT, RawText, optional
from ramify.studio.console.building import skipped_lines
from ramify.studio.console.streams import note, say
from ramify.tools.documents.files import File, ReadReport, Skipped, existing_path, list_files
from ramify.tools.documents.properties import RESERVED_FIELDS
from ramify.tools.documents.readers import NO_READER, find_reader, parse_file
from ramify.tools.errors import UsageError
from ramify.tools.quoting import escape_invisible, one_line, pluralize

_LETTER = r"(?:(?![\u3040-\u30ff\u3400-\u9fff])[^\W\d_])"
_WORD = re.compile(rf"(?:(?<![^\s(|:=√])-)?\d++(?:[.,'’]\d++)*+{_LETTER}*+|[\u3040-\u30ff\u3400-\u9fff]|{_LETTER}(?:{_LETTER}|\d)*+")
"""A number with its sign, separators and unit, a character of Chinese or Japanese, or a word."""
_IGNORED = re.compile("[\xad\u200b-\u200f\u2061-\u2064\ufe0e\ufe0f\ufeff]")
_LIGATURES = re.compile("[\ufb00-\ufb06\U0001d400-\U0001d7ff]")
"""Ligatures, and mathematical letters and digits, which are the same in another typeface."""
_LINE_HYPHEN = re.compile(r"(?<=[^\W\d_])[-‐\ufffe\x02][ \t]*\r?\n[ \t]*(?=[^\W_])")
_DIGIT_JOINT = re.compile(rf"(?<=\d){JOINT}+(?=\d)")
_MAX_JOINED_PARTS = 30
"""Most parts of a word with uncertain joints."""
_MAX_GLUED_CHARS = 80
_CONTEXT_CHARS = 40
_EMPTY_REASONS = ("contains no text", "empty")
"""Reasons for skipping a file that its raw reading has to confirm."""
_TEXT_FIELDS = ("text", "page_content", "content", "body")
"""Names of a record's text, which are not read."""
_PLACE_FIELDS = {*RESERVED_FIELDS, "title", "heading"}


class Difference(NamedTuple):
    """A word that differs, how often, what it was read as or made of, and where it stands in the file with the text around it."""

    word: str
    times: int
    instead: str = ""
    place: str = ""
    context: str = ""

    @property
    def is_number(self) -> bool:
        """Return whether the word contains a digit: a lost value is worse than a lost word."""
        return any(character.isdigit() for character in self.word)


class ReadingCheck(NamedTuple):
    """What was read of a file, what its reader reported, and the differences that nothing explains."""

    documents: int
    words: int
    missing: list[Difference]
    new: list[Difference]
    glued: list[Difference]
    """Words of the file that were joined to one, or one that was split."""
    remarks: list[Skipped]
    skipped: list[Skipped]

    @property
    def is_faithful(self) -> bool:
        """Return whether nothing is unexplained."""
        return not (self.missing or self.new or self.glued)


def check_reading(path: Path) -> ReadingCheck:
    """Read a file, and compare its words with those of a raw reading that shares no code with its reader."""
    from ramify.formats.fidelity._readings import has_raw_reading, raw_texts

    report = ReadReport()
    documents = list(parse_file(File(path, path.name, path), report, clean=True))
    reader = find_reader(path)
    words = sum(len(document.page_content.split()) for document in documents)
    whole = [reason for name, reason in report.skipped if name == path.name]
    if reader is None or any(reason not in _EMPTY_REASONS for reason in whole):
        return ReadingCheck(len(documents), words, [], [], [], report.remarks, report.skipped)
    if not has_raw_reading(path.name):
        report.remark(path.name, "not compared: there is no raw reading of such files")
        return ReadingCheck(len(documents), words, [], [], [], report.remarks, report.skipped)
    unread = frozenset(name.removeprefix(path.name) for name, _ in report.skipped)
    texts = [
        optional("\n".join((text.text, *text.others)), text.place) if _is_reported(text.place, path.name, report) else text
        for text in raw_texts(path.name, path.read_bytes(), unread)
    ]
    differences = compare(texts, documents, report, records=reader.records)
    return ReadingCheck(len(documents), words, *differences, report.remarks, report.skipped)


def _is_reported(place: str, source: str, report: ReadReport) -> bool:
    """Return whether a remark or skipped part names a place in the file: `source, page 3-5`, `source#7`, `attachment 'a.zip' …`."""
    if not place:
        return False
    for name, text in (*report.skipped, *report.remarks):
        part = name.removeprefix(source)
        if place in (part, part.lstrip(", #")) or text.startswith(f"{place} "):
            return True
        if part.startswith(", page ") and place.startswith("page ") and _in_ranges(int(place[5:]), part[7:]):
            return True
    return False


def _in_ranges(number: int, ranges: str) -> bool:
    bounds = [[int(bound) for bound in part.split("-")] for part in ranges.split(", ") if part.replace("-", "").isdigit()]
    return any(bound[0] <= number <= bound[-1] for bound in bounds)


def compare(
    texts: Sequence[RawText], documents: Sequence[Document], report: ReadReport, *, records: bool = False
) -> tuple[list[Difference], list[Difference], list[Difference]]:
    """Return the missing, new and glued words of documents, compared with the raw texts of their file."""
    read_words = [split_words(text) for text in _read_texts(documents, report if records else None)]
    content = Counter(word for words in read_words for word in words)
    named = Counter(word for title in _titles(documents, records) for word in split_words(title))
    left_out = Counter(word for part in report.left_out.values() for text in part for word in split_words(text))
    read = content + named + left_out
    taken = _ReadWords(read, {pair for words in read_words for pair in pairwise(words)})
    raw = Counter(word for text in texts for word in taken.take(text))
    known = taken.known | left_out.keys() | set(_added_words(report.added))
    missing = raw - read
    new = Counter({word: times for word, times in content.items() if word not in known})
    glued = list(_find_glued(missing, new, raw, texts))
    parts = {word: instead.split()[0] if word not in raw else word for word, _, instead in glued}
    in_file = [(text.place, form.replace(JOINT, "")) for text in texts for form in (text.text, *text.others)]
    places = _find_words(missing.keys() | set(parts.values()), sorted(in_file, key=lambda entry: not entry[0]), taken.pairs)
    shown = _find_words(new.keys(), (("", document.page_content) for document in documents), set())
    unknown = ("", "")
    return (
        [Difference(word, times, "", *places.get(word, unknown)) for word, times in missing.items()],
        [Difference(word, times, "", *shown.get(word, unknown)) for word, times in new.items()],
        [Difference(word, times, instead, *places.get(parts[word], unknown)) for word, times, instead in glued],
    )


def _added_words(texts: Iterable[str]) -> Iterator[str]:
    """Yield the words of texts that a reader wrote itself, those at line ends with and without their hyphens."""
    for text in texts:
        yield from split_words(text)
        yield from split_words(_LINE_HYPHEN.sub("", text))


def split_words(text: str) -> list[str]:
    """Return the words and numbers of a text, without invisible characters."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _IGNORED.sub("", text)).replace("−", "-").replace(JOINT, " ")
        text = _LIGATURES.sub(lambda ligature: unicodedata.normalize("NFKC", ligature[0]), text)
    return _WORD.findall(text)


def _read_texts(documents: Sequence[Document], report: ReadReport | None) -> Iterator[str]:
    """Yield the texts of documents and their headings, and of records (with their file's report) the fields that are metadata."""
    above: list[str] = []
    for document in documents:
        yield document.page_content
        heading = str(document.metadata.get("heading") or "")
        path = heading.split(" > ") if heading else []
        same = next(
            (place for place, (one, other) in enumerate(zip(above, path, strict=False)) if one != other), min(len(above), len(path))
        )
        yield from path[min(same, max(len(path) - 1, 0)) :]
        above = path
        if report is not None:
            for name, value in document.metadata.items():
                if name not in _PLACE_FIELDS and report.properties.get(name) != value:
                    yield name.removeprefix("record_")
                    yield from _flat_texts(value)


def _titles(documents: Sequence[Document], records: bool) -> Iterator[str]:
    """Yield the titles of files and sheets once, and those of records that are not in their text."""
    yield from {str(document.metadata.get("sheet", "")) for document in documents}
    titles = [str(document.metadata.get("title", "")) for document in documents]
    if records:
        yield from _TEXT_FIELDS
        yield from (title for title, document in zip(titles, documents, strict=True) if title not in document.page_content)
    else:
        yield from set(titles)


def _flat_texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _flat_texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _flat_texts(inner)
    elif value is not None:
        yield str(value).lower() if isinstance(value, bool) else str(value)


class _ReadWords:
    """The words that were read, from which those of the raw texts are taken one by one."""

    def __init__(self, words: Counter[str], pairs: Set[tuple[str, str]]) -> None:
        self.pairs = pairs
        self.known: set[str] = set()
        """The words of all forms of the raw texts."""
        self._words = words
        self._left = words.copy()

    def take(self, text: RawText) -> list[str]:
        """Return the words of a raw text; of several forms, that of which fewest words are missing, then fewest pairs of words."""
        options = [self._words_of(form) for form in (text.text, *text.others)]
        words = options[0] if len(options) == 1 else min(options, key=self._distance)
        self._left.subtract(words)
        self.known.update(*options)
        return words

    def _distance(self, words: list[str]) -> tuple[int, int]:
        lost = sum(max(0, times - self._left[word]) for word, times in Counter(words).items())
        return lost, sum(pair not in self.pairs for pair in pairwise(words))

    def _words_of(self, text: str) -> list[str]:
        text = _LINE_HYPHEN.sub(JOINT, text)
        if JOINT not in text:
            return split_words(text)
        text = _DIGIT_JOINT.sub(" ", text)
        return [word for chunk in text.split() for word in (self._joined(chunk.split(JOINT)) if JOINT in chunk else split_words(chunk))]

    def _joined(self, parts: Sequence[str]) -> list[str]:
        """Return the words of parts that may be joined: fewest that were not read, then as read beside each other, then fewest."""
        best: list[tuple[int, int, list[str]]] = [(0, 0, [])]
        for end in range(1, len(parts) + 1):
            options = []
            for begin in range(max(0, end - _MAX_JOINED_PARTS), end):
                words = split_words("".join(parts[begin:end]))
                lost, pieces, before = best[begin]
                is_apart = bool(before and words) and (before[-1], words[0]) in self.pairs
                options.append((lost + sum(word not in self._words for word in words), pieces + (-1 if is_apart else 1), [*before, *words]))
            best.append(min(options, key=lambda option: option[:2]))
        return best[-1][2]


def _find_glued(
    missing: Counter[str], new: Counter[str], raw: Mapping[str, int], texts: Sequence[RawText]
) -> Iterator[tuple[str, int, str]]:
    """Yield joined and split words with what they were made of or read as, and take them out of `missing` and `new`.

    A word joined from both sides of a hyphen at the end of a text, such as a page, is explained.
    """
    hyphened = {words[-1] for text in texts if text.text.rstrip().endswith(("-", "\ufffe", "\x02")) and (words := split_words(text.text))}
    for word in list(new):
        if (parts := _split(word, raw, missing)) is not None:
            times = new.pop(word)
            for part in parts:
                missing[part] -= times
            if not (len(parts) == 2 and parts[0] in hyphened):
                yield word, times, " ".join(parts)
    for word in list(+missing):
        if (parts := _split(word, new, new)) is not None:
            times = missing.pop(word)
            for part in parts:
                new.pop(part, None)
            yield word, times, " ".join(parts)
    for word in [word for word, times in missing.items() if times <= 0]:
        del missing[word]


def _split(word: str, known: Mapping[str, int], required: Mapping[str, int]) -> list[str] | None:
    """Return the fewest known words that a word consists of, one of them among the required; None if there are none."""
    if len(word) > _MAX_GLUED_CHARS:
        return None
    best: list[list[str] | None] = [[], *[None] * len(word)]
    for end in range(1, len(word) + 1):
        ways = [[*before, word[start:end]] for start in range(end) if (before := best[start]) is not None and word[start:end] in known]
        best[end] = min(ways, key=lambda way: (len(way), -sum(required.get(part, 0) > 0 for part in way)), default=None)
    parts = best[-1]
    return parts if parts is not None and len(parts) > 1 and any(required.get(part, 0) > 0 for part in parts) else None


def _find_words(words: Set[str], texts: Iterable[tuple[str, str]], pairs: Set[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return the place and context of words in texts, at best where the words beside them are not among the pairs."""
    contexts: dict[str, tuple[str, str]] = {}
    lost: set[str] = set()
    for place, text in texts:
        matches = list(_WORD.finditer(text))
        for before, word, after in zip([None, *matches], matches, [*matches[1:], None], strict=False):
            if word[0] in words and word[0] not in lost:
                near = [(before[0], word[0])] if before else []
                near += [(word[0], after[0])] if after else []
                if any(pair not in pairs for pair in near):
                    lost.add(word[0])
                if word[0] in lost or word[0] not in contexts:
                    around = text[max(0, word.start() - _CONTEXT_CHARS) : word.end() + _CONTEXT_CHARS]
                    contexts[word[0]] = (place, " ".join(around.split()))
    return contexts


def check_files(paths: Sequence[Path]) -> bool:
    """Print what is read of files and folders, and every difference without a remark; return whether there is none."""
    if not paths:
        raise UsageError("--check-reading is without a PATH", "name files or folders to check")
    skipped: list[Skipped] = []
    checks = []
    for file in list_files([existing_path(path) for path in paths], skipped):
        if find_reader(file.path) is None:
            skipped.append((file.source, f"{NO_READER}this format"))
            continue
        check = check_reading(file.path)
        checks.append(check)
        differences = pluralize(len(check.missing) + len(check.new) + len(check.glued), "difference")
        summary = f"{pluralize(check.documents, 'document')}, {pluralize(check.words, 'word')}, {differences}"
        say(f"{one_line(file.source)}: {summary}")
        for line in _check_lines(check, file.path.name):
            say(f"  {line}")
    for line in skipped_lines(skipped):
        note(line)
    faulty = sum(not check.is_faithful for check in checks)
    say(f"{faulty:,} of {pluralize(len(checks), 'file')} with differences that no remark explains")
    return not faulty


def _check_lines(check: ReadingCheck, source: str) -> Iterator[str]:
    """Yield the remarks on a file and its differences, numbers first."""
    yield from (one_line(f"skipped {name}: {reason}") for name, reason in check.skipped)
    yield from (one_line(remark if name == source else f"{name}: {remark}") for name, remark in check.remarks)
    for kind, differences in (("not read:", check.missing), ("not in the file:", check.new), ("joined or split:", check.glued)):
        for difference in sorted(differences, key=lambda entry: not entry.is_number):
            yield _difference_line(kind, difference)


def _difference_line(kind: str, difference: Difference) -> str:
    noun = "number" if difference.is_number else "word"
    times = f" ({difference.times:,} times)" if difference.times > 1 else ""
    instead = f" / {difference.instead!r}" if difference.instead else ""
    place = f", {difference.place}" if difference.place else ""
    context = f": … {difference.context} …" if difference.context else ""
    return escape_invisible(one_line(f"{kind} {noun} {difference.word!r}{instead}{times}{place}{context}"))

"""Near-duplicates: passages whose text another file contains, such as the same manual as html, pdf and txt, are hidden.

A passage is a duplicate if an earlier file contains its text. The order of files does not depend on when they were indexed: web pages,
office formats, pdf, text; then by name. Between two formats of one manual, markup between the words may differ, but each word needs the
same context, so that an edited copy is still searched. Between two files of one format nothing may differ, because there the pages of two
functions may differ in a single word.

Texts are compared by their shingles (Broder 1997) and a FracMinHash sample of these (the hashes below a fixed limit). Unlike MinHash
signatures, which estimate the similarity of two texts, it gives the share of a text that another one of any length contains.
"""

import hashlib
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.tools.index.index_writer import IndexWriter

Hashes = NDArray[np.uint64]
"""Sorted distinct hashes of word sequences."""

_WORD = re.compile(r"[^\W_]+")
_ITEM = re.compile(r"^[ \t]*[<(\[]?\d{1,2}[>.)\]](?=\s)|<\d{1,2}>[ \t]*$", re.MULTILINE)
"""Numbers of list items ("3. ", "(3) ") and references to them ("<3>" at the end of a line), which web pages lack."""
_MACRO = re.compile(r"\b\w+:(:?)([^\s:\[\]]*)\[([^\]\n]*)\]")
"""A macro of AsciiDoc: web pages show its target and text, and nothing of one with two colons."""
_SHINGLE_WORDS = 5
_SAMPLING_RATE = 4
"""One of so many hashes is sampled, on average."""
_HASH_LIMIT = np.uint64(2**64 // _SAMPLING_RATE)
_FACTOR, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def comparison_words(text: str) -> list[str]:
    """Return the case-folded words for comparison, without list numbers and macros."""
    without_macros = _MACRO.sub(lambda macro: " " if macro[1] else f"{macro[2]} {macro[3]}", text.casefold())
    return _WORD.findall(_ITEM.sub(" ", without_macros))


def shingles(words: list[str]) -> Hashes:
    """Return the hashes of all sequences of five words; of a shorter text, of all its words."""
    hashes = np.fromiter((_word_hash(word) for word in words), dtype=np.uint64, count=len(words))
    length = min(_SHINGLE_WORDS, len(words))
    if not length:
        return hashes
    combined = np.zeros(len(words) - length + 1, dtype=np.uint64)
    for place in range(length):
        combined = combined * _FACTOR + hashes[place : len(words) - length + 1 + place]
    combined ^= combined >> np.uint64(31)
    combined *= _MIX
    combined ^= combined >> np.uint64(27)
    return np.unique(combined)


def sample_hashes(hashes: Hashes) -> Hashes:
    """Return the sampled hashes: those below the limit."""
    return hashes[: np.searchsorted(hashes, _HASH_LIMIT)]


@lru_cache(maxsize=1 << 18)
def _word_hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "little")


_FORMAT_ORDER = {"html": 0, "htm": 0, "xhtml": 0, "pdf": 2, "txt": 3, "text": 3, "log": 3, "rst": 3}
_OTHER_FORMAT = 1
_MIN_SAMPLE_SHARE = 0.4
"""Minimum share of the sample contained in a file before all shingles are compared."""
_MIN_CONTAINED_SHARE = 0.75
"""Minimum share of a passage's shingles contained in another format; headings and markup interrupt the others."""
_MIN_MANUAL_OVERLAP = 0.5
_MIN_COPY_OVERLAP = 0.9
"""Minimum overlap of two files that are one manual in two formats, or copies in one format."""
_MIN_FAMILY_OVERLAP = 0.2
"""Minimum overlap of two files of a family, whose pages repeat parts of each other."""
_LONG_PASSAGE_WORDS = 100
"""Words from which a passage under the same last heading counts as repeated; a shorter one may depend on its page's title."""
_MAX_FILES_PER_HASH = 20
_CACHED_FILES = 256
_CANDIDATES = """
SELECT passages.id, root, json_extract(metadata, '$.source'), kind, label, passages.digest, sketch, iif(sketch IS NULL, text, NULL)
FROM passages JOIN documents ON documents.id = document LEFT JOIN sketches ON sketches.digest = passages.digest
WHERE kind != '' AND (hidden IS NULL OR hidden = 'twin')
"""

Words = tuple[str, ...]


class DuplicateCandidate(NamedTuple):
    """A passage to compare: its id, its file's format, its headings, and the sample of its text."""

    id: str
    kind: str
    label: str
    sample: Hashes


def hide_duplicates(writer: IndexWriter) -> None:
    """Hide duplicates, and restore passages whose original was deleted or changed.

    Only files that share hashes with passages added or deleted since the last run are compared; the result is the same.
    """
    if "compared" in writer.facts():
        return
    database = writer.writing()
    files, changed = _files(database)
    previous = dict(database.execute("SELECT id, twin_of FROM passages WHERE hidden = 'twin'"))
    duplicates = _DuplicateSearch(files, database).find_duplicates(previous, changed) if len(files) > 1 else {}
    restored = [(identity,) for identity in previous if identity not in duplicates]
    new = [(visible, identity) for identity, visible in duplicates.items() if previous.get(identity) != visible]
    with database:
        database.executemany("UPDATE passages SET hidden = NULL, twin_of = NULL WHERE id = ?", restored)
        database.executemany("UPDATE passages SET hidden = 'twin', twin_of = ? WHERE id = ?", new)
        database.execute("DELETE FROM uncompared")
    writer.changed = writer.changed or bool(restored or new)
    writer.record_facts({"compared": "yes"})


def _files(database: sqlite3.Connection) -> tuple[list[list[DuplicateCandidate]], Hashes | None]:
    """Return the passages by file in the order of comparison, and the samples of passages added or deleted since the last run.

    The samples are None if they are unknown, so that all files must be compared. Samples are computed once for each text and stored.
    """
    uncompared = {digest for (digest,) in database.execute("SELECT digest FROM uncompared")}
    file_of = lru_cache(maxsize=None)(lambda source, root: f"{PurePath(source).as_posix()}\0{root}")
    files: dict[tuple[int, str], list[DuplicateCandidate]] = defaultdict(list)
    new = {}
    for identity, root, source, kind, label, digest, sketch, text in database.execute(_CANDIDATES):
        sample = sample_hashes(shingles(comparison_words(text))) if sketch is None else np.frombuffer(sketch, dtype="<u8")
        if sketch is None:
            new[digest] = sample.astype("<u8").tobytes()
        files[_FORMAT_ORDER.get(kind, _OTHER_FORMAT), file_of(source, root)].append(DuplicateCandidate(identity, kind, label, sample))
    with database:
        database.executemany("INSERT OR REPLACE INTO sketches VALUES (?, ?)", new.items())
    ordered = [sorted(files[key], key=lambda passage: passage.id) for key in sorted(files)]
    if not new.keys() <= uncompared:
        return ordered, None
    sketches = database.execute("SELECT sketch FROM sketches WHERE digest IN (SELECT digest FROM uncompared)")
    return ordered, np.frombuffer(b"".join(sketch for (sketch,) in sketches), dtype="<u8")


class _DuplicateSearch:
    """Compares each file with the earlier ones."""

    def __init__(self, files: list[list[DuplicateCandidate]], database: sqlite3.Connection) -> None:
        self._files = files
        self._database = database
        every = [(passage.sample, number, place) for number, file in enumerate(files) for place, passage in enumerate(file)]
        lengths = [len(sample) for sample, _, _ in every]
        values = np.concatenate([sample for sample, _, _ in every])
        order = np.argsort(values, kind="stable")
        self._values = values[order]
        """The sorted sampled hashes, parallel to the numbers of the file and passage of each."""
        self._numbers = np.repeat([number for _, number, _ in every], lengths)[order]
        self._places = np.repeat([place for _, _, place in every], lengths)[order]
        self._duplicate_of: dict[str, str] = {}
        self._read_cached = lru_cache(maxsize=_CACHED_FILES)(self._read)

    def find_duplicates(self, previous: Mapping[str, str], changed: Hashes | None) -> dict[str, str]:
        """Return the original's id for each duplicate.

        previous: the duplicates before a change, kept for files that share no hash with `changed` or with a file whose duplicates changed;
        changed: the samples of passages added or deleted, None to compare all files.
        """
        due = np.full(len(self._files), changed is None)
        if changed is not None:
            due[self._sharing(changed)] = True
        for number, file in enumerate(self._files):
            before = {passage.id: previous[passage.id] for passage in file if passage.id in previous}
            duplicates = self._duplicates_in(number) if due[number] else before
            if changed is not None and duplicates != before:
                due[self._sharing(np.concatenate([passage.sample for passage in file]))] = True
            self._duplicate_of.update(duplicates)
        return self._duplicate_of

    def _sharing(self, hashes: Hashes) -> NDArray[np.int64]:
        """Return the files that have any of the hashes."""
        return np.unique(self._numbers[np.isin(self._values, hashes)])

    def _holders(self, number: int, hashes: Hashes) -> dict[int, list[tuple[int, int]]]:
        """Return by hash the first (file, passage) pairs of earlier files that have it."""
        starts, ends = (np.searchsorted(self._values, hashes, side) for side in ("left", "right"))
        shared = ends - starts > 1
        holders_of = {}
        for value, start, end in zip(hashes[shared].tolist(), starts[shared].tolist(), ends[shared].tolist(), strict=True):
            some = slice(start, min(end, start + _MAX_FILES_PER_HASH))
            holders = [
                (other, place)
                for other, place in zip(self._numbers[some].tolist(), self._places[some].tolist(), strict=True)
                if other < number
            ]
            if holders:
                holders_of[value] = holders
        return holders_of

    def _duplicates_in(self, number: int) -> dict[str, str]:
        file = self._files[number]
        hashes = np.unique(np.concatenate([passage.sample for passage in file]))
        holders = self._holders(number, hashes)
        overlaps = Counter(other for places in holders.values() for other in {other for other, _ in places})
        shares = {other: count / len(hashes) for other, count in overlaps.items()}
        originals = {}
        for passage in file:
            if target := self._original_of(passage, holders, shares):
                originals[passage.id] = self._duplicate_of.get(target, target)
        return originals

    def _original_of(
        self, passage: DuplicateCandidate, holders: dict[int, list[tuple[int, int]]], overlaps: dict[int, float]
    ) -> str | None:
        """Return the id of the original of a passage, from the file with the largest overlap; None if there is none."""
        counts: dict[int, Counter[int]] = defaultdict(Counter)
        for value in passage.sample.tolist():
            for number, place in holders.get(value, ()):
                counts[number][place] += 1
        likely = [number for number, places in counts.items() if sum(places.values()) >= _MIN_SAMPLE_SHARE * len(passage.sample)]
        for number in sorted(likely, key=lambda number: (-overlaps[number], number)):
            if self._contains(number, passage, overlaps[number]):
                places = counts[number]
                return self._files[number][min(places, key=lambda place: (-places[place], place))].id
        return None

    def _contains(self, number: int, passage: DuplicateCandidate, overlap: float) -> bool:
        """Return whether a file contains a passage."""
        other = self._files[number][0]
        words = comparison_words(self._text(passage.id))
        same_format = _FORMAT_ORDER.get(passage.kind, passage.kind) == _FORMAT_ORDER.get(other.kind, other.kind)
        long = len(words) >= _LONG_PASSAGE_WORDS and overlap >= _MIN_FAMILY_OVERLAP
        alike = overlap >= _MIN_COPY_OVERLAP or any(
            passage.label == candidate.label or (long and _heading(passage) == _heading(candidate)) for candidate in self._files[number]
        )
        if not (alike if same_format else overlap >= _MIN_MANUAL_OVERLAP):
            return False
        hashes, known = self._read_cached(number)
        own = shingles(words)
        share = np.isin(own, hashes, assume_unique=True).mean()
        if same_format:
            return bool(share == 1)
        return bool(share >= _MIN_CONTAINED_SHARE) and all(known & around for around in _contexts(words))

    def _text(self, identity: str) -> str:
        return str(self._database.execute("SELECT text FROM passages WHERE id = ?", [identity]).fetchone()[0])

    def _read(self, number: int) -> tuple[Hashes, set[Words]]:
        """Return the shingles and the word trigrams of a file, each section with its heading."""
        words = [comparison_words(f"{_heading(passage)}\n{self._text(passage.id)}") for passage in self._files[number]]
        hashes = np.unique(np.concatenate([shingles(part) for part in words]))
        return hashes, {about for part in words for around in _contexts(part) for about in around}


def _contexts(words: list[str]) -> Iterator[set[Words]]:
    """Yield for each word its three trigrams: if the word was edited, none of them is known."""
    for place in range(len(words)):
        yield {tuple(words[max(start, 0) : start + 3]) for start in range(place - 2, place + 1)}


def _heading(passage: DuplicateCandidate) -> str:
    return passage.label.rpartition(" > ")[2]

"""Select what is read for a question: what is about its identifiers, in the version of a document that it asks for."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ramify.embedded.checks.versions import superseded
from ramify.embedded.reader.reading import PassageText
from ramify.tools.identifiers import Identifier, find_identifiers, is_about, missing_identifiers, names_identifier, respell
from ramify.tools.supporting_sentence import is_record, refers_back, split_sentences, unwrap_lines
from ramify.tools.versions import VersionedText


class SelectedPassage(NamedTuple):
    """A passage to be read, or the part of one, and its number from 1 among all passages."""

    number: int
    passage: PassageText


class Selection(NamedTuple):
    """What is read for a question: the question, with identifiers spelled as in the passages, and the passages."""

    question: str
    passages: list[SelectedPassage]


def select_passages(question: str, passages: Sequence[PassageText]) -> Selection:
    """Return what is read for a question: no passages about other identifiers, and no superseded versions.

    No passages at all if one of the question's exact identifiers occurs in none.
    """
    texts = [
        VersionedText(passage["source"], passage["title"], passage.get("heading", ""), passage["text"], passage.get("version", ""))
        for passage in passages
    ]
    outdated = superseded(question, texts)
    current = [SelectedPassage(number, passage) for number, passage in enumerate(passages, 1) if number - 1 not in outdated]
    identifiers = find_identifiers(question)
    if not identifiers:
        return Selection(question, current)
    stated = [text for item in current for text in (*reversed(_headings(item.passage)), item.passage["text"])]
    if missing_identifiers(question, stated):
        return Selection(question, [])
    about = [item._replace(passage=text) for item in current if (text := _about(identifiers, item.passage)) is not None]
    return Selection(respell(question, stated), about)


def _headings(passage: PassageText) -> list[str]:
    stated = passage["source"], passage.get("version", "")
    return list(filter(None, (*stated, *passage["title"].split(" > "), *passage.get("heading", "").split(" > "))))


def _about(identifiers: Sequence[Identifier], passage: PassageText) -> PassageText | None:
    """Return a passage with the text about the identifiers alone, under the heading that names one; None if there is no such text."""
    headings = _headings(passage)
    text = passage_about(identifiers, passage["text"], headings)
    if text is None:
        return None
    naming = [heading for heading in headings if any(names_identifier(heading, identifier) for identifier in identifiers)]
    title = passage["title"] if not naming or naming[-1] in passage["title"] else " > ".join(filter(None, (passage["title"], naming[-1])))
    return {**passage, "title": title, "text": text}


def passage_about(identifiers: Sequence[Identifier], text: str, headings: Sequence[str]) -> str | None:
    """Return the part of a passage that may be about the identifiers, unchanged if that is all; None if there is none.

    headings: what is above the text, the outermost first, such as its source, title and heading. Each sentence, row and record that names
    an identifier or a rival decides for itself and for what follows it, the innermost such heading for what precedes these.
    """
    above = next((about for heading in reversed(headings) if (about := is_about(identifiers, heading)) is not None), None)
    is_elsewhere = above is False or (above is None and any(identifier.is_exact for identifier in identifiers))
    if is_elsewhere and not any(names_identifier(text, identifier) for identifier in identifiers):
        return None
    units = list(_governed_units(identifiers, text, above))
    kept = [unit for unit, about in units if about is not False]
    return text if len(kept) == len(units) else "\n".join(kept) or None


def _governed_units(identifiers: Sequence[Identifier], text: str, above: bool | None) -> Iterator[tuple[str, bool | None]]:
    """Yield each sentence, row and record with whether it is about the identifiers; above: whether the headings are.

    Under the heading of an identifier, a rival has to be at the start of a sentence, because it may be mentioned.
    """
    about = above
    for block in re.split(r"\n[ \t]*\n", text):
        was_row = False
        for unit in _split_units(identifiers, block):
            is_row = " | " in unit or "\t" in unit
            own = None if refers_back(unit) else is_about(identifiers, unit, at_start=above is True)
            if own is not None:
                about = own
            elif unit.startswith("#") or (is_row and not was_row):  # a heading, or the header of a table
                about = above
            was_row = is_row
            yield unit, about


def _split_units(identifiers: Sequence[Identifier], block: str) -> Iterator[str]:
    """Yield the sentences and rows of a paragraph, or the record that it is; lines whose fields are identifiers are no record."""
    if is_record(block) and all(is_about(identifiers, line.partition(":")[0]) is None for line in block.splitlines()):
        yield f"{block.strip()}\n"
    else:
        for line in unwrap_lines(block):
            yield from [line] if " | " in line or "\t" in line else split_sentences(line)

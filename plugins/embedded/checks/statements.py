"""Read passages as statements: sentences, rows and records with the subject that their title, headings and labels give them."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ramify.embedded.checks.facts import Date, Facts, Number, normalize, read_facts, same_word, without_articles
from ramify.tools.english import ENGLISH_STOP_WORDS, content_stems, fold, word_set
from ramify.tools.reader import Material
from ramify.tools.supporting_sentence import split_sentences, unwrap_lines

Fact = Number | Date | str
"""A number, a date, or a name or code word."""
_CLAUSE = re.compile(r"[;(),]\s+|[()]|\s[–—-]\s|\s(?=(?:and|but|while|whereas|who|which|whose|where)\s)")
_SHORT_PARENTHESIS = re.compile(r"(?<!\s)\s*+\(([^(),;]*+)\)")
_LEADING = re.compile(r"(?:(?:and|but|or|while|whereas|the|mr|mrs|ms|dr)\b\.?\s+)+", re.IGNORECASE)
_ADDRESSES = word_set("mr mrs ms miss dr prof professor sir dame lord lady herr frau monsieur madame")
_LABEL = re.compile(r"([^\n:|]{1,60}): \S")
_REFERRING = re.compile(r"(?:it|its|he|his|she|her|they|their|this|these|that|those|there|both|the|in that)\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|never|no|neither|nor|without|cannot)\b|^(?:none|nobody|nothing)\b|n['’]t\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:not only|no (?:more|less|fewer|longer|later|earlier)(?: than)?|not (?:more|less|later) than|no matter)\b", re.IGNORECASE
)
"""Negations that deny nothing."""
_NEW_ITEM, _MAX_HEADING_WORDS = re.compile(r"[-*•–+]|\(?\w{1,3}[.)]\s|.*\s\|"), 10


class Statement(NamedTuple):
    """A sentence, row or record of a passage."""

    text: str
    """Folded, with its subject."""
    names: tuple[frozenset[str], ...]
    """The words of each name in it and in its subject."""
    facts: Facts
    """With those of its subject."""
    words: frozenset[str]
    source: Material
    number: int
    """Its number in the passage."""
    is_row: bool = False

    def adjoins(self, other: "Statement") -> bool:
        """Return whether two sentences follow each other; rows of a table are records of their own."""
        return self.source == other.source and abs(self.number - other.number) <= 1 and not self.is_row


class Clause(NamedTuple):
    """A clause of a statement."""

    facts: Facts
    words: frozenset[str]
    """Stems of the clause and of its subject."""
    own: frozenset[str]
    """Stems of the clause alone."""
    negated: bool
    statement: Statement


@lru_cache(maxsize=1024)
def read_clauses(material: Material) -> tuple[Clause, ...]:
    """Return the clauses of a passage."""
    clauses: list[Clause] = []
    section, count, above = "", 0, normalize(material.subject)
    for line in unwrap_lines(normalize(material.text)):
        label = match[1] if (match := _LABEL.match(line)) else ""
        before = ""
        for sentence in (part for whole in split_sentences(line) for part in re.split(r";\s+", whole)):
            own = read_facts(sentence)
            referring = before if _REFERRING.match(sentence) or not own.names else ""
            subject = " ".join(filter(None, (above, section, label, referring)))
            count += 1
            clauses += _clauses(sentence, subject, own, material, count)
            before = " ".join((*own.names, *own.codes)) or before
        section = line if _is_heading(line) else section
    return tuple(clauses)


def _clauses(sentence: str, subject: str, own: Facts, source: Material, number: int) -> Iterator[Clause]:
    """Yield the clauses of a sentence; each has the name that begins it, or the one before it, as its subject."""
    is_row = " | " in sentence
    names = tuple(frozenset(name_words(name)) for name in (*read_facts(subject).names, *own.names))
    words = content_stems(subject) | content_words(sentence)
    statement = Statement(fold(f"{subject} {sentence}"), names, read_facts(f"{subject}\n{sentence}"), words, source, number, is_row)
    first = ""
    for part in [sentence] if is_row else split_clauses(sentence):
        facts = read_facts(part)
        if facts.names and _LEADING.sub("", part).startswith(_LEADING.sub("", facts.names[0])):
            first = facts.names[0]
        own_words = content_words(part)
        yield Clause(facts, content_stems(f"{subject} {first}") | own_words, own_words, is_negated(part), statement)


def _is_heading(line: str) -> bool:
    """Return whether a line names what the lines below it are about."""
    return len(line.split()) <= _MAX_HEADING_WORDS and line[-1:].isalnum() and not _NEW_ITEM.match(line) and ": " not in line


def is_negated(text: str) -> bool:
    """Return whether a clause denies what it says."""
    return len(_NEGATION.findall(_HEDGE.sub(" ", text))) % 2 == 1


def split_clauses(sentence: str) -> Iterator[str]:
    """Split a sentence into clauses; a short parenthesis belongs to its clause."""
    plain = _SHORT_PARENTHESIS.sub(r" \1", sentence)
    yield from (part.strip() for part in _CLAUSE.split(plain) if part and part.strip())


def content_words(text: str) -> frozenset[str]:
    """Return the stems of a text's words without numbers, and as a whole its code words and its names with a number."""
    facts = read_facts(text)
    whole = [*facts.codes, *(fold(name) for name in facts.names if name[-1].isdigit())]
    return frozenset(word for word in content_stems(_NEGATION.sub(" ", text)) if not word.isdigit()).union(whole)


def name_words(name: str) -> list[str]:
    """Return the folded words of a name, without articles, forms of address and initials."""
    return [part for part in fold(name).replace("-", " ").split() if part not in ENGLISH_STOP_WORDS | _ADDRESSES and len(part) > 1]


@lru_cache(maxsize=65536)
def has_name(statement: Statement, name: str) -> bool:
    """Return whether a statement has a name, its initials or a shorter form of it, such as the last name."""
    text, parts = f" {statement.text} ".replace("-", " "), name_words(name)
    if not parts or any(sign.isdigit() for sign in name):
        return f" {without_articles(name) or fold(name)} " in text
    words = text.split()
    if name.isupper() and name.casefold() in "".join(word[0] for word in words):
        return True
    return all(any(same_word(part, word) for word in words) for part in parts) or any(
        other and other < frozenset(parts) and parts[-1] in other for other in statement.names
    )


def has_fact(facts: Facts, fact: Fact) -> bool:
    """Return whether a fact is among others."""
    if isinstance(fact, str):
        return fact in facts.codes
    return _has_date(facts, fact) if isinstance(fact, Date) else _has_number(facts, fact)


def _has_number(facts: Facts, number: Number) -> bool:
    parts = {str(part) for date in facts.dates for part in date[:3] if part}
    parts |= {name.rpartition(" ")[2] for name in facts.names if name[-1].isdigit()}
    return any(number.equals(other) for other in facts.numbers) or bool(number.values & parts and not number.unit)


def _has_date(facts: Facts, date: Date) -> bool:
    """Return whether a date stands there; a part that its mention lacks may stand beside it."""
    values = {value for number in facts.numbers for value in number.values} | {str(other.year) for other in facts.dates}
    for other in facts.dates:
        lacking = [str(mine) for mine, its in zip(date[:3], other[:3], strict=True) if mine and not its]
        if date.equals(other) and values.issuperset(lacking):
            return True
    return not facts.dates and values.issuperset(str(part) for part in date[:3] if part)

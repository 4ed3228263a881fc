"""Compare a sentence with passages: whether its names, numbers and dates stand together in one statement of a passage."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from ramify.embedded.checks.facts import Date, Facts, Number, is_vague, normalize, read_facts, same_word
from ramify.embedded.checks.statements import (
    Clause,
    Fact,
    Statement,
    content_words,
    has_fact,
    has_name,
    is_negated,
    name_words,
    read_clauses,
    split_clauses,
)
from ramify.tools.english import ENGLISH_STOP_WORDS, content_stems, fold
from ramify.tools.reader import Material
from ramify.tools.supporting_sentence import QuestionAnswer

_EXCEPTION = re.compile(r"\b(?:except|unless|only|until|other than|apart from|besides)\b", re.IGNORECASE)
_CONNECTIVES = frozenset(["so", "thus", "hence", "therefore", "consequently", "overall", "yes", "answer", "conclusion", "result", "short"])
_VERDICT, _VERDICTS = (
    re.compile(r"(yes|no|예|아니요)\b(?=[.,;!]|$)", re.IGNORECASE),
    {"yes": True, "no": False, "예": True, "아니요": False},
)
_YEAR, _MAX_COUNTED = r"1[4-9]\d{2}|20\d{2}", 12
_LATER = re.compile(
    r"\b(?:(?P<next>following|next)|(?P<last>previous|preceding)) year\b|"
    r"\b(?P<count>\w+) years? (?:(?P<after>later|after|afterwards)|(?P<before>earlier|before|previously))\b",
    re.IGNORECASE,
)
_RIVAL_LEAD = 0.34
"""How much more of a clause's words must stand beside another value than beside its own."""
_MIN_RIVAL_SHARE = 0.6
_MIN_SAME_SHARE = 0.75
"""Share of a clause's words from which another one says the same, or its contrary."""


class Fault(NamedTuple):
    """Why a sentence is not supported."""

    kind: str
    """missing: no passage has the fact; apart: none says it of the subject; rival: another value stands in its place; denied: the passages
    say the contrary; contradicts: the answer is another."""
    fact: str


class _Passages:
    """The clauses of passages, with the weights of their words."""

    def __init__(self, materials: Sequence[Material]) -> None:
        self.texts = [normalize(f"{material.subject}\n{material.text}") for material in materials]
        self.facts = [read_facts(text) for text in self.texts]
        self.clauses: list[Clause] = [clause for material in materials for clause in read_clauses(material)]
        self.statements: list[Statement] = list(dict.fromkeys(clause.statement for clause in self.clauses))
        counts: dict[str, int] = {}
        for clause in self.clauses:
            for word in clause.words:
                counts[word] = counts.get(word, 0) + 1
        self._weights = {word: math.log(1 + len(self.clauses) / (1 + count)) for word, count in counts.items()}
        self._unseen = math.log(1 + len(self.clauses))

    def share(self, words: frozenset[str], other: frozenset[str], strict: bool = False) -> float:
        """Return the share of words that another text has, weighted by rarity; `strict`: of those, too, that stand in no passage."""
        weights = {word: self._weights.get(word, self._unseen if strict else 0.0) for word in words}
        return sum(weights[word] for word in words & other) / (sum(weights.values()) or 1.0)

    def is_name(self, name: str, part: str) -> bool:
        """Return whether they have a name; the first word of a sentence is one only if they write it so within a sentence."""
        if not any(has_name(statement, name) for statement in self.statements):
            return False
        return not part.startswith(name) or " " in name or any(name in other for clause in self.clauses for other in clause.facts.names)

    def missing(self, sentence: str, named: bool) -> list[Fact]:
        """Return the facts of a sentence that stand nowhere in them."""
        facts = read_facts(sentence, named)
        folded = " ".join(f" {fold(text)} " for text in self.texts)
        words, initials = frozenset(folded.replace("-", " ").split()), "".join(word[0] for word in folded.split())
        first = fold(sentence).split()[:1]  # always capitalized
        missing: list[Fact] = [
            name
            for name in facts.names
            if name_words(name) != first and not name[-1].isdigit() and not (name.isupper() and name.casefold() in initials)
            if not all(any(same_word(part, word) for word in words if word[:1] == part[:1]) for part in name_words(name))
        ]
        missing += [code for code in facts.codes if f" {code} " not in folded]
        return missing + [fact for fact in _figures(facts) if not any(has_fact(known, fact) for known in self.facts)]


def find_fault(sentence: str, materials: Sequence[Material], asked: Sequence[QuestionAnswer] = (), named: bool = True) -> Fault | None:
    """Return the first fact of a sentence that the passages do not say, or say of something else; None if there is none.

    asked: the question and its answer, then those of its parts; a sentence that only repeats one of them is a conclusion.
    named: whether capital letters mark the names of its language.
    """
    sentence, passages = normalize(sentence), _Passages(materials)
    if asked and (fault := _contradicts(sentence, asked[0])):
        return fault
    derived = _derived_values([*passages.texts, sentence], asked)
    if missing := [fact for fact in passages.missing(sentence, named) if not _is_derived(fact, derived, asked)]:
        return Fault("missing", _written(missing[0]))
    names, is_conclusion = read_facts(sentence, named).names, repeats(sentence, asked)
    before: list[str] = []
    for part in split_clauses(sentence):
        facts = read_facts(part, named)
        own = [name for name in (*facts.names, *facts.codes) if passages.is_name(name, part)]
        fault = _of_another(part, facts, passages)
        if not fault and not is_conclusion and not repeats(part, asked):
            related = own[:1] + [name for name in own[1:] if not (_is_asked(own[0], asked) and _is_asked(name, asked))]
            fault = _apart(part, related, before, names, passages) or _denied(part, own, passages)
        if fault:
            return fault
        before += own
    return None


def missing_facts(sentence: str, texts: Sequence[str], named: bool = True) -> list[str]:
    """Return the numbers, dates, names and code words of a sentence that stand in none of the texts."""
    return [_written(fact) for fact in _Passages([Material("", text) for text in texts]).missing(normalize(sentence), named)]


def repeats(sentence: str, asked: Sequence[QuestionAnswer]) -> bool:
    """Return whether a sentence says nothing but a question and its answer."""
    words = frozenset(fold(sentence).replace("-", " ").split()) - ENGLISH_STOP_WORDS - _CONNECTIVES
    return any(
        all(any(same_word(word, other) for other in fold(f"{pair.question} {pair.answer}").replace("-", " ").split()) for word in words)
        for pair in asked
    )


def has_figures(sentence: str) -> bool:
    """Return whether a sentence has a number or a date."""
    return bool(_figures(read_facts(normalize(sentence))))


def best_share(sentence: str, materials: Sequence[Material]) -> float:
    """Return the largest share of a sentence's words in one statement of the passages."""
    words = content_words(normalize(sentence))
    shares = (len(words & clause.statement.words) / len(words) for material in materials for clause in read_clauses(material) if words)
    return max(shares, default=0.0)


def _figures(facts: Facts) -> list[Number | Date]:
    return [*facts.dates, *(number for number in facts.numbers if not is_vague(number))]


def _written(fact: Fact) -> str:
    return fact if isinstance(fact, str) else fact.written


def _is_asked(name: str, asked: Sequence[QuestionAnswer]) -> bool:
    """Return whether the question names it: two of these are related by the answer, if by no passage."""
    question = fold(asked[0].question).split() if asked else []
    return bool(question) and all(word in question for word in name_words(name)[-1:])


def _contradicts(sentence: str, asked: QuestionAnswer) -> Fault | None:
    """Return that a sentence has another verdict than the answer, or that its subject is what the answer was chosen over."""
    verdict, answer = _VERDICT.match(sentence), _VERDICT.match(asked.answer)
    if verdict and answer and _VERDICTS[verdict[1].casefold()] != _VERDICTS[answer[1].casefold()]:
        return Fault("contradicts", verdict[1])
    names, chosen = read_facts(sentence).names, frozenset(name_words(asked.answer))
    first = frozenset(name_words(names[0])) if names else frozenset()
    alternatives = [frozenset(name_words(name)) for name in read_facts(asked.question).names]
    is_choice = len(alternatives) > 1 and any(chosen and chosen <= name for name in alternatives)
    others = [name for name in alternatives if not chosen & name]
    if is_choice and first and any(first <= name for name in others) and not is_negated(sentence) and repeats(sentence, [asked]):
        return Fault("contradicts", names[0])
    return None


def _derived_values(texts: Sequence[str], asked: Sequence[QuestionAnswer]) -> tuple[set[float], set[float]]:
    """Return the numbers that follow from others, and the differences of years between passages, which only a span of years can be.

    The first are differences and sums of the answers to parts of the question, differences of the years in a passage, and years that a
    passage counts from another ("two years later").
    """
    answers = [read_facts(normalize(pair.answer)) for pair in asked]
    results = {float(value) for facts in answers for number in facts.numbers for value in number.values if _is_plain(value)}
    years = [_years(read_facts(text)) for text in texts]
    groups = [results, *years, {year for facts in answers for year in _years(facts)}]
    derived = {abs(one - other) for group in groups for one in group for other in group if one != other}
    derived |= {one + other for one in results for other in results} | {year for text in texts for year in _relative_years(text)}
    every = {year for group in years for year in group}
    return derived, {abs(one - other) for one in every for other in every if one != other}


def _is_derived(fact: Fact, derived: tuple[set[float], set[float]], asked: Sequence[QuestionAnswer]) -> bool:
    """Return whether a number follows from others, or is a small number of counted things in the answer."""
    if not isinstance(fact, Number) or fact.unit not in ("", "year"):
        return False
    values = {float(value) for value in fact.values if _is_plain(value)}
    counted = not fact.unit and any(value <= _MAX_COUNTED for value in values) and repeats(fact.written, asked[:1])
    return counted or bool(values & (derived[0] | derived[1] if fact.unit else derived[0]))


def _relative_years(text: str) -> set[float]:
    """Return the years that a text counts from the one before: "in the following year", "two years later"."""
    years = [(match.start(), int(match[0])) for match in re.finditer(rf"(?<!\d)(?:{_YEAR})(?!\d)", text)]
    relative = set()
    for match in _LATER.finditer(text):
        past = [year for place, year in years if place < match.start()]
        numbers = read_facts(f"{match['count']} years").numbers if match["count"] else ()
        span = next((float(value) for number in numbers for value in number.values if _is_plain(value)), 1.0)
        relative |= {past[-1] + (-span if match["last"] or match["before"] else span)} if past else set()
    return relative


def _years(facts: Facts) -> set[float]:
    numbers = {value for each in facts.numbers for value in each.values if re.fullmatch(_YEAR, value)}
    return {float(year) for year in numbers} | {float(date.year) for date in facts.dates if date.year}


def _is_plain(value: str) -> bool:
    return value.isascii() and value.replace(".", "", 1).isdigit()


def _apart(part: str, names: Sequence[str], before: Sequence[str], all_names: Sequence[str], passages: _Passages) -> Fault | None:
    """Return a fact of a clause that stands in no statement together with the clause's subject: its first name, else one before it.

    A name may stand in the next sentence, or in a passage about another name of the sentence: "born in Ulm, on the Danube".
    """
    about = [statement for statement in passages.statements if any(has_name(statement, name) for name in names[:1] or before)]
    if not about:
        return None
    for name in names[1:]:
        beside = [statement for statement in passages.statements if has_name(statement, name)]
        if not any(
            statement in about or any(statement.adjoins(other) for other in about) or _bridges(statement, all_names, about)
            for statement in beside
        ):
            return Fault("apart", name)
    words = content_words(part)
    for figure in _figures(read_facts(part)):
        beside = [statement for statement in passages.statements if has_fact(statement.facts, figure)]
        if beside and not any(statement in about or _continues(statement, about, words, names[1:]) for statement in beside):
            return Fault("apart", figure.written)
    return None


def _continues(statement: Statement, about: Sequence[Statement], words: frozenset[str], names: Sequence[str]) -> bool:
    """Return whether a statement next to one of the others says the words; with it, if it has one of the names."""
    linked = any(has_name(statement, name) for name in names)
    said = (statement.words | other.words if linked else statement.words for other in about if statement.adjoins(other))
    return any(len(words & both) >= _MIN_SAME_SHARE * len(words) for both in said)


def _bridges(statement: Statement, names: Sequence[str], about: Sequence[Statement]) -> bool:
    """Return whether a statement's passage is about a name that the other statements have, too."""
    subject = f" {fold(normalize(statement.source.subject))} "
    return any(f" {fold(name)} " in subject and any(has_name(other, name) for other in about) for name in names)


def _of_another(part: str, facts: Facts, passages: _Passages) -> Fault | None:
    """Return a figure or code word of a clause in whose place the passages have another one beside the clause's words."""
    stated: list[Fact] = [*_figures(facts), *facts.codes]
    for value in stated:
        words = content_words(part) - (content_stems(value) | {value} if isinstance(value, str) else frozenset())
        own = [clause for clause in passages.clauses if has_fact(clause.facts, value)]
        statements = {clause.statement for clause in own}
        within = max((passages.share(words, clause.words) for clause in own), default=1.0)
        across = max((passages.share(words, statement.words) for statement in statements), default=1.0)
        for clause in passages.clauses:
            is_within = clause.statement in statements
            comparable = is_within or (len(words) > 1 and (clause.statement.is_row or not isinstance(value, str)))
            if not comparable or has_fact(clause.facts, value) or not _has_rival(clause.facts, value, stated):
                continue
            rival = passages.share(words, clause.words if is_within else clause.statement.words)
            if rival >= _MIN_RIVAL_SHARE and rival - (within if is_within else across) >= _RIVAL_LEAD:
                return Fault("rival", _written(value))
    return None


def _has_rival(facts: Facts, value: Fact, stated: Sequence[Fact]) -> bool:
    """Return whether there is another value of the same kind that the clause does not state, too."""
    if isinstance(value, str):
        return any(code not in stated for code in facts.codes)
    if isinstance(value, Date):
        return any(not any(isinstance(other, Date) and date.equals(other) for other in stated) for date in facts.dates)
    numbers = [number for number in facts.numbers if number.rivals(value)]
    return any(not any(isinstance(other, Number) and number.equals(other) for other in stated) for number in numbers)


def _denied(part: str, names: Sequence[str], passages: _Passages) -> Fault | None:
    """Return that the passages' clause with a clause's words says the contrary."""
    in_names = {stem for name in names for stem in content_stems(name)}
    words, negated = content_words(part) - in_names, is_negated(part)
    clauses = [clause for clause in passages.clauses if all(has_name(clause.statement, name) for name in names)]
    if not words or len(words | in_names) < 2 or not clauses or _EXCEPTION.search(part):
        return None
    best = max(clauses, key=lambda clause: (passages.share(words, clause.own, strict=True), clause.negated == negated))
    denied = passages.share(words, best.own, strict=True) >= _MIN_SAME_SHARE and best.negated != negated
    return Fault("denied", part) if denied and not _EXCEPTION.search(best.statement.text) else None

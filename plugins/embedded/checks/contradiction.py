"""Does one English sentence deny another about the same thing? By negation, antonyms, numbers and order, without a model.

Limits: closed lists of English words, and no grammar. Not seen are denials in other words ("refrains from"), weaker modals ("may" for
"must"), exchanged roles ("the pump drives the fan"), and antonyms that are not listed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.english import ENGLISH_STOP_WORDS, NUMBER_WORDS, content_stems, fold, stem, word_set

_ANTONYMS = (
    "open:close,shut start,begin,run,operate:stop,end,finish,halt on:off "
    "increase,rise,grow,raise:decrease,fall,shrink,reduce,drop high,upper,raise:low,lower more:less,fewer most:least "
    "maximum:minimum above,over:below,under,beneath up:down allow,permit:forbid,prohibit,ban include:exclude enable:disable "
    "connect,attach,couple:disconnect,detach,separate lock:unlock install,add,insert,mount:remove,withdraw tighten:loosen "
    "fill:drain,empty full:empty hot,warm:cold,cool heat:cool wet:dry early:late first:last "
    "accept,approve,agree:reject,refuse win:lose pass,succeed:fail success:failure buy:sell import:export "
    "internal,inside,inner:external,outside,outer push:pull safe:dangerous required,mandatory,necessary:optional always:never "
    "present:absent visible:hidden positive:negative north,northern:south,southern east,eastern:west,western strong:weak "
    "long:short large,big:small thick:thin fast,quick:slow new,young:old public:private light:heavy,dark gain,profit:loss "
    "enter,arrive:leave,depart,exit expand:contract horizontal:vertical input:output forward:backward front:rear "
    "clockwise:counterclockwise,anticlockwise born:died before:after loud,noisy:quiet,silent easy:difficult,hard rich:poor "
    "love:hate support:oppose"
)
_PREFIXES = ("un", "dis", "non", "in", "im", "ir", "il", "de")
_MIN_PREFIXED_CHARS = 4
_NOT = word_set("not never cannot without nor neither")
_SOFT_NOT = word_set(
    "no none nobody nothing nowhere forbid forbids forbade forbidden prohibit prohibits prohibited ban bans banned "
    "avoid avoids avoided prevent prevents lacks lack fail fails failed refuses"
)
"""They deny the sentence, but not always the word after them: where there is one, only the number of denials is compared."""
_NO_DENIAL = re.compile(r"\bnot only\b|\bwhether or not\b|\bno\. ?(?=\d)|\bno doubt\b|\bno (?:later|more|less|fewer) than\b", re.IGNORECASE)
_CONTRACTED = re.compile(r"\b(?:(ca)n|(wo)n|(\w+?)n)['’]t\b", re.IGNORECASE)
_IRREGULAR_FORMS = (
    "rose:rise risen:rise fell:fall fallen:fall grew:grow grown:grow sold:sell bought:buy won:win lost:lose began:begin "
    "begun:begin forbidden:forbid forbade:forbid ran:run left:leave shrank:shrink froze:freeze built:build held:hold kept:keep"
)
_IRREGULAR = dict(pair.split(":") for pair in _IRREGULAR_FORMS.split())
_DOUBLED = re.compile(r"([b-df-hj-np-tv-z])\1$")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+(?:[-'’][^\W_]+)*|[,.;:!?()]")
_SCOPE_END = word_set("but and before after until unless while when whenever if because so then which that who although though")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NUMBER_WORDS = {word: str(number) for word, number in NUMBER_WORDS.items() if 2 <= number <= 12}
_CLAUSE = re.compile(r"[;,:]\s|\b(?:and|but|while|whereas)\b", re.IGNORECASE)
_FIRST_LATER = re.compile(r"^\W*(?P<mark>before|until|after|once|as soon as)\b(?P<one>[^,]+),(?P<other>.+)$", re.IGNORECASE | re.DOTALL)
_BETWEEN = re.compile(
    r"^(?P<one>.+?)\b(?P<mark>before|until|prior to|after|once|as soon as|and then|then|followed by|than)\b(?P<other>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_COMPARATIVE = re.compile(r"\b(?:less|fewer|more|\w+er)\b")
_LATER_FIRST = frozenset({"after", "once", "as soon as"})
"""What follows these words comes first."""
_COMPARED = "than"


def _root(word: str) -> str:
    """Return the stem of a word, the same for "stop" and "stopped", "sell" and "sold"."""
    return _DOUBLED.sub(r"\1", stem(_IRREGULAR.get(word, word)))


def _pairs() -> dict[str, list[tuple[str, bool]]]:
    pairs: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for pair in _ANTONYMS.split():
        positive, negative = (side.split(",") for side in pair.split(":"))
        for side, sign in ((positive, True), (negative, False)):
            for word in side:
                pairs[_root(word)].append((pair, sign))
    return dict(pairs)


_SIGNS = _pairs()
"""The pairs of antonyms that a stem belongs to, with its side."""
_DENYING_PAIRS = {pair for pair, _ in _SIGNS[_root("forbid")]}
"""Pairs whose negative words all are denials: "No food is allowed" agrees with "Food is prohibited"."""


class _Reading(NamedTuple):
    """A sentence: the signs (affirmed, denied) with which each stem and pair of antonyms occurs, its denials, and its order of events."""

    signs: dict[str, frozenset[bool]]
    denials: int
    is_soft: bool
    order: tuple[frozenset[str], frozenset[str]] | None
    is_comparison: bool


def contradicts(sentence: str, statement: str) -> bool:
    """Return whether a sentence denies what a statement says: negation, an antonym, or events in the reverse order."""
    one, other = _read(sentence), _read(statement)
    if one.order and other.order and one.is_comparison == other.is_comparison:
        same = sum(len(a & b) for a, b in zip(one.order, other.order, strict=True))
        exchanged = [len(a & b) for a, b in zip(one.order, other.order[::-1], strict=True)]
        if sum(exchanged) > same and all(exchanged):
            return True
    opposed = {key for key in one.signs.keys() & other.signs.keys() if one.signs[key].isdisjoint(other.signs[key])}
    if one.order and other.order:  # compared above: "A before B" is "B after A", and "lower than" reversed is "higher than"
        opposed = {key for key in opposed if not _orders(key)}
    shared = one.signs.keys() & other.signs.keys()
    differ = (one.denials - other.denials) % 2 == 1
    by_antonyms = {key for key in opposed if ":" in key and not any(key == pair for root in shared for pair, _ in _SIGNS.get(root, ()))}
    by_antonyms = {key for key in by_antonyms if differ or key not in _DENYING_PAIRS}
    if by_antonyms or _prefixed(one, other):
        return True
    opposed = {key for key in opposed if ":" not in key}
    return bool(opposed) and (not (one.is_soft or other.is_soft) or differ)


_ORDERING = ("before:", "high", "more:", "above", "early", "long:", "large", "fast", "loud", "strong", "thick", "most")
"""Beginnings of the pairs of antonyms that tell an order or a comparison."""


def _orders(key: str) -> bool:
    """Return whether a pair of antonyms tells an order or a comparison."""
    return key.startswith(_ORDERING)


def _prefixed(one: _Reading, other: _Reading) -> set[str]:
    """Return the stems that only one side has with a negative prefix, and with the same sign as the other: locked and unlocked."""
    stems = set()
    for mine, theirs in ((one, other), (other, one)):
        for word, signs in mine.signs.items():
            bases = [
                word.removeprefix(prefix).lstrip("-")
                for prefix in _PREFIXES
                if word.startswith(prefix) and len(word) >= len(prefix) + _MIN_PREFIXED_CHARS
            ]
            stems |= {base for base in bases if base in theirs.signs and base not in mine.signs and signs == theirs.signs[base]}
    return stems


@lru_cache(maxsize=4096)
def _read(sentence: str) -> _Reading:
    text = _CONTRACTED.sub(lambda match: f"{(match[1] and 'can') or (match[2] and 'will') or match[3]} not", _NO_DENIAL.sub(" ", sentence))
    text = re.sub(r"\bcannot\b", "can not", text, flags=re.IGNORECASE)
    signs: dict[str, set[bool]] = defaultdict(set)
    denials, is_soft, is_denied = 0, False, False
    for word in _WORD.findall(text.casefold()):
        if word in _SOFT_NOT:  # "prohibited" denies what stands before it, too
            for pair, sign in _SIGNS.get(_root(word), ()):
                signs[pair].add(sign != is_denied)
        if word in _NOT or word in _SOFT_NOT:
            denials, is_denied = denials + 1, not is_denied
            is_soft = is_soft or word in _SOFT_NOT
        elif word in _SCOPE_END or not word[0].isalnum():
            is_denied = False
        if word in _NOT or word in _SOFT_NOT or word[0].isdigit() or not word[0].isalnum():
            continue
        root = _root(word)
        for pair, sign in _SIGNS.get(root, ()):
            signs[pair].add(sign != is_denied)
        if word not in ENGLISH_STOP_WORDS or root in _SIGNS:
            signs[root].add(not is_denied)
            is_denied = is_denied and (word.endswith("ly") or word in ENGLISH_STOP_WORDS)  # the word that is denied, after its adverbs
    order, is_comparison = _order(text)
    return _Reading({key: frozenset(value) for key, value in signs.items()}, denials, is_soft, order, is_comparison)


def _order(text: str) -> tuple[tuple[frozenset[str], frozenset[str]] | None, bool]:
    """Return the words of what comes first (or is more) and of what comes later (or is less), and whether it is a comparison."""
    match = _FIRST_LATER.match(text)
    earlier, later = ("other", "one") if match else ("one", "other")
    match = match or _BETWEEN.match(text)
    if match is None:
        return None, False
    mark = match["mark"].casefold()
    sides = [content_stems(match[earlier]), content_stems(match[later])]
    if mark == _COMPARED:
        less = any(not sign for word in _COMPARATIVE.findall(match[earlier].casefold()) for _, sign in _SIGNS.get(_root(word), ()))
        return (sides[1], sides[0]) if less else (sides[0], sides[1]), True
    return (sides[1], sides[0]) if mark in _LATER_FIRST else (sides[0], sides[1]), False


def read_numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text, also those from two to twelve that are written as words."""
    words = (_NUMBER_WORDS.get(word) for word in fold(text).split())
    return frozenset(filter(None, (*_NUMBER.findall(text), *words)))


def misplaces_number(sentence: str, statements: Sequence[str]) -> bool:
    """Return whether a number of the sentence stands in no statement, or only in ones that have less of its clause than another has."""
    known = [(read_numbers(statement), content_stems(statement)) for statement in statements]
    for clause in _CLAUSE.split(sentence):
        numbers, words = read_numbers(clause), _bare_words(clause) or _bare_words(sentence)
        for number in numbers:
            shared = [(len(words & stems), number in stated) for stated, stems in known]
            if (max(shared, default=(0, False))[0], True) not in shared:
                return True
            holding = [statement for statement, value in zip(statements, shared, strict=True) if value == max(shared)]
            if all(_belongs_to_other(number, clause, statement) for statement in holding):
                return True
    return False


def _belongs_to_other(number: str, clause: str, statement: str) -> bool:
    """Return whether the word before a number stands before another number in a statement: "founded 1911 and sold 1954"."""
    own, numbers = _parts_by_number(statement), read_numbers(clause)
    before = next((words for last, words in _parts_by_number(clause) if last == number), [])
    mine = {root for last, words in own if last == number for root in words}
    theirs = {root for last, words in own if last not in (*numbers, "") for root in words}
    if not before:
        return False
    if any(_opposite(word) & _signs(mine) for word in before if word in theirs - mine):
        return True
    return before[-1] in theirs - mine and bool(mine - {root for _, words in _parts_by_number(clause) for root in words})


def _signs(roots: Iterable[str]) -> frozenset[tuple[str, bool]]:
    """Return the sides of antonyms that some words are on."""
    return frozenset(side for root in roots for side in _SIGNS.get(root, ()))


def _opposite(root: str) -> frozenset[tuple[str, bool]]:
    return frozenset((pair, not sign) for pair, sign in _SIGNS.get(root, ()))


def _parts_by_number(text: str) -> list[tuple[str, list[str]]]:
    """Return each number with the roots of the content words between the number before and it; "" for what follows the last one."""
    parts: list[tuple[str, list[str]]] = []
    words: list[str] = []
    for word in _WORD.findall(text.casefold()):
        if (number := _NUMBER_WORDS.get(word, word))[0].isdigit():
            parts.append((number, words))
            words = []
        elif word[0].isalnum() and word not in ENGLISH_STOP_WORDS:
            words.append(_root(word))
    return [*parts, ("", words)]


def _bare_words(text: str) -> frozenset[str]:
    return frozenset(word for word in content_stems(text) if not word[0].isdigit() and word not in _NUMBER_WORDS)


def is_contradicted(sentence: str, units: Sequence[str], similarities: Matrix) -> bool:
    """Return whether a sentence has a misplaced number, or contradicts all of the statements that share most words with it."""
    if misplaces_number(sentence, units):
        return True
    words = content_stems(sentence)
    shared = [len(words & content_stems(unit)) + float(cosine) for unit, cosine in zip(units, similarities, strict=True)]
    closest = [unit for unit, value in zip(units, shared, strict=True) if int(value) == int(max(shared))]
    return all(contradicts(sentence, unit) for unit in closest)

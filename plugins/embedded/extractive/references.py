"""Complete follow-ups by rules: replace what a pronoun stands for, or ask an earlier question again, of something else."""

import re
from typing import Final

from ramify.tools.anaphora import (
    ABOUT,
    AUXILIARIES,
    BE,
    DEMONSTRATIVES,
    PERSONAL,
    PLACES,
    POSSESSIVES,
    PREPOSITIONS,
    QUESTION_WORDS,
    folded_words,
    referring_words,
    without_lead_in,
)
from ramify.tools.english import WORD, content_stems, find_names, word_set

SINGULAR: Final = word_set("it its itself")
_ADVERBS: Final = word_set("when where why how")
ARTICLES: Final = word_set("a an the")
_MAX_OWNER_WORDS: Final = 3
"""Longer phrases take "of" instead of a genitive."""
_SINGULAR_VERBS: Final = {"are": "is", "were": "was", "do": "does", "have": "has"}


def add_circumstance(question: str, earlier: str) -> str:
    """Return the earlier question with the time or place that a later one adds ("And on Sundays?"); empty if it adds none."""
    rest = without_lead_in(question).rstrip(" ?.!")
    first = set(folded_words(rest)[:1])
    return f"{earlier.rstrip(' ?.!')} {rest}?" if first & PREPOSITIONS and not first & set(folded_words(earlier)) else ""


def writer_form(question: str) -> str:
    """Return a question without the conjunction before a preposition or a question word, as the writer knows it: "In 2024?"."""
    rest = without_lead_in(question)
    return rest if set(folded_words(rest)[:1]) & (PREPOSITIONS | QUESTION_WORDS) else question


def named_by_fragment(question: str) -> tuple[str, str]:
    """Return the new name in a question without a clause, and a preposition before it: "What about macOS?" names "macOS"; else empty."""
    name = ABOUT.sub("", without_lead_in(question)).strip(" ?.!")
    first, _, rest = name.partition(" ")
    preposition = first.casefold() if first.casefold() in PREPOSITIONS else ""
    name = rest if preposition else name
    is_name = not name.islower() and not question.startswith(name)  # the first word of a sentence has a capital letter anyway
    return (name, preposition) if is_name else ("", "")


def is_question_word_alone(question: str) -> bool:
    """Return whether a question without a clause has a question word: "And when?", "In which year?"."""
    return bool(QUESTION_WORDS & set(folded_words(ABOUT.sub("", without_lead_in(question)))))


def is_about_event(question: str, word: re.Match[str]) -> bool:
    """Return whether nothing but a form of "be" is said of a word: "When was that?" asks about what happened as often as about a thing."""
    before, behind = folded_words(question[: word.start()]), folded_words(question[word.end() :])
    return word[0].casefold() in DEMONSTRATIVES and not behind and bool(before) and before[-1] in BE


def ask_again(question: str, earlier: str) -> str:
    """Return the earlier question with the adverb that a later one asks for ("And where?", "In which year was that?"); empty if none."""
    asks, clause = _clause(without_lead_in(question))[0], _clause(earlier)[1]
    words = folded_words(asks)
    if not clause or not words or not (set(words) <= _ADVERBS or (words[0] in PREPOSITIONS and QUESTION_WORDS & set(words))):
        return ""
    return f"{asks[:1].upper()}{asks[1:]} {clause[:1].lower()}{clause[1:]}"


def _clause(question: str) -> tuple[str, str]:
    """Split a question before its first auxiliary: what it asks for, and its clause."""
    words = WORD.finditer(question)
    start = next((word.start() for word in words if word[0].casefold().replace("’", "'") in AUXILIARIES), len(question))
    return question[:start].rstrip(" ?.!"), question[start:]


def has_subject_before(question: str, word: re.Match[str]) -> bool:
    """Return whether a noun that is not asked for stands before a word, so that the word may refer to it: "do companies hire their …"."""
    words = folded_words(question[: word.start()])
    asked = next((number for number, other in enumerate(words) if other in AUXILIARIES), -1)
    return bool(content_stems(" ".join(words[asked + 1 :])))


def agrees(pronoun: str, noun_phrase: str) -> bool:
    """Return whether a noun phrase has the number of a pronoun, so far as its last word tells: "it" does not mean "the drills"."""
    last = noun_phrase.split()[-1] if noun_phrase.split() else ""
    is_plural = last.islower() and last.endswith("s") and not last.endswith(("ss", "us", "is", "'s"))
    return not (is_plural and pronoun.casefold() in SINGULAR)


def unclear_reference(question: str) -> str:
    """Return why a question cannot be answered if a pronoun is all that it asks about; empty if it also names or describes something."""
    referring = referring_words(question)
    pronouns = [word[0] for word in referring if word[0].casefold() in PERSONAL | POSSESSIVES or is_about_event(question, word)]
    if not pronouns or find_names(question) or set(folded_words(without_lead_in(question))[1:]) & (ARTICLES | {"to", "if", "when"}):
        return ""
    return f"the question does not say who or what {pronouns[0]!r} stands for"


def replace_reference(question: str, word: re.Match[str], phrase: str) -> str:
    """Return the question with a pronoun, or "there", replaced by what it stands for: "her" by "Ada's", "there" by "in Leeds"."""
    before, behind = question[: word.start()], question[word.end() :]
    if word[0].casefold() in PLACES:
        return f"{before}in {phrase}{behind}"
    if word[0].casefold() not in POSSESSIVES:
        return f"{before}{phrase}{behind}"
    owned = behind.rstrip(" ?.!").strip()
    if len(phrase.split()) > _MAX_OWNER_WORDS and not set(folded_words(owned)) & (AUXILIARIES | PREPOSITIONS):
        return f"{before}the {owned} of {phrase}{behind[len(behind.rstrip(' ?.!')) :]}"
    return f"{before}{phrase}'s{behind}"


def has_preposition(question: str, phrase: str) -> bool:
    """Return whether a preposition stands before a phrase."""
    before = question.partition(phrase)[0].split()
    return bool(before) and before[-1].casefold() in PREPOSITIONS


def with_article(question: str, phrase: str, asked: str) -> str:
    """Return the question with "the" before a phrase, where the earlier question has it ("the Kestrel 16"), and without, where not."""
    bare = phrase.removeprefix("the ")
    article = re.compile(rf"(?i:\bthe) {re.escape(bare)}")
    if not bare or bare not in asked:
        return question
    if not article.search(asked):
        return article.sub(lambda _: bare, question, count=1) if bare[0].isupper() else question
    return question if article.search(question) else question.replace(bare, f"the {bare}", 1)


def with_singular_verb(question: str, subject: str) -> str:
    """Return the question with a singular verb before a name that stands for "they": "Is Acme open?"."""
    if not subject or subject.endswith("s") or " and " in subject or not subject[0].isupper():
        return question
    verb = re.compile(rf"\b({'|'.join(_SINGULAR_VERBS)})(?= {re.escape(subject)}\b)", re.IGNORECASE)
    return verb.sub(lambda match: _like(match[0], _SINGULAR_VERBS[match[0].lower()]), question)


def _like(word: str, other: str) -> str:
    return other.capitalize() if word[0].isupper() else other

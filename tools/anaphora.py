"""Find what a question lacks, by the closed classes of English words: pronouns, auxiliaries, prepositions and question words."""

import re
from typing import Final

from ramify.tools.english import WORD, content_stems, descriptions, find_names, fold, word_set

PERSONAL: Final = word_set("it itself they them themselves he him himself she her hers herself")
POSSESSIVES: Final = word_set("its their theirs his her hers")
_DEMONSTRATIVES: Final = word_set("this that these those")
SINGULAR: Final = word_set("it its itself")
_BE: Final = word_set("is are was were be been isn't aren't wasn't weren't 's")
_DO: Final = word_set("do does did don't doesn't didn't")
_AUXILIARIES: Final = (
    _BE
    | _DO
    | word_set(
        "am has have had can could will would shall should may might must hasn't haven't hadn't can't couldn't won't wouldn't shouldn't"
    )
)
_PREPOSITIONS: Final = word_set(
    "of in on at to for from by with about than like after before since between under over without into through"
)
_QUESTION_WORDS: Final = word_set("who whom whose what which when where why how")
_ADVERBS: Final = word_set("when where why how")
_REST: Final = word_set("other others another else same")
ARTICLES: Final = word_set("a an the")
PLACES: Final = word_set("there")
_CONJUNCTIONS: Final = word_set("and but when if because before after while since until")
_SAID_BEFORE: Final = _REST | word_set("one ones then former latter both")
"""Words beside pronouns that refer to what was said: "Which one does Acme sell?"."""
_HOW_MANY: Final = re.compile(rf"\bhow many (?:{'|'.join(sorted(_AUXILIARIES))})\b", re.IGNORECASE)
_MAX_OWNER_WORDS: Final = 3
"""Longer phrases take "of" instead of a genitive."""
_SINGULAR_VERBS: Final = {"are": "is", "were": "was", "do": "does", "have": "has"}
_LEAD_IN: Final = re.compile(r"(?:(?:and|but|so|or|ok|okay|then|also|well|now|thanks|thank you|please)\b[\s,.!:;-]*)+", re.IGNORECASE)
_ABOUT: Final = re.compile(r"(?:what|how) about\b", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"(?<=\w)[.?!]\s+(?=\w)")


def add_circumstance(question: str, earlier: str) -> str:
    """Return the earlier question with the time or place that a later one adds ("And on Sundays?"); empty if it adds none."""
    rest = without_lead_in(question).rstrip(" ?.!")
    first = set(_words(rest)[:1])
    return f"{earlier.rstrip(' ?.!')} {rest}?" if first & _PREPOSITIONS and not first & set(_words(earlier)) else ""


def writer_form(question: str) -> str:
    """Return a question without the conjunction before a preposition or a question word, as the writer knows it: "In 2024?"."""
    rest = without_lead_in(question)
    return rest if set(_words(rest)[:1]) & (_PREPOSITIONS | _QUESTION_WORDS) else question


def without_lead_in(question: str) -> str:
    """Return a question without the conjunctions and courtesies before it: "And when?" gives "when?"."""
    return question[found.end() :] if (found := _LEAD_IN.match(question)) else question


def is_fragment(question: str) -> bool:
    """Return whether a question has no clause: "And the Osprey 17?", "What about Thomson?", "When?". Keywords alone are not asked so."""
    rest = without_lead_in(question)
    if not content_stems(rest):
        return not referring_words(rest)
    words = set(_words(_ABOUT.sub("", rest)))
    if words & _REST:  # "Who else?" asks for what was not said
        return False
    asks = rest != question or _ABOUT.match(rest) is not None or question.rstrip().endswith("?")
    return asks and not words & _AUXILIARIES and (not words & _QUESTION_WORDS or not find_names(rest))


def named_by_fragment(question: str) -> tuple[str, str]:
    """Return the new name in a question without a clause, and a preposition before it: "What about macOS?" names "macOS"; else empty."""
    name = _ABOUT.sub("", without_lead_in(question)).strip(" ?.!")
    first, _, rest = name.partition(" ")
    preposition = first.casefold() if first.casefold() in _PREPOSITIONS else ""
    name = rest if preposition else name
    is_name = not name.islower() and not question.startswith(name)  # the first word of a sentence has a capital letter anyway
    return (name, preposition) if is_name else ("", "")


def is_complete(question: str) -> bool:
    """Return whether a question names what it asks about, and no word of it stands for, or leaves out, what was said before."""
    refers = referring_words(question) or set(_words(question)) & _SAID_BEFORE or _HOW_MANY.search(question)
    return bool(_names(question)) and not refers and not is_fragment(question)


def only_extends(question: str, rewritten: str) -> bool:
    """Return whether a rewritten question begins with the question: only "the drill", which may stand for a name, may be replaced."""
    words = re.escape(fold(without_lead_in(question)))
    for noun in descriptions(question):
        if noun.lower().startswith("the ") and len(noun.split()) == 2:
            words = words.replace(re.escape(fold(noun)), ".+")
    return re.match(rf"{words}\b", fold(without_lead_in(rewritten))) is not None


def referring_words(question: str) -> list[re.Match[str]]:
    """List the words of a question that stand for something it does not name: pronouns, lone "that", "there".

    Not listed are words that refer to an earlier sentence or, behind a name, an earlier clause of the question, "it" of "Is it true that
    …?", the possessive behind a name, "there" of "there is", and "that" before a noun or a clause.
    """
    words = list(WORD.finditer(question))
    folded = [word[0].casefold().replace("’", "'") for word in words]
    end = _SENTENCE_END.search(without_lead_in(question))
    if end and content_stems(without_lead_in(question)[: end.start()]):
        return []
    return [word for number, word in enumerate(words) if _refers(folded, number, question[: word.start()])]


def _refers(words: list[str], number: int, before: str) -> bool:
    word, behind = words[number], words[number + 1 :]
    previous, following = (words[number - 1] if number else ""), (behind[0] if behind else "")
    if word == "it" and previous in _AUXILIARIES and {"to", "that"} & set(behind[1:-1]):
        return False
    if word in POSSESSIVES:  # "Did Acme raise its prices?", "Which company sold its factory?"
        asks_for_owner = set(words[:2]) & {"which", "what"} and not _AUXILIARIES & set(words[:number]) and number > 2
        is_described = any(" of " in phrase for phrase in descriptions(before))  # "the inventor of the saxophone"
        return not _names(before) and not is_described and not asks_for_owner
    if word in PERSONAL:
        return not (_CONJUNCTIONS & set(words[1:number]) and _names(before))
    if word in _DEMONSTRATIVES:
        return not following or following in _AUXILIARIES | _PREPOSITIONS or (previous in _DO and len(behind) == 1)
    return word in PLACES and previous not in _BE and following not in _BE


def _names(text: str) -> list[str]:
    """List the names in a text; a preposition with a capital letter, which begins a question, is none."""
    return [name for name in find_names(text) if name.casefold() not in _PREPOSITIONS | _CONJUNCTIONS]


def is_question_word_alone(question: str) -> bool:
    """Return whether a question without a clause has a question word: "And when?", "In which year?"."""
    return bool(_QUESTION_WORDS & set(_words(_ABOUT.sub("", without_lead_in(question)))))


def is_about_event(question: str, word: re.Match[str]) -> bool:
    """Return whether nothing but a form of "be" is said of a word: "When was that?" asks about what happened as often as about a thing."""
    before, behind = _words(question[: word.start()]), _words(question[word.end() :])
    return word[0].casefold() in _DEMONSTRATIVES and not behind and bool(before) and before[-1] in _BE


def ask_again(question: str, earlier: str) -> str:
    """Return the earlier question with the adverb that a later one asks for ("And where?", "In which year was that?"); empty if none."""
    asks, clause = _clause(without_lead_in(question))[0], _clause(earlier)[1]
    words = _words(asks)
    if not clause or not words or not (set(words) <= _ADVERBS or (words[0] in _PREPOSITIONS and _QUESTION_WORDS & set(words))):
        return ""
    return f"{asks[:1].upper()}{asks[1:]} {clause[:1].lower()}{clause[1:]}"


def _clause(question: str) -> tuple[str, str]:
    """Split a question before its first auxiliary: what it asks for, and its clause."""
    words = WORD.finditer(question)
    start = next((word.start() for word in words if word[0].casefold().replace("’", "'") in _AUXILIARIES), len(question))
    return question[:start].rstrip(" ?.!"), question[start:]


def has_subject_before(question: str, word: re.Match[str]) -> bool:
    """Return whether a noun that is not asked for stands before a word, so that the word may refer to it: "do companies hire their …"."""
    words = _words(question[: word.start()])
    asked = next((number for number, other in enumerate(words) if other in _AUXILIARIES), -1)
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
    if not pronouns or find_names(question) or set(_words(without_lead_in(question))[1:]) & (ARTICLES | {"to", "if", "when"}):
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
    if len(phrase.split()) > _MAX_OWNER_WORDS and not set(_words(owned)) & (_AUXILIARIES | _PREPOSITIONS):
        return f"{before}the {owned} of {phrase}{behind[len(behind.rstrip(' ?.!')) :]}"
    return f"{before}{phrase}'s{behind}"


def has_preposition(question: str, phrase: str) -> bool:
    """Return whether a preposition stands before a phrase."""
    before = question.partition(phrase)[0].split()
    return bool(before) and before[-1].casefold() in _PREPOSITIONS


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
    return verb.sub(lambda found: _like(found[0], _SINGULAR_VERBS[found[0].lower()]), question)


def _like(word: str, other: str) -> str:
    return other.capitalize() if word[0].isupper() else other


def _words(text: str) -> list[str]:
    return [word.casefold().replace("’", "'") for word in WORD.findall(text.replace("'s", " 's"))]

"""Find what a question lacks, by the closed classes of English words: pronouns, auxiliaries, prepositions and question words."""

import re
from typing import Final

from ramify.tools.english import WORD, content_stems, descriptions, find_names, fold, word_set

PERSONAL: Final = word_set("it itself they them themselves he him himself she her hers herself")
POSSESSIVES: Final = word_set("its their theirs his her hers")
DEMONSTRATIVES: Final = word_set("this that these those")
BE: Final = word_set("is are was were be been isn't aren't wasn't weren't 's")
_DO: Final = word_set("do does did don't doesn't didn't")
AUXILIARIES: Final = (
    BE
    | _DO
    | word_set(
        "am has have had can could will would shall should may might must hasn't haven't hadn't can't couldn't won't wouldn't shouldn't"
    )
)
PREPOSITIONS: Final = word_set("of in on at to for from by with about than like after before since between under over without into through")
QUESTION_WORDS: Final = word_set("who whom whose what which when where why how")
_REST: Final = word_set("other others another else same")
PLACES: Final = word_set("there")
_CONJUNCTIONS: Final = word_set("and but when if because before after while since until")
_SAID_BEFORE: Final = _REST | word_set("one ones then former latter both")
"""Words beside pronouns that refer to what was said: "Which one does Acme sell?"."""
_HOW_MANY: Final = re.compile(rf"\bhow many (?:{'|'.join(sorted(AUXILIARIES))})\b", re.IGNORECASE)
_LEAD_IN: Final = re.compile(r"(?:(?:and|but|so|or|ok|okay|then|also|well|now|thanks|thank you|please)\b[\s,.!:;-]*)+", re.IGNORECASE)
ABOUT: Final = re.compile(r"(?:what|how) about\b", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"(?<=\w)[.?!]\s+(?=\w)")


def without_lead_in(question: str) -> str:
    """Return a question without the conjunctions and courtesies before it: "And when?" gives "when?"."""
    return question[match.end() :] if (match := _LEAD_IN.match(question)) else question


def is_fragment(question: str) -> bool:
    """Return whether a question has no clause: "And the Osprey 17?", "What about Thomson?", "When?". Keywords alone are not asked so."""
    rest = without_lead_in(question)
    if not content_stems(rest):
        return not referring_words(rest)
    words = set(folded_words(ABOUT.sub("", rest)))
    if words & _REST:  # "Who else?" asks for what was not said
        return False
    asks = rest != question or ABOUT.match(rest) is not None or question.rstrip().endswith("?")
    return asks and not words & AUXILIARIES and (not words & QUESTION_WORDS or not find_names(rest))


def is_complete(question: str) -> bool:
    """Return whether a question names what it asks about, and no word of it stands for, or leaves out, what was said before."""
    refers = referring_words(question) or set(folded_words(question)) & _SAID_BEFORE or _HOW_MANY.search(question)
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
    if word == "it" and previous in AUXILIARIES and {"to", "that"} & set(behind[1:-1]):
        return False
    if word in POSSESSIVES:  # "Did Acme raise its prices?", "Which company sold its factory?"
        asks_for_owner = set(words[:2]) & {"which", "what"} and not AUXILIARIES & set(words[:number]) and number > 2
        is_described = any(" of " in phrase for phrase in descriptions(before))  # "the inventor of the saxophone"
        return not _names(before) and not is_described and not asks_for_owner
    if word in PERSONAL:
        return not (_CONJUNCTIONS & set(words[1:number]) and _names(before))
    if word in DEMONSTRATIVES:
        return not following or following in AUXILIARIES | PREPOSITIONS or (previous in _DO and len(behind) == 1)
    return word in PLACES and previous not in BE and following not in BE


def _names(text: str) -> list[str]:
    """List the names in a text; a preposition with a capital letter, which begins a question, is none."""
    return [name for name in find_names(text) if name.casefold() not in PREPOSITIONS | _CONJUNCTIONS]


def folded_words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return [word.casefold().replace("’", "'") for word in WORD.findall(text.replace("'s", " 's"))]

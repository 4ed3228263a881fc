"""Check whether passages support a sentence of an answer.

Its names and numbers have to stand together there (`claims`); the reader's relevance, or a cross-encoder's entailment, decides the rest.
"""

import re
from collections.abc import Sequence

from ramify.embedded.checks import claims
from ramify.embedded.reader.reading import add_title, read_context
from ramify.tools.english import content_stems, person_probabilities
from ramify.tools.languages import ENGLISH, detect_language
from ramify.tools.reader import READER, Material
from ramify.tools.search.relevance import entailment_probabilities
from ramify.tools.supporting_sentence import QuestionAnswer

_MIN_WORD_SHARE = 0.6
"""Share of a sentence's words in a statement that says it."""
_MIN_RELEVANCE = 0.3
"""Minimum relevance, from 0 to 1, of a passage that supports a sentence (`plugins/lab/benchmarks/support.py`)."""
_MIN_FOREIGN_WORDS = 4
"""Words of a sentence, all of them in no passage, from which it is looked at a second time."""
_MIN_STRANGER = 0.9
"""Probability from which the first word of a sentence names a person."""
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_LETTER = re.compile(r"[^\W\d_]")


def missing_facts(sentence: str, texts: Sequence[str]) -> list[str]:
    """Return the numbers, and in English the names, of a sentence that occur in none of the texts."""
    return claims.missing_facts(sentence, texts, _has_names(sentence, texts))


def is_supported(sentence: str, texts: Sequence[str], by: str = READER, language: str | None = None) -> bool:
    """Return whether the texts support a sentence; blocking. See `check_support`."""
    return bool(texts) and check_support(sentence, [Material("", text) for text in texts], by=by, language=language) is True


def check_support(
    sentence: str, materials: Sequence[Material], asked: Sequence[QuestionAnswer] = (), by: str = READER, language: str | None = None
) -> bool | None:
    """Return whether passages support a sentence, judged by "reader" or a cross-encoder; None for a conclusion; blocking.

    asked: the question and its answer, then those of its parts; a conclusion says nothing else, or nothing that a passage could say.
    language: of the sentence, used if it is too short for detection. A text in another language is compared only by names and numbers, one
    in another script by numbers. ModelError if there is no such model.
    """
    texts = [material.text for material in materials]
    if _is_foreign(sentence, texts, language):
        return not claims.missing_facts(
            sentence, [f"{material.subject} {material.text}" for material in materials], _has_names(sentence, texts)
        )
    if claims.find_fault(sentence, materials, asked, _has_names(sentence, texts)):
        return False
    is_said = claims.best_share(sentence, materials) >= _MIN_WORD_SHARE
    if claims.repeats(sentence, asked):
        return True if is_said else None
    if by != READER:
        return (
            bool(texts)
            and max(entailment_probabilities(by, sentence, [f"{material.subject}: {material.text}" for material in materials])) >= 0.5
        )
    if is_said or (texts and claims.has_figures(sentence)):
        return True
    known = content_stems(" ".join([*texts, *(f"{pair.question} {pair.answer}" for pair in asked)]))
    words = content_stems(sentence)
    if any(read_context(sentence, add_title(material.subject, material.text)).relevance >= _MIN_RELEVANCE for material in materials):
        return True
    is_invented = len(words) >= _MIN_FOREIGN_WORDS and not words & known
    return False if is_invented or (materials and _begins_with_stranger(sentence, known)) else None


def _begins_with_stranger(sentence: str, known: frozenset[str]) -> bool:
    """Return whether a sentence begins with the name of a person who is in none of the words; its capital letter alone tells nothing."""
    first = sentence.split(" ")[0]
    return first.istitle() and not content_stems(first) & known and person_probabilities([first])[0] >= _MIN_STRANGER


def find_source(sentence: str, materials: Sequence[Material], asked: Sequence[QuestionAnswer] = ()) -> int | None:
    """Return the number, from 0, of the passage that says a sentence; None if none does."""
    texts = [material.text for material in materials]
    named = _has_names(sentence, texts)
    shares = [claims.best_share(sentence, [material]) for material in materials]
    for place in sorted(range(len(materials)), key=lambda place: -shares[place]):
        if shares[place] >= _MIN_WORD_SHARE and not claims.find_fault(sentence, [materials[place]], asked, named):
            return place
    return None


def _has_names(sentence: str, texts: Sequence[str]) -> bool:
    """Return whether capital letters mark the names of a sentence; other languages than English have other rules."""
    return _is_latin(" ".join(texts)) and detect_language(sentence) in (ENGLISH, None)


def _is_foreign(sentence: str, texts: Sequence[str], language: str | None) -> bool:
    """Return whether a sentence is in another language or script than the texts."""
    sentence_language, text_languages = detect_language(sentence) or language, {detect_language(text) for text in texts}
    return not (_is_latin(sentence) and all(map(_is_latin, texts))) or bool(
        sentence_language and texts and None not in text_languages and sentence_language not in text_languages
    )


def _is_latin(text: str) -> bool:
    letters = _LETTER.findall(text)
    return 2 * sum(_LATIN.match(letter) is not None for letter in letters) >= len(letters)

"""Generate cloze questions by rules: replace a name, date or number of a sentence by a question word, and drop some words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from plugins.embedded.training.example import Example, seeded_random
from plugins.embedded.training.source import Document, WordIndex
from ramify.embedded.reader.reading import add_title
from ramify.tools.english import ENGLISH_STOP_WORDS, fold, sentences, strip_disambiguation, word_set

MONTH = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|"
    "Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\.?"
)
YEAR = r"(?:1\d{3}|20\d{2}|[3-9]\d{2})(?!\d)"
DATE = (
    rf"(?:(?:c\.|ca\.|circa|around|about)\s*)?(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}(?:,? {YEAR})?|{MONTH} "
    rf"\d{{1,2}}(?!\d)(?:st|nd|rd|th)?(?:,? {YEAR})?|{MONTH},? {YEAR}|{YEAR})"
    r"(?: BC| AD| BCE)?"
)
NUMBER = (
    r"(?:[£$€]\s?)?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s?%| per ?cent| percent| million| billion| thousand)?"
    r"(?: (?:km²|km|kilometres|kilometers|miles|metres|meters|m|feet|ft|years|inhabitants|people|members|square "
    r"miles|square kilometres|hectares|acres|episodes|species|minutes)\b)?"
)
_CAPITAL = r"(?:[A-ZÀ-ÞŁŚŻČŠŽŐ][\w’'&./-]*|[A-Z]\.)"
_LINK = (
    r"(?:of the|of|de la|de|la|le|von|van der|van|der|den|di|da|du|del|al|el|ibn|bin|y|the|&|in(?= Physics|"
    r" Chemistry| Literature| Medicine))"
)
NAME = rf"{_CAPITAL}(?:(?: {_LINK})? {_CAPITAL})*(?: (?:I|II|III|IV|V|VI|VII|VIII)\b)?"
PLACE = rf"{NAME}(?:, {NAME}){{0,2}}"
_SHAPES = {
    "date": re.compile(rf"(?<![\w,.]){DATE}(?![\w])"),
    "number": re.compile(
        rf"(?<![\w.]){NUMBER}(?!\w)|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|hundred)\b"
    ),
    "name": re.compile(NAME),
    "place": re.compile(PLACE),
}
_NAMED = frozenset(("name", "place"))
_NO_NAME = re.compile(rf"{MONTH}|BCE?|AD|CE")
_OPENERS = word_set(
    "The A An In On At He She It His Her Its They Their This That These As After Before From When While By For During With "
    "Both One Each Between Since Until Although Unlike Like There Today Later Many Some Most Because Among Under Only Having"
)


@dataclass(frozen=True)
class Candidate:
    """A span of a sentence."""

    text: str
    start: int


def candidates(sentence: str, kind: str) -> list[Candidate]:
    """Return the spans of a sentence that match a kind of answer."""
    spans = []
    for match in _SHAPES[kind].finditer(sentence):
        text, start = _trim_name(match[0], match.start())
        if (
            text
            and text.casefold() not in ENGLISH_STOP_WORDS
            and text not in _OPENERS
            and not (kind in _NAMED and _NO_NAME.fullmatch(text))
        ):
            spans.append(Candidate(text, start))
    return spans


def _trim_name(text: str, start: int) -> tuple[str, int]:
    """Return a name and its offset without an opening word of the sentence and surrounding punctuation."""
    first, space, rest = text.partition(" ")
    if first in _OPENERS:
        text, start = rest, start + len(first) + len(space)
    stripped = text.lstrip(" '\"“(,")
    start += len(text) - len(stripped)
    return re.sub(r"(?:['’]s?|[\s,.;:'\"”)]+)$", "", stripped) if not re.search(
        r"\b[A-Z]\.$|\b(?:Jr|Sr|Inc|Co|Ltd)\.$", stripped
    ) else stripped, start


_SUBJECT = re.compile(r"^(?:He|She|It|They|This|The (?:film|song|album|band|book|novel|series|company|town|city|village))\b")
_ASKING = {
    "date": ("when", "in what year", "on what date", "in which year"),
    "number": ("how many", "what number of"),
    "name": ("who", "what", "which", "whom"),
    "place": ("where", "which place", "what city"),
}
_PLACED = re.compile(r"\b(?:in|at|from|near|to) $")
_A_YEAR = re.compile(r"1\d{3}|20\d{2}")
_LONGEST, _SHORTEST = 34, 7


def cloze_examples(documents: list[Document], source: str, a_document: int = 1) -> Iterator[Example]:
    """Yield questions from the sentences of each document; some are also asked of another document."""
    lookalikes = WordIndex(documents)
    for document in documents:
        choose = seeded_random(document.id, "cloze")
        made = [item for item in _questions(document) if item[0]]
        for question, start, end in choose.sample(made, min(a_document, len(made))):
            context = add_title(document.title, document.text)
            yield Example(source, document.id, question, context, "span", ((start, end),))
            answer = context[start:end]
            if choose.random() < 0.35 and (other := lookalikes.of(question, [answer], {document.id}, choose, among=3)):
                yield Example(source + "_other", other.id, question, add_title(other.title, other.text), "none")


def _questions(document: Document) -> Iterator[tuple[str, int, int]]:
    context = add_title(document.title, document.text)
    shift = len(context) - len(document.text)
    for number, sentence in enumerate(sentences(document.text)):
        begin = document.text.find(sentence)
        if begin < 0 or not _SHORTEST <= len(sentence.split()) <= _LONGEST:
            continue
        if number == 0 and document.title and (subject := _ask_for_title(document, sentence)):
            yield subject
        for kind in ("date", "number", "name", "place"):
            for span in candidates(sentence, kind):
                if question := _replace_answer(sentence, span, kind, document):
                    start = begin + span.start + shift
                    yield question, start, start + len(span.text)


def _replace_answer(sentence: str, span: Candidate, kind: str, document: Document) -> str:
    """Return the sentence with a question word for the answer; empty if the answer is the article's subject."""
    title = strip_disambiguation(document.title or "")
    if sentence[span.start : span.start + len(span.text)] != span.text or fold(span.text) in fold(title):
        return ""
    before, after = sentence[: span.start], sentence[span.start + len(span.text) :]
    if (kind == "number" and _A_YEAR.fullmatch(span.text)) or (kind == "place" and not _PLACED.search(before)):
        return ""
    word = seeded_random(document.id, sentence, span.start, kind).choice(_ASKING[kind])
    if kind == "date":
        before = re.sub(r"\b(?:[Ii]n|[Oo]n|since|from) $", "", before)
    text = f"{before.rstrip(' (')} {word} {after.lstrip(' ).')}"
    if title and _SUBJECT.match(text) and title not in text:
        text = _SUBJECT.sub(lambda _: title, text, count=1)
    return _drop_words(text, word, title)


def _ask_for_title(document: Document, sentence: str) -> tuple[str, int, int] | None:
    """Return a question for the thing that the first sentence describes, whose answer is the article's title."""
    title = strip_disambiguation(document.title or "")
    verb = re.search(r"\b(?:is|was|are|were) (?=(?:an?|the) )", sentence)
    if not title or verb is None or fold(title) not in fold(sentence[: verb.start()]):
        return None
    choose = seeded_random(document.id, "about")
    rest = sentence[verb.start() :].rstrip(". ")
    return _drop_words(f"{choose.choice(('Who', 'What', 'Which'))} {rest}", "", title), 0, len(title)


def _drop_words(text: str, word: str, title: str) -> str:
    """Return the question with some words dropped, but not the question word and the subject."""
    kept = set(fold(f"{word} {title}").split())
    random = seeded_random(text)
    words = [piece for piece in re.sub(r"\([^)]*\)", "", text).split() if set(fold(piece).split()) & kept or random.random() > 0.25]
    return " ".join(words).rstrip(" .,;:?") + "?"

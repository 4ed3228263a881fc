"""Questions made by rules: a name, date or number of a sentence is replaced by what asks for it, and words are dropped."""

import re
from collections.abc import Iterator

from ramify.tools.english import bare_title, fold, sentences
from ramify.tools.reader.reading import in_context
from training.candidates import Candidate, candidates
from training.example import Example, seeded
from training.lookalike import Lookalikes
from training.source import Document

_SUBJECT = re.compile(r"^(?:He|She|It|They|This|The (?:film|song|album|band|book|novel|series|company|town|city|village))\b")
_WORDS = {
    "date": ("when", "in what year", "on what date", "in which year"),
    "number": ("how many", "what number of"),
    "name": ("who", "what", "which", "whom"),
    "place": ("where", "which place", "what city"),
}
_PLACED = re.compile(r"\b(?:in|at|from|near|to) $")
_A_YEAR = re.compile(r"1\d{3}|20\d{2}")
_LONGEST, _SHORTEST = 34, 7


def cloze(documents: list[Document], source: str, a_document: int = 1) -> Iterator[Example]:
    """Make questions from the sentences of each document; one in five is asked of another document."""
    lookalikes = Lookalikes(documents)
    for document in documents:
        choose = seeded(document.id, "cloze")
        made = [item for item in _questions(document) if item[0]]
        for question, start, end in choose.sample(made, min(a_document, len(made))):
            context = in_context(document.title, document.text)
            yield Example(source, document.id, question, context, "span", ((start, end),))
            answer = context[start:end]
            if choose.random() < 0.35 and (other := lookalikes.of(question, [answer], {document.id}, choose, among=3)):
                yield Example(source + "_other", other.id, question, in_context(other.title, other.text), "none")


def _questions(document: Document) -> Iterator[tuple[str, int, int]]:
    context = in_context(document.title, document.text)
    shift = len(context) - len(document.text)
    for number, sentence in enumerate(sentences(document.text)):
        begin = document.text.find(sentence)
        if begin < 0 or not _SHORTEST <= len(sentence.split()) <= _LONGEST:
            continue
        if number == 0 and document.title and (subject := _about(document, sentence)):
            yield subject
        for kind in ("date", "number", "name", "place"):
            for span in candidates(sentence, kind):
                if question := _asked(sentence, span, kind, document):
                    start = begin + span.start + shift
                    yield question, start, start + len(span.text)


def _asked(sentence: str, span: Candidate, kind: str, document: Document) -> str:
    """Put the asking word in the answer's place; nothing where the answer is what the article is about."""
    title = bare_title(document.title or "")
    if sentence[span.start : span.start + len(span.text)] != span.text or fold(span.text) in fold(title):
        return ""
    before, after = sentence[: span.start], sentence[span.start + len(span.text) :]
    if (kind == "number" and _A_YEAR.fullmatch(span.text)) or (kind == "place" and not _PLACED.search(before)):
        return ""
    word = seeded(document.id, sentence, span.start, kind).choice(_WORDS[kind])
    if kind == "date":
        before = re.sub(r"\b(?:[Ii]n|[Oo]n|since|from) $", "", before)
    text = f"{before.rstrip(' (')} {word} {after.lstrip(' ).')}"
    if title and _SUBJECT.match(text) and title not in text:
        text = _SUBJECT.sub(lambda _: title, text, count=1)
    return _thinned(text, word, title)


def _about(document: Document, sentence: str) -> tuple[str, int, int] | None:
    """Ask which thing the article's first sentence describes: the answer is its title."""
    title = bare_title(document.title or "")
    verb = re.search(r"\b(?:is|was|are|were) (?=(?:an?|the) )", sentence)
    if not title or verb is None or fold(title) not in fold(sentence[: verb.start()]):
        return None
    choose = seeded(document.id, "about")
    rest = sentence[verb.start() :].rstrip(". ")
    return _thinned(f"{choose.choice(('Who', 'What', 'Which'))} {rest}", "", title), 0, len(title)


def _thinned(text: str, word: str, title: str) -> str:
    """Drop some words, so that the question is not the sentence itself; what asks and the subject stay."""
    kept = set(fold(f"{word} {title}").split())
    random = seeded(text)
    words = [piece for piece in re.sub(r"\([^)]*\)", "", text).split() if set(fold(piece).split()) & kept or random.random() > 0.25]
    return " ".join(words).rstrip(" .,;:?") + "?"

"""Where the sentences of a text begin and end."""

from collections.abc import Iterator

from ramify.tools.supporting_sentence import split_sentences

Span = tuple[int, int]


def sentence_spans(text: str) -> list[Span]:
    """Return the place of each sentence in a text, in which the ends of lines are white space; only white space is left out."""
    spans: list[Span] = []
    line, end = text.replace("\n", " "), 0
    for sentence in split_sentences(line):
        begin = line.find(sentence, end)
        if begin < 0:  # its white space was changed
            continue
        end = begin + len(sentence)
        spans.append((begin, end))
    return list(_without_gaps(text, spans))


def line_spans(text: str) -> list[Span]:
    """Return the place of each sentence in the lines of a text."""
    spans: list[Span] = []
    start = 0
    for line in text.split("\n"):
        spans += [(start + begin, start + end) for begin, end in sentence_spans(line)]
        start += len(line) + 1
    return spans


def _without_gaps(text: str, spans: list[Span]) -> Iterator[Span]:
    """Yield spans that cover all of a text but white space: what is between two belongs to the first."""
    begins = [len(text) - len(text.lstrip()), *(begin for begin, _ in spans[1:])] if text.strip() else []
    for begin, limit in zip(begins, [*begins[1:], len(text)], strict=False):
        yield begin, begin + len(text[begin:limit].rstrip())

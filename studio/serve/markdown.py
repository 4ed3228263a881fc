"""An answer in Markdown, with its sources as footnotes, for programs that show what a chat model writes."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from ramify.graphs.run import Result
from ramify.nodes.tree import is_unknown
from ramify.nodes.tree.citation import Citation, Sentence
from ramify.studio.drawing.phrases import UNSUPPORTED, advice, full_text, quoted, reason, sentence, stopped, title_of
from ramify.tools.quoting import lines, one_line

CLOSEST = "Closest passages, which may not hold the answer:"
_ACTIVE = re.compile(r"<(?=[A-Za-z/!?])|(?<=\])[(:\[]|!(?=\[)|\[(?=\^)")
"""What would begin an element, a link, a picture or a footnote: documents and models are not to load anything into a page."""
_ADDRESS = re.compile(r"(?:\b[a-z][a-z0-9+-]*(?=://)|\bwww(?=\.))[^\s<>()\[\]\"'`]+", re.IGNORECASE)
"""What programs take for a link as it stands."""
_BEGUN = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_FOOTNOTES = re.compile(r"\n*^\[\^\d+\]: .*", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"\[\^\d+\]")
_SHORT = re.compile(r"\*\*(.+?)\*\*(?:\n|$)")


def paragraphs(result: Result) -> list[str]:
    """Return an answer as paragraphs, the last of them its footnotes."""
    if result.asked_back:
        return [harmless(result.asked_back)]
    plain = partial(harmless, known="\n".join(citation.text for citation in result.citations))
    text = "\n".join(" ".join(_with_marks(one, plain) for one in line) for line in full_text(result))
    if text and any(citation.closest for citation in result.citations):
        text = f"{CLOSEST}\n\n{text}"
    told = [sentence(one) for one in (stopped(result), *_why_unknown(result)) if one]
    notes = "\n".join(_footnote(number, citation, plain) for number, citation in enumerate(result.citations, 1))
    return [part for part in (_short(result, bool(text), plain), *map(plain, told), text, notes) if part]


def harmless(text: str, known: str = "") -> str:
    """Return a text in which Markdown shows no picture, link, footnote or element of HTML.

    An address that stands in the `known` text of the sources stays a link; one that does not may carry away what a model was shown.
    """
    text = _ADDRESS.sub(lambda found: found[0] if found[0].rstrip(".,;:!?*_") in known else _BEGUN.sub(r"\\\g<0>", found[0], 1), text)
    return _ACTIVE.sub(lambda found: f"\\{found[0]}", text)


def short_answer(markdown: str) -> str:
    """Return the short answer of what `paragraphs` gave, else all of it without footnotes."""
    text = _MARK.sub("", _FOOTNOTES.sub("", markdown)).strip()
    found = _SHORT.match(text)
    return found[1] if found else text


def _short(result: Result, more: bool, plain: Callable[[str], str]) -> str:
    """Return the short answer, with the numbers of what it rests on where no text has them."""
    answer = plain("\n".join(lines(result.answer)))
    if more or is_unknown(result.answer):
        return f"**{answer}**" if "\n" not in answer else ""
    return answer + _marks([number for number, citation in enumerate(result.citations, 1) if citation.cited])


def _why_unknown(result: Result) -> list[str]:
    return [one_line(one) for one in (reason(result), result.explanation, advice(result)) if one] if is_unknown(result.answer) else []


def _with_marks(one: Sentence, plain: Callable[[str], str]) -> str:
    unsupported = f" *({UNSUPPORTED})*" if one.supported is False else ""
    return plain(one.text) + _marks(one.citations) + unsupported


def _marks(numbers: Sequence[int]) -> str:
    return "".join(f"[^{number}]" for number in numbers)


def _footnote(number: int, citation: Citation, plain: Callable[[str], str]) -> str:
    told = f"{title_of(citation)}{citation.mark}, {citation.file}" if citation.title else f"{citation.where}{citation.mark}"
    return f"[^{number}]: {plain(one_line(told))}: {plain(one_line(quoted(citation)))}"

"""Answer a question for several things by the items of a list, instead of by their number or by one of them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ramify.tools.english import NUMBER_WORDS, content_stems, fold, word_set
from ramify.tools.supporting_sentence import is_plain_item

_ASKS = re.compile(r"\b(?P<word>which|what|who|whom|name|list|give|tell me)\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_COUNTS = re.compile(r"\bhow (?:many|much)\b", re.IGNORECASE)
_VERBS = word_set("is are was were do does did has have had can could will would shall should may might must")
_PREPOSITIONS = word_set("of in on at to for from by with that which who does do can is are under about as there")
_DETERMINERS = word_set("the a an all any some of these those this that our your their its his her me us")
_PLURALS = word_set("people children men women criteria data media mice feet teeth")
_NUMBERS = NUMBER_WORDS.keys() - {"zero", "one"} | word_set("several many various different following these")
_ITEM = re.compile(r"[ \t]*(?:[-*•–+]|\(?(?:\d{1,3}|[A-Za-z])[.)])[ \t]+(?P<text>\S.*)")
_LABEL_END = re.compile(r"(?<!\s)\s++[-–—(]|:\s")
_MAX_LABEL_WORDS = 8
_MAX_CHARS = 200
"""Longer answers are not given as items."""
_MIN_ITEMS = 2


class ListedItems(NamedTuple):
    """A list in a text: the line that introduces it, its items, and where it begins and ends, in characters."""

    intro: str
    items: list[str]
    start: int
    end: int


def listed_answer(question: str, text: str, heading: str, start: int, end: int) -> str | None:
    """Return the items of the list that a span introduces or belongs to, if the question asks for several things; else None.

    A span in a list's first line, such as the number of its items, stands for the list; an item does if the question names what is listed.
    """
    if (wanted := asked_for(question)) is None:
        return None
    counts = fold(text[start:end]).split()[:1]
    is_count = bool(counts) and (counts[0] in _NUMBERS or counts[0].isdecimal())
    for block in find_lists(text):
        above = f"{block.intro} {heading if not block.intro else ''}"
        if block.start <= start < block.end and (wanted in content_stems(above) or (is_count and start < block.start + len(block.intro))):
            return _join_items(block.items)
    line_end = min((at for at in (text.find(sign, end) for sign in ("\n", ". ")) if at >= 0), default=len(text))
    before, colon, listed = text[end:line_end].partition(":")
    if is_count and colon and "," in listed and len(before.split()) <= _MAX_LABEL_WORDS:  # three colours: slate, birch and white
        return listed.strip(" .")[:_MAX_CHARS]
    return None


def asked_for(question: str) -> str | None:
    """Return the stem of what a question asks several of; None if it asks for a single thing, or for their number."""
    match = None if _COUNTS.search(question) else _ASKS.search(question)
    if match is None:
        return None
    words = [word.strip("?,.:;!").casefold() for word in match["rest"].split()]
    verb = next((place for place, word in enumerate(words) if word in _VERBS), len(words))
    phrase = [] if match["word"].casefold() in ("who", "whom") else words[:verb]
    if not phrase and words[:1] in (["are"], ["were"]):
        phrase = words[1:]
    while phrase and phrase[0] in _DETERMINERS | {"of"}:
        phrase = phrase[1:]
    last = next((place for place, word in enumerate(phrase) if word in _PREPOSITIONS | _DETERMINERS), len(phrase))
    for word in phrase[:last]:
        if word in _PLURALS or (len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))):
            return next(iter(content_stems(word)), None)
    return None


def find_lists(text: str) -> list[ListedItems]:
    """Return the lists of a text that have at least two items: lines with a mark, or short ones below a line that ends with a colon."""
    lists: list[ListedItems] = []
    items: list[str] = []
    intro, start, place, is_marked = "", 0, 0, False
    for line in [*text.splitlines(keepends=True), ""]:
        bare, item = line.strip(), _ITEM.match(line)
        is_short = bool(intro) and not is_marked and is_plain_item(bare)
        if item or is_short:
            if not items and not intro:
                start = place
            items.append(item["text"].strip() if item else bare)
            is_marked = is_marked or item is not None
        elif items and is_marked and bare and line[:1] in " \t":  # a wrapped item
            items[-1] += f" {bare}"
        elif bare or not line or (items and not is_marked):
            if len(items) >= _MIN_ITEMS:
                lists.append(ListedItems(intro, items, start, place))
            intro, items, start, is_marked = bare if bare.endswith(":") else "", [], place, False
        place += len(line)
    return lists


def _join_items(items: Sequence[str]) -> str | None:
    """Return items as one answer, shortened to their labels if they are long; None if that is still too long."""
    for shown in (list(items), [_LABEL_END.split(item, maxsplit=1)[0] for item in items]):
        bare = [item.rstrip(" ,;.") for item in shown]
        joined = ("; " if any("," in item for item in bare) else ", ").join(bare)
        if len(joined) <= _MAX_CHARS and all(len(item.split()) <= _MAX_LABEL_WORDS for item in bare):
            return joined
    return None

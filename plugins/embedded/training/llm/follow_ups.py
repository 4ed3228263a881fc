"""Examples of `contextualize`: follow-ups, with the turns before them, and as people rewrote them so that they stand alone."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from plugins.embedded.training.llm.rendered import Asked
from plugins.embedded.training.writing.follow_ups import described, rewrites, said_before, unchanged
from plugins.embedded.training.writing.single import leans
from plugins.embedded.training.writing.written import Written, ask, fold, words
from ramify.nodes.conversation import MAX_TURNS
from ramify.prompts.contextualize import CONTEXTUALIZE, Standalone
from ramify.prompts.prompt import Turn
from ramify.tools.anaphora import is_complete, only_extends

SOURCES: Final = frozenset(("canard_dev", "cast_ikat_rewrites", "mtrag_rewrites", "followup_nlidb"))
_MADE: Final = 600
_QUESTION = re.compile(
    r"(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|does|did|do|can|could|has|have|tell|show|list|in (?:what|which))\b",
    re.IGNORECASE,
)
_LEANS = re.compile(
    r"(?:and|so|but|what about|how about)\b|(?:which one|what else|anything|why|when|where|who)\W*(?:\w+\W*)?$", re.IGNORECASE
)
_UNSAID = re.compile(r"\b(?:did|does|has|is|was) him\b|\bof (?:her|him)\?$", re.IGNORECASE)
"""How nobody asks; some follow-ups are made by program."""
_ARTICLE = re.compile(r"\b(is|of) The (?=[a-z])")
_UNSURE: Final = frozenset(("", "cannotanswer", "i don t know", "unknown", "it is not said", "the passages do not say"))


def follow_ups(data: Path) -> Iterator[Asked]:
    """Yield follow-ups whose rewrite is made of what was said before, and questions that stay as they are."""
    people = (written for written in rewrites(data) if written.source in SOURCES)
    for made in (people, said_before(data, _MADE), described(data, _MADE), unchanged(data, _MADE)):
        for written in made:
            if asked := _follow_up(written):
                yield asked


def _follow_up(written: Written) -> Asked | None:
    """Return a follow-up with its turns; None if its rewrite needs what they do not show, or the toolkit would not take it."""
    turns, question, rewritten = to_turns(written.history), written.question, written.steps[0]
    said = [question, *(turn["asked"] for turn in turns), *(turn["answer"] for turn in turns if turn["sure"])]
    kept = fold(question) == fold(rewritten)
    if not turns or not _said(rewritten, said) or (not kept and is_complete(question) and not only_extends(question, rewritten)):
        return None
    added = {word for word in set(words(rewritten)) - set(words(question)) if len(word) > 2}
    stands = kept and not leans(question) and not _LEANS.match(question)
    fits = stands or (not kept and added & set(words(" ".join(said[1:]))))
    if not fits or _UNSAID.search(question) or not _QUESTION.match(rewritten) or len(rewritten.split()) < 4:
        return None
    slots = {"question": question, "turns": turns}
    reply = Standalone(question=question if kept else _ARTICLE.sub(r"\1 the ", ask(rewritten)))
    return Asked(
        CONTEXTUALIZE, written.source, "kept" if kept else "rewritten", (fold(question + " " + rewritten), written.group), slots, reply
    )


def to_turns(history: str) -> list[Turn]:
    """Return the last turns of a history, one line after the other: what is no question answers the question before it."""
    turns: list[Turn] = []
    for line in history.splitlines():
        if line.endswith("?") or _QUESTION.match(line):
            turns.append(Turn(asked=line, answer="", sure=False))
        elif turns and not turns[-1]["answer"]:
            turns[-1] = Turn(asked=turns[-1]["asked"], answer=line, sure=fold(line) not in _UNSURE)
    return turns[-MAX_TURNS:]


def _said(rewritten: str, said: list[str]) -> bool:
    """Return whether a rewrite has no name, and hardly a word, that was not said."""
    known = set(words(" ".join(said)))
    missing = [word for word in re.findall(r"\w+", rewritten)[1:] if word.casefold() not in known]
    return len(missing) <= 2 and not any(word[:1].isupper() or word[:1].isdigit() for word in missing)

"""Questions and searches made worse for a share of their parts, to see how strategies bear it (the open questions of PruneRAG).

All that is drawn depends on the seed, the question and what it is drawn for, and on nothing else: strategies that are compared meet
the same, and what a small share hits, a larger one hits, too.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from random import Random
from typing import Any, Literal, get_args

from ramify.evaluation.dataset import Question
from ramify.nodes.tree import FrozenModel
from ramify.tools.english import STOP, bare_title, fold, names_in
from ramify.tools.index import Index
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.index import documents
from ramify.tools.index.searcher import opened

How = Literal["entities", "retriever", "distractors", "paraphrase"]
TOLD: dict[How, str] = {
    "entities": "names in sub-questions and look-ups that are searched as another name of the corpus",
    "retriever": "passages found that are replaced by lower-ranked ones",
    "distractors": "passages found that are replaced by look-alikes from other documents",
    "paraphrase": "content words of the question that are replaced by a synonym, or else exchanged with the next word",
}
"""What a share of is made worse."""
HOWS: tuple[How, ...] = get_args(How)
_LOOK_ALIKES = 10
"""Passages among which a look-alike is chosen."""
_FETCHED = 4
"""Candidates that MMR picks from, for each passage wanted (`fetch_k`)."""
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_PAIRS = """
film movie, city town, country nation, author writer, founder creator, located situated, invented devised, founded established,
spouse partner, father dad, mother mum, child kid, album record, song track, singer vocalist, band group, company firm,
actor performer, older elder, oldest eldest, earlier sooner, built constructed, largest biggest, large big, small little,
prize award, war conflict, started began, ended finished, work opus, place location, wrote penned, made produced,
released issued, died perished, lived resided, river stream, castle fortress, church chapel, language tongue,
college university, street road, job profession, picture painting, nationality citizenship, same identical, team side,
series show, famous renowned, name title, called named
"""
_SYNONYMS = {
    word: other for one, two in (pair.split() for pair in _PAIRS.split(",")) for word, other in ((one, two), (two, one))
}  # fmt: skip


class Degradation(FrozenModel):
    """What is made worse, and for which share of it."""

    how: How
    share: float


def degrade_question(question: Question, index: str, by: Degradation, seed: int) -> tuple[str, str | Index]:
    """Return a question as it is asked, and the index that is searched for it: one of the two is made worse. Blocking."""
    if by.how == "paraphrase":
        return paraphrased(question.question, by.share, f"{seed}|{question.id}"), index
    return question.question, DegradedIndex(opened(index), question, by, seed)


def is_drawn(share: float, *drawn_for: object) -> bool:
    """Return whether something is among the share that is drawn."""
    return Random("|".join(map(str, drawn_for))).random() < share


def paraphrased(question: str, share: float, seed: str) -> str:
    """Return a question with a share of its content words replaced or moved; names stay whole and in place."""
    parts = _WORD.split(question)
    words = _WORD.findall(question)
    named = {part for name in names_in(question) for part in _WORD.findall(name)}
    for place, word in enumerate(list(words)):
        if words[place] != word or word in named or fold(word) in STOP or not is_drawn(share, seed, "paraphrase", place, word):
            continue
        follower = words[place + 1] if place + 1 < len(words) else ""
        if (other := _SYNONYMS.get(word.casefold())) is not None:
            words[place] = other.capitalize() if word[0].isupper() else other
        elif follower and follower not in named:
            words[place], words[place + 1] = follower, word
    return "".join(text for pair in zip(parts, [*words, ""], strict=True) for text in pair)


class DegradedIndex(Index):
    """An index whose search is made worse for one question."""

    def __init__(self, index: Index, question: Question, by: Degradation, seed: int) -> None:
        self.__dict__.update(index.__dict__)  # it is that index in all but its search
        self._whole, self._question, self._by, self._drawn = index, question, by, (seed, question.id, by.how)

    def search(self, queries: Sequence[str], k: int = 5, **options: Any) -> list[list[Hit]]:  # type: ignore[override]
        """Return the passages of `Index.search`, made worse."""
        if self._by.how == "entities":
            return self._whole.search([self._renamed(query) for query in queries], k, **options)
        if self._by.how == "distractors":
            return [self._with_look_alikes(hits, options) for hits in self._whole.search(queries, k, **options)]
        options["fetch_k"] = options.get("fetch_k") or _FETCHED * k  # the first k stay those that they were
        found = self._whole.search(queries, 2 * k, **options)
        return [([one for one in hits[:k] if not self._is_drawn(one)] + hits[k:])[:k] for hits in found]

    def _is_drawn(self, one: Hit) -> bool:
        return is_drawn(self._by.share, *self._drawn, one.document.id)

    @cached_property
    def _names(self) -> list[str]:
        """List the names of the corpus: the titles of its documents."""
        titles = (str(one.metadata.get("title", "")) for one in documents(self._whole, self._whole.ids()))
        return sorted({bare for title in titles if (bare := bare_title(title))})

    def _renamed(self, query: str) -> str:
        """Return a sub-question with a share of its names replaced by others; the question itself as it is."""
        if fold(query) == fold(self._question.question):
            return query
        for name in names_in(query):
            if is_drawn(self._by.share, *self._drawn, fold(name)) and (others := [one for one in self._names if fold(one) != fold(name)]):
                query = query.replace(name, Random("|".join(map(str, (*self._drawn, "name", fold(name))))).choice(others))
        return query

    def _with_look_alikes(self, hits: list[Hit], options: dict[str, Any]) -> list[Hit]:
        """Replace a share of the passages by those most like them from other documents, each with the score of the one it stands for."""
        places = [place for place, one in enumerate(hits) if self._is_drawn(one)]
        texts = [hits[place].document.page_content for place in places]
        like = self._whole.search(texts, _LOOK_ALIKES, hybrid=False, filter=options.get("filter"), view="flat")
        taken, replaced = {one.document.id for one in hits}, list(hits)
        for place, found in zip(places, like, strict=True):
            source = hits[place].document.metadata.get("source")
            other = next((one for one in found if one.document.metadata.get("source") != source and one.document.id not in taken), None)
            if other is not None:
                taken.add(other.document.id)
                replaced[place] = hits[place]._replace(document=other.document)
        return replaced

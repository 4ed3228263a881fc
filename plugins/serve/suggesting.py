"""Questions suggested for a collection: by rules, and by the language model where there is one."""

import asyncio
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from ramify.nodes.asking.ask import ask, current_model
from ramify.nodes.asking.budget import call_context
from ramify.nodes.settings import Settings
from ramify.nodes.tree import Passage
from ramify.prompts import SUGGEST
from ramify.serve.catalog import Collection
from ramify.tools.errors import ReplyError
from ramify.tools.index import Index
from ramify.tools.index.file_list import passages_of
from ramify.tools.index.index import iterate_passages
from ramify.tools.questions_by_rules import MAX_SUGGESTED_CHARS, suggest_questions
from ramify.tools.search.searcher import open_index

MAX_SUGGESTED = 4
SAMPLE, SHOWN_TOKENS = 1000, 150
"""Passages in which questions are looked for, and the tokens of a passage that a model is shown."""
_MIN_CHARS, _MIN_LETTER_SHARE = 200, 0.7
"""A passage with less is hardly prose: a table, a listing, navigation."""
_MAX_KEPT = 50


class Suggestions:
    """The questions suggested of each collection, which are found once for each opened index; a changed index is another object."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Index, dict[tuple[str, ...], list[str]]] = WeakKeyDictionary()
        """By index, then by model and files; that of a replaced index is not kept."""
        self._one_at_a_time = asyncio.Lock()
        """Held while the model is asked: others who want the same wait for it."""

    async def suggest(self, collection: Collection, files: Sequence[str] = (), settings: Settings | None = None) -> list[str]:
        """Return a few questions that the documents of a collection, or some of its files, answer.

        They are found by rules in a sample; with settings, the model of these writes them, none if it does not write. An invalid reply
        is left out. UsageError for files of an index in a database, ModelError for a model that is not there, ReplyError where all
        replies are invalid.
        """
        index = await asyncio.to_thread(open_index, collection.where)
        model = None if settings is None else await asyncio.to_thread(current_model, settings)
        if model is not None and not model.writes:
            return []
        kept, key = self._kept.setdefault(index, {}), (model.name if model else "", *sorted(files))
        if key in kept:
            return kept[key]
        passages = await asyncio.to_thread(_sample, index, collection, files)
        if len(kept) >= _MAX_KEPT:
            kept.clear()
        if settings is None:
            return kept.setdefault(key, suggest_questions(passages, MAX_SUGGESTED))
        async with self._one_at_a_time:
            return kept[key] if key in kept else kept.setdefault(key, await self._ask(passages, settings))

    async def _ask(self, passages: Sequence[Passage], settings: Settings) -> list[str]:
        """Let the model write a question for each of a few passages of prose, of different sources as far as there are any."""
        prose = [
            one for one in passages if len(one.text) >= _MIN_CHARS and sum(map(str.isalpha, one.text)) >= _MIN_LETTER_SHARE * len(one.text)
        ]
        first = list({passage.source: passage for passage in reversed(prose)}.values())[::-1]
        spread = first[:: max(1, len(first) // MAX_SUGGESTED)][:MAX_SUGGESTED]
        shown = list({passage.id: passage for passage in (*spread, *prose)}.values())[:MAX_SUGGESTED]
        asked, failures = [], list[ReplyError]()
        for passage in shown:  # one after another, so that a question of a person waits for a single call
            try:
                with call_context(settings.model_copy(update={"passage_tokens": SHOWN_TOKENS})):
                    asked.append((await ask(SUGGEST, (passage,), field="")).value.question.strip())
            except ReplyError as failure:
                failures.append(failure)
        if failures and not asked:
            raise failures[0]
        return list(dict.fromkeys(text for text in asked if text and len(text) <= MAX_SUGGESTED_CHARS))


def _sample(index: Index, collection: Collection, files: Sequence[str]) -> list[Passage]:
    ids = passages_of(collection.folder(), files) if files else index.ids()
    return list(iterate_passages(index, ids[:: max(1, len(ids) // SAMPLE)]))

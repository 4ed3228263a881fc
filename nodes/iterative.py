"""filter: read the most promising unseen passages, a batch a round (Iterative RAG, step 3)."""

import unicodedata
from collections.abc import Iterable

from ramify.nodes.asking.ask import Reply
from ramify.nodes.settings import IterativeSettings
from ramify.nodes.state import Search
from ramify.nodes.step import Context, Update, call_model, state_step
from ramify.nodes.tree import Passage
from ramify.prompts import FILTER, Filtered
from ramify.prompts.filter import FILTER_RECORDS, FilteredSources
from ramify.prompts.prompt import unescape

FILE_BONUS, PAGE_BONUS, KEYWORD_BONUS = 0.3, 0.2, 0.1


@state_step
async def filter(context: Context[IterativeSettings]) -> Update:
    """Read the best unseen passages and add the relevant ones and their facts to the memory."""
    state, settings = context.state, context.settings
    search = state["search"]
    unseen = [passage for key, passage in state["passages"].items() if key not in set(search.seen)]
    best = sorted(unseen, key=lambda passage: (-priority(passage, search), passage.id))[: settings.batch]
    # With its priority for a score: what does not fit the window is the least promising, and next in turn.
    batch = tuple(passage.model_copy(update={"score": priority(passage, search)}) for passage in best)
    if not batch:
        return {}
    slots = {"question": state["question"], "facts": list(search.facts), "expected": ", ".join(search.expected) or "anything that helps"}
    unread = f"round {search.round + 1} of reading failed; its {len(batch)} passages are skipped"
    sources = [passage.source for passage in state["passages"].values()]
    prompt = FILTER if len(set(sources)) < len(sources) else FILTER_RECORDS  # of records, the name of a source promises nothing
    reply, update = await call_model(state, prompt, batch, field="relevance", fallback=unread, **slots)
    if "stopped_by" in update:
        return {**update, "search": search.model_copy(update={"given_up": True})}
    return {**update, "search": update_memory(search, reply) if reply else skip_batch(search, batch)}


def priority(passage: Passage, search: Search) -> float:
    """Return a passage's priority: cosine + 0.3 for a promising file + 0.2 for a promising page + 0.1 per keyword."""
    text = fold_keyword(f"{passage.title} {passage.text}")
    keywords = sum(fold_keyword(word) in text for word in search.keywords if word.strip())
    file = passage.source in {form for name in search.files for form in (name, without_page(name))}
    page = passage.place != passage.source and passage.place in search.pages
    return passage.score + FILE_BONUS * file + PAGE_BONUS * page + KEYWORD_BONUS * keywords


def without_page(name: str) -> str:
    """Return a source without its page: `report.pdf` for `report.pdf:3`."""
    file, _, page = name.rpartition(":")
    return file if page.isdigit() else name


def fold_keyword(text: str) -> str:
    """Return a text with case and Unicode forms folded, so that keywords match in any script."""
    return unicodedata.normalize("NFKC", text).casefold()


def update_memory(search: Search, reply: Reply[Filtered]) -> Search:
    """Return the memory with the results of a round."""
    said = reply.value
    sources = [unescape(source) for source in (said.sources if isinstance(said, FilteredSources) else ())]
    kept = [reply.passages[n - 1].id for n in said.relevant if 0 < n <= len(reply.passages)]
    return search.model_copy(
        update={
            "round": search.round + 1,
            "seen": append_nonblank(search.seen, [passage.id for passage in reply.passages]),
            "relevant": append_nonblank(search.relevant, kept),
            "facts": append_nonblank(search.facts, said.facts),
            "files": append_nonblank(search.files, sources),
            "pages": append_nonblank(search.pages, (source for source in sources if without_page(source) != source)),
            "relevances": (*search.relevances, said.relevance),
            "suggested": said.suggested.strip(),
            "sufficient": said.is_sufficient,
        }
    )


def skip_batch(search: Search, batch: tuple[Passage, ...]) -> Search:
    """Return the memory with the batch of a failed round counted as read: its reply would fail again."""
    seen = append_nonblank(search.seen, [passage.id for passage in batch])
    return search.model_copy(update={"round": search.round + 1, "lost": search.lost + 1, "seen": seen, "suggested": ""})


def append_nonblank(old: tuple[str, ...], new: Iterable[str]) -> tuple[str, ...]:
    """Return a tuple with new, nonblank texts appended, without duplicates."""
    return tuple(dict.fromkeys((*old, *(text for text in new if text.strip()))))

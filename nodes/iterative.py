"""Steps of Iterative RAG: plan, filter (read a batch a round), search_suggested, assign_evidence, compress."""

import re
import unicodedata
from collections.abc import Collection, Iterable

from ramify.nodes.asking.ask import Reply
from ramify.nodes.settings import IterativeSettings
from ramify.nodes.state import Search
from ramify.nodes.step import Context, Update, call_model, state_step
from ramify.nodes.step.final_step import final_step
from ramify.nodes.step.text import cite_reply, text_streamer
from ramify.nodes.tree import ROOT, UNKNOWN, Branch, Passage, new_children
from ramify.nodes.tree.citation import without_trailing_marks
from ramify.prompts import COMPRESS, FILTER, PLAN, Filtered
from ramify.prompts.iterative import FILTER_RECORDS, MAX_SUB_QUERIES, FilteredSources
from ramify.prompts.prompt import unescape

MAX_QUERIES = 1 + MAX_SUB_QUERIES
UNPLANNED = "no plan was made, and the question was searched unchanged"


@state_step
async def plan(context: Context[IterativeSettings]) -> Update:
    """Plan the primary query, the sub-queries and the keywords; without a plan the question itself is searched."""
    state = context.state
    root = state["tree"][ROOT]
    reply, update = await call_model(state, PLAN, field="primary", fallback=UNPLANNED, question=root.question)
    wanted = reply.value if reply else None
    queries = [wanted.primary, *wanted.sub_queries] if wanted else []
    distinct = list(dict.fromkeys(text.strip() for text in queries if text.strip())) or [root.question]
    grown = new_children(state["tree"], ROOT, distinct)
    note = "" if wanted else "no plan: searched unchanged"
    memory = Search(keywords=tuple(wanted.keywords), expected=tuple(wanted.expected)) if wanted else Search()
    return {**update, "search": memory, "tree": {b.path: b for b in (root.with_status("split", note=root.with_note(note)), *grown)}}


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
    sources = {passage.source for passage in state["passages"].values()}
    prompt = FILTER if len(sources) < len(state["passages"]) else FILTER_RECORDS  # of records, the name of a source promises nothing
    reply, update = await call_model(state, prompt, batch, field="relevance", fallback=unread, **slots)
    if "stopped_by" in update:
        return {**update, "search": search.model_copy(update={"given_up": True})}
    return {**update, "search": update_memory(search, reply, sources) if reply else skip_batch(search, batch)}


def priority(passage: Passage, search: Search) -> float:
    """Return a passage's priority: cosine + 0.3 for a promising file + 0.2 for a promising page + 0.1 per keyword."""
    text = fold_keyword(f"{passage.title} {passage.text}")
    keywords = sum(fold_keyword(word) in text for word in search.keywords if word.strip())
    file = passage.source in search.files
    page = passage.place != passage.source and passage.place in search.pages
    return passage.score + FILE_BONUS * file + PAGE_BONUS * page + KEYWORD_BONUS * keywords


_PAGE = re.compile(r"[\s,;:(\[]+(?:p(?:age|\.)?\s*)?([\w-]+)[)\]]?", re.IGNORECASE)
"""A page behind the name of a source, as a prompt shows it (`:3`) and as models write it (`, p. 3`, ` (page 3)`)."""


def find_place(name: str, sources: Collection[str]) -> tuple[str, str]:
    """Return the source that a reply names, and its place with the page if it names one; empty texts if there is no such source."""
    if name in sources:
        return name, ""
    for source in sorted(sources, key=len, reverse=True):
        if name.startswith(source) and (page := _PAGE.fullmatch(name, len(source))):
            return source, f"{source}:{page[1]}"
    return "", ""


def fold_keyword(text: str) -> str:
    """Return a text with case and Unicode forms folded, so that keywords match in any script."""
    return unicodedata.normalize("NFKC", text).casefold()


def update_memory(search: Search, reply: Reply[Filtered], sources: Collection[str]) -> Search:
    """Return the memory with the results of a round; of the sources that the reply names, those that exist."""
    said = reply.value
    places = [find_place(unescape(name), sources) for name in (said.sources if isinstance(said, FilteredSources) else ())]
    kept = [reply.passages[n - 1].id for n in said.relevant if 0 < n <= len(reply.passages)]
    return search.model_copy(
        update={
            "round": search.round + 1,
            "seen": append_nonblank(search.seen, [passage.id for passage in reply.passages]),
            "relevant": append_nonblank(search.relevant, kept),
            "facts": append_nonblank(search.facts, said.facts),
            "files": append_nonblank(search.files, (source for source, _ in places)),
            "pages": append_nonblank(search.pages, (place for _, place in places)),
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


@state_step
async def search_suggested(context: Context[IterativeSettings]) -> Update:
    """Add a branch for the suggested query, and reset the count of poor rounds."""
    search = context.state["search"]
    grown = new_children(context.tree, ROOT, [search.suggested])
    return {"tree": {branch.path: branch for branch in grown}, "search": search.model_copy(update={"suggested": "", "relevances": ()})}


@state_step
async def assign_evidence(context: Context[IterativeSettings]) -> Update:
    """Make each searched branch a leaf with its relevant passages; one that found none is pruned."""
    relevant = set(context.state["search"].relevant)
    return {"tree": {branch.path: _settled(branch, relevant) for branch in context.tree.values() if branch.status == "open"}}


def _settled(branch: Branch, relevant: set[str]) -> Branch:
    kept = tuple(key for key in branch.evidence if key in relevant)
    if not kept:
        return branch.with_status("pruned", note=f"none of its {len(branch.evidence)} passages was found relevant")
    return branch.with_status("leaf", evidence=kept, note=f"{len(kept)} of {len(branch.evidence)} passages found relevant")


@final_step
async def compress(context: Context[IterativeSettings]) -> Update:
    """Answer shortly from the facts and passages that were kept, and explain it with its sources."""
    state, settings = context.state, context.settings
    search: Search = state["search"]
    supporting = [state["passages"][key] for key in search.support[: settings.final_k]]  # in the order they were found so
    passages = tuple(passage.model_copy(update={"text": passage.text[: settings.passage_chars]}) for passage in supporting)
    if not passages:
        return _nothing_found(search)
    facts = list(search.facts[: settings.final_facts])
    reply, update = await call_model(state, COMPRESS, passages, on_text=text_streamer(state), question=state["question"], facts=facts)
    if reply is None:
        return update
    answer = without_trailing_marks(reply.value.answer)
    return {
        **update,
        "answer": answer or UNKNOWN,
        "confidence": reply.confidence,
        "confidence_source": reply.confidence_source,
        "explanation": "" if reply.value.explanation in state["notices"] else reply.value.explanation,  # not twice
        **cite_reply(state, answer or UNKNOWN, reply),
    }


def _nothing_found(search: Search) -> Update:
    """Return Unknown with the reason; if every round failed, the question was stopped by an error."""
    lost = f"; {search.lost} of {search.round} rounds of reading failed" if search.lost else ""
    unknown: Update = {"answer": UNKNOWN, "explanation": f"no passage was found relevant{lost}"}
    return {**unknown, "stopped_by": "error"} if search.lost and search.lost == search.round else unknown

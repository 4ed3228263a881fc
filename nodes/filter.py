"""filter: read the most promising unseen passages, a batch a round; settle: hang what is kept on its branch (Iterative RAG, step 3)."""

import unicodedata
from html import unescape

from ramify.nodes.asking.ask import Reply
from ramify.nodes.settings import IterativeSettings
from ramify.nodes.state import IterativeState, Search
from ramify.nodes.step import Update, model_call, whole
from ramify.nodes.tree import ROOT, Branch, Passage, sprout
from ramify.prompts import FILTER, Filtered

FILE_BONUS, PAGE_BONUS, KEYWORD_BONUS = 0.3, 0.2, 0.1


@whole(takes=("found",), gives=("found", "open"))
async def filter(state: IterativeState, settings: IterativeSettings) -> Update:
    """Read the best unseen passages, keep what helps, and search anew after poor rounds."""
    search = state["search"]
    unseen = [passage for key, passage in state["passages"].items() if key not in set(search.seen)]
    best = sorted(unseen, key=lambda passage: (-priority(passage, search), passage.id))[: settings.batch]
    # With its priority for a score: what does not fit the window is the least promising, and next in turn.
    batch = tuple(passage.model_copy(update={"score": priority(passage, search)}) for passage in best)
    if not batch:
        return {}
    slots = {"question": state["question"], "facts": list(search.facts), "expected": ", ".join(search.expected) or "anything that helps"}
    unread = f"round {search.round + 1} of reading was lost, and its {len(batch)} passages with it"
    reply, update = await model_call(state, FILTER, batch, field="relevance", instead=unread, **slots)
    if "stopped_by" in update:
        return {**update, "search": search.model_copy(update={"round": settings.rounds})}
    after, suggested = remember(search, reply, settings) if reply else (lose(search, batch), "")
    update |= {"search": after}
    if suggested and suggested.casefold() not in {branch.question.casefold() for branch in state["tree"].values()}:
        update["tree"] = {branch.path: branch for branch in sprout(state["tree"], ROOT, [(suggested, "question", "open")])}
    if after.round >= settings.rounds and not enough(after, settings):
        update["stopped_by"] = "rounds"
    return update


def priority(passage: Passage, search: Search) -> float:
    """Weigh a passage: cosine + 0.3 for a promising file + 0.2 for a promising page + 0.1 a keyword."""
    text = plain(f"{passage.title} {passage.text}")
    keywords = sum(plain(word) in text for word in search.keywords if word.strip())
    file = passage.source in {form for name in search.files for form in (name, file_of(name))}
    page = passage.place != passage.source and passage.place in search.pages
    return passage.score + FILE_BONUS * file + PAGE_BONUS * page + KEYWORD_BONUS * keywords


def file_of(name: str) -> str:
    """Read a file off a source as a prompt shows it, which ends in the page of a PDF: `report.pdf:3`."""
    file, _, page = name.rpartition(":")
    return file if page.isdigit() else name


def plain(text: str) -> str:
    """Fold case and Unicode forms, so that keywords match in any script."""
    return unicodedata.normalize("NFKC", text).casefold()


def remember(search: Search, reply: Reply[Filtered], settings: IterativeSettings) -> tuple[Search, str]:
    """Add what a round found to the memory; give the query to search next, if it has come to that."""
    said = reply.value
    poor = search.poor_rounds + 1 if said.relevance < settings.low_relevance else 0
    suggested = said.suggested.strip() if poor >= settings.patience else ""
    kept = [reply.passages[n - 1].id for n in said.relevant if 0 < n <= len(reply.passages)]
    after = search.model_copy(
        update={
            "round": search.round + 1,
            "seen": joined(search.seen, [passage.id for passage in reply.passages]),
            "relevant": joined(search.relevant, kept),
            "facts": joined(search.facts, said.facts),
            "files": joined(search.files, copied(said.files)),
            "pages": joined(search.pages, copied(said.pages)),
            "poor_rounds": 0 if suggested else poor,
            "sufficient": said.is_sufficient,
        }
    )
    return after, suggested


def copied(names: list[str]) -> list[str]:
    """Take names as they were before the prompt showed them as attributes."""
    return [unescape(name.strip()) for name in names]


def lose(search: Search, batch: tuple[Passage, ...]) -> Search:
    """Count a batch as read whose round came to nothing: a reply that fails once would fail again."""
    seen = joined(search.seen, [passage.id for passage in batch])
    return search.model_copy(update={"round": search.round + 1, "lost": search.lost + 1, "seen": seen})


def joined(old: tuple[str, ...], new: list[str]) -> tuple[str, ...]:
    """Append what is new, each once."""
    return tuple(dict.fromkeys((*old, *(text for text in new if text.strip()))))


def enough(search: Search, settings: IterativeSettings) -> bool:
    """Tell whether the loop has what it needs: facts enough, or the model says so."""
    return search.sufficient or len(search.facts) >= settings.enough_facts


def stops(state: IterativeState, settings: IterativeSettings) -> bool:
    """Tell whether the filter loop is over: enough, rounds used up, or nothing left to read."""
    search = state["search"]
    more = any(branch.status == "open" for branch in state["tree"].values()) or set(state["passages"]) - set(search.seen)
    return enough(search, settings) or search.round >= settings.rounds or not more


@whole(takes=("found", "open"), gives=("leaf", "pruned"), when=stops)
async def settle(state: IterativeState, settings: IterativeSettings) -> Update:
    """Make each searched branch a leaf with its relevant passages; one that found none is pruned."""
    relevant = set(state["search"].relevant)
    branches = [branch for branch in state["tree"].values() if branch.status in {"found", "open"}]
    return {"tree": {branch.path: _settled(branch, relevant) for branch in branches}}


def _settled(branch: Branch, relevant: set[str]) -> Branch:
    kept = tuple(key for key in branch.evidence if key in relevant)
    if not kept:
        return branch.to("pruned", note=f"none of its {len(branch.evidence)} passages was found relevant")
    return branch.to("leaf", evidence=kept, note=f"{len(kept)} of {len(branch.evidence)} passages found relevant")

"""Steps of chains: the next question, search or thought, and what a search gave.

next_question (CoR-RAG), follow_up (Self-Ask, Press et al. 2023, figure 3), search_or_answer (ReAct, Yao et al. 2023, §2; the actions of
Search-o1), next_thought (IRCoT, Trivedi et al. 2023, §3), condense (reason-in-documents, Search-o1, Li et al. 2025, §3.4).
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any, TypeAlias

from ramify.nodes.answer import with_answer
from ramify.nodes.asking.ask import Reply, ask, ask_writer, chosen_splitter
from ramify.nodes.settings import ChainSettings, IrcotSettings, RetrievalChainSettings
from ramify.nodes.step import UNSPLIT, Context, branch_step, with_warning
from ramify.nodes.step.findings import rank_passages, to_finding
from ramify.nodes.tree import ROOT, Branch, Passage, ancestors, normalized_key
from ramify.nodes.tree.answers import fill_references, normalize_references, reference_numbers
from ramify.nodes.tree.notes import read_missing_note
from ramify.prompts import CONDENSE, FOLLOW_UP, NEXT_QUESTION, NEXT_THOUGHT, SEARCH_OR_ANSWER, Concluded, Finding, Next
from ramify.prompts.chain import NextSearch
from ramify.prompts.decompose import DECOMPOSE
from ramify.prompts.prompt import NO_ANSWER
from ramify.tools.errors import ReplyError

NextReply: TypeAlias = Reply[Next] | Reply[Concluded] | Reply[NextSearch]


@branch_step()
async def next_question(branch: Branch, context: Context[RetrievalChainSettings]) -> list[Branch]:
    """Ask the next sub-question; stop if the history suffices, the question repeats, or an answer that it needs is missing.

    Where the embedded writer splits (`splitter`), it asks, and the root gets the answer that follows from the others, if one does.
    """

    async def ask_next(**slots: Any) -> NextReply:
        splitter = await asyncio.to_thread(chosen_splitter, context.settings)
        if splitter == "both":
            pair = await ask_writer(DECOMPOSE, question=slots["question"], dependent=True, rejected=[], kept="")
            splitter = "model" if pair is None or pair.value.simple else "embedded"
        written = None if splitter == "model" else await ask_writer(FOLLOW_UP, **slots)
        if written is None:
            return await ask(NEXT_QUESTION, field="question", **slots)
        return replace(written, confidence_source=branch.confidence_source or written.confidence_source)

    return await next_link(branch, context, ask_next)


async def next_link(branch: Branch, context: Context[Any], ask_next: Callable[..., Awaitable[NextReply]]) -> list[Branch]:
    """Continue a chain by one reply: return its next branch, or its end with the root's answer, if the reply gives one."""
    chain = [*ancestors(context.tree, branch.path), branch]  # each hangs from all before it
    root, asked = chain[0], chain[1:]
    try:
        reply = await ask_next(question=root.question, history=chain_history(chain, context.state["passages"]))
    except ReplyError as error:
        return [with_warning(error, branch if not asked else branch.with_status("leaf"), UNSPLIT if not asked else "the chain ends here")]
    written = normalize_references(reply.value.question, [root.question])
    wanted = fill_references(written, [previous.answer if previous.known else None for previous in asked])
    if asked and wanted is None:
        return [branch.with_status("leaf", note=f"the sub-question refers to a missing answer: {reply.value.question!r}")]
    template = written if wanted and reference_numbers(written) else ""
    following = Branch(path=f"{branch.path}.0", question=wanted or root.question, template=template)
    repeated = normalized_key(following) in {normalized_key(previous) for previous in asked}
    if asked and (reply.value.done or repeated):
        end = branch.with_status("leaf", note="the sub-question repeats" if repeated and not reply.value.done else "the history suffices")
        return [*_root_answer(root, asked, reply), end]
    if not asked:
        return [branch.with_status("split", together=reply.value.together), following]
    changed_root = [root.with_status(root.status, together=reply.value.together)] if reply.value.together else []
    return [*changed_root, branch.with_status("inner"), following]


def _root_answer(root: Branch, asked: list[Branch], reply: NextReply) -> list[Branch]:
    """Return the root with the answer that a reply concludes with and the chain's citations; empty if there is none."""
    if not (isinstance(reply.value, Concluded) and reply.value.done and reply.value.answer.strip()):
        return []
    cited = tuple(dict.fromkeys(key for previous in asked if previous.known for key in previous.cited))
    stated = {"confidence": reply.confidence, "confidence_source": reply.confidence_source}
    return [root.with_status(root.status, answer=reply.value.answer.strip(), cited=cited, aggregated=True, **stated)]


def chain_history(chain: Sequence[Branch], passages: Mapping[str, Passage]) -> list[Finding]:
    """Return what a chain, its root first, has asked so far, as prompts show it."""
    cited = {key for previous in chain for key in previous.cited}
    known = {key: passage for key, passage in sorted(passages.items()) if key in cited}
    return [_with_known_part(previous, to_finding(previous, known, chain[: previous.depth])) for previous in chain[1:]]


def _with_known_part(branch: Branch, finding: Finding) -> Finding:
    """Return a finding of an unanswered branch with what is known of it in place of the answer."""
    if branch.known:
        return finding
    missing = read_missing_note(branch.note)
    return Finding(**{**finding, "answer": f"{NO_ANSWER} ({missing})" if missing else NO_ANSWER})


@branch_step()
async def follow_up(branch: Branch, context: Context[ChainSettings]) -> list[Branch]:
    """Ask a follow-up question, or answer from the intermediate answers; if none is needed at first, ask the question itself."""
    return await next_link(branch, context, partial(ask, FOLLOW_UP))


@branch_step()
async def search_or_answer(branch: Branch, context: Context[ChainSettings]) -> list[Branch]:
    """Write the next search query, or answer from what the searches gave; nothing is answered before the first search."""
    return await next_link(branch, context, partial(ask, SEARCH_OR_ANSWER))


_ANSWER = re.compile(r"\banswer is\b:?\s*(?P<answer>.+)", re.IGNORECASE)
"""The conclusion of a chain of thought."""


@branch_step()
async def next_thought(branch: Branch, context: Context[IrcotSettings]) -> list[Branch]:
    """Write the next sentence from all passages found so far; a concluding sentence gives the root its answer.

    An empty or repeated sentence ends the chain, because it would find nothing new.
    """
    chain = [*ancestors(context.tree, branch.path), branch]
    thoughts, passages = chain[1:], tuple(rank_passages(context.state, chain)[: context.settings.final_k])
    sentences = [thought.question for thought in thoughts]
    try:
        reply = await ask(NEXT_THOUGHT, passages, field="sentence", question=chain[0].question, sentences=sentences)
    except ReplyError as error:
        return [with_warning(error, branch.with_status("leaf"), "the chain of thought ends here")]
    divided = branch.with_status("split" if branch.path == ROOT else "inner")
    following = Branch(path=f"{branch.path}.0", question=reply.value.sentence.strip() or branch.question, confidence=reply.confidence)
    if normalized_key(following) in {normalized_key(previous) for previous in chain}:
        return [branch.with_status("leaf", note=branch.with_note("the chain of thought says nothing new"))]
    if (concluded := _ANSWER.search(following.question)) is None:
        return [divided, following]
    root = divided if branch.path == ROOT else chain[0]
    confidence = prod(thought.confidence or 0.0 for thought in (*thoughts, following))
    answered = root.with_status(
        root.status, answer=concluded["answer"].strip(" ."), confidence=confidence, confidence_source=reply.confidence_source
    )
    return [answered, *([] if branch.path == ROOT else [divided]), following.with_status("leaf")]


@branch_step()
async def condense(branch: Branch, context: Context[ChainSettings]) -> list[Branch]:
    """Say in few sentences what the passages of a search give for the question, in the light of the searches before it."""
    before = [previous for previous in ancestors(context.tree, branch.path) if previous.path != ROOT]
    history = [to_finding(previous, {}, ()) for previous in before]
    question = context.tree[ROOT].question
    reply = await ask(CONDENSE, context.passages(branch), question=question, query=branch.question, history=history)
    return [with_answer(branch, reply, "answered")]

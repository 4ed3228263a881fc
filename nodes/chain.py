"""next_question: ask the next sub-question of a chain, or stop (CoR-RAG); and the continuation that all chains share."""

from typing import TypeVar

from ramify.nodes.asking.ask import Reply, ask
from ramify.nodes.settings import ChainSettings
from ramify.nodes.step import UNSPLIT, Context, branch_step, with_warning
from ramify.nodes.step.findings import to_finding
from ramify.nodes.tree import Branch, ancestors, normalized_key
from ramify.nodes.tree.answers import fill_references, normalize_references
from ramify.nodes.tree.notes import read_missing_note
from ramify.prompts import NEXT_QUESTION, Concluded, Finding, Next, Prompt
from ramify.prompts.prompt import NO_ANSWER
from ramify.tools.errors import ReplyError

N = TypeVar("N", bound=Next)


@branch_step()
async def next_question(branch: Branch, context: Context[ChainSettings]) -> list[Branch]:
    """Ask the next sub-question; stop if the history suffices, the question repeats, or an answer that it needs is missing."""
    return await next_link(branch, context, NEXT_QUESTION, "question")


async def next_link(branch: Branch, context: Context[ChainSettings], prompt: Prompt[N], field: str) -> list[Branch]:
    """Continue a chain by one call: return its next branch, or its end with the root's answer, if the reply gives one."""
    tip, before = branch, ancestors(context.tree, branch.path)
    chain = [*before, tip]  # each hangs from all before it
    root, asked = chain[0], chain[1:]
    cited = {key for link in chain for key in link.cited}
    passages = {key: passage for key, passage in sorted(context.state["passages"].items()) if key in cited}
    history = [_with_known_part(link, to_finding(link, passages, chain[: link.depth])) for link in asked]
    try:
        reply = await ask(prompt, field=field, question=root.question, history=history)
    except ReplyError as error:
        return [with_warning(error, tip if not asked else tip.with_status("leaf"), UNSPLIT if not asked else "the chain ends here")]
    wanted = fill_references(
        normalize_references(reply.value.question, [root.question]), [link.answer if link.known else None for link in asked]
    )
    if asked and wanted is None:
        return [tip.with_status("leaf", note=f"the sub-question refers to a missing answer: {reply.value.question!r}")]
    following = Branch(path=f"{tip.path}.0", question=wanted or root.question)
    repeated = normalized_key(following) in {normalized_key(link) for link in asked}
    if asked and (reply.value.done or repeated):
        end = tip.with_status("leaf", note="the sub-question repeats" if repeated and not reply.value.done else "the history suffices")
        return [*_root_answer(root, asked, reply), end]
    if not asked:
        return [tip.with_status("split", together=reply.value.together), following]
    told = [root.with_status(root.status, together=reply.value.together)] if reply.value.together else []
    return [*told, tip.with_status("inner"), following]


def _root_answer(root: Branch, asked: list[Branch], reply: Reply[N]) -> list[Branch]:
    """Return the root with the answer that a reply concludes with and the chain's citations; empty if there is none."""
    if not (isinstance(reply.value, Concluded) and reply.value.done and reply.value.answer.strip()):
        return []
    cited = tuple(dict.fromkeys(key for link in asked if link.known for key in link.cited))
    sure = {"confidence": reply.confidence, "confidence_source": reply.confidence_source}
    return [root.with_status(root.status, answer=reply.value.answer.strip(), cited=cited, aggregated=True, **sure)]


def _with_known_part(link: Branch, found: Finding) -> Finding:
    """Return a finding of an unanswered branch with what is known of it in place of the answer."""
    if link.known:
        return found
    told = read_missing_note(link.note)
    return Finding(**{**found, "answer": f"{NO_ANSWER} ({told})" if told else NO_ANSWER})

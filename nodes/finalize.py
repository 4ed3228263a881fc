"""finalize: answer the whole question with the root's answer, otherwise in one call from the tree and its best passages.

Where branches answer the whole question, too, and the answers conflict, the call alone does not decide: see `conflicts`.
"""

from ramify.nodes.settings import Settings
from ramify.nodes.state import State
from ramify.nodes.step import Context, Update, call_model
from ramify.nodes.step.conflicts import FINAL_CALL, Rival, Settled, answers_in_tree, settle_conflict
from ramify.nodes.step.final_step import final_step
from ramify.nodes.step.findings import branches_for_final_call, rank_passages, to_finding
from ramify.nodes.step.text import cite_reply, make_citations, parse_sentences, text_streamer, text_update
from ramify.nodes.tree import DROPPED, ROOT, UNKNOWN, Branch, ancestors, is_unknown
from ramify.nodes.tree.citation import without_trailing_marks
from ramify.prompts import FINALIZE


@final_step
async def finalize(context: Context[Settings]) -> Update:
    """Conclude with the root's answer if it has one, else from findings and their best passages (conflicts: trust, majority, fit)."""
    state, settings = context.state, context.settings
    root = state["tree"][ROOT]
    others = any(branch.known for branch in state["tree"].values() if branch.path != ROOT and branch.status not in DROPPED)
    if root.aggregated or not context.final_call or (root.status == "leaf" and (root.known or not (others or root.answer is None))):
        return root_conclusion(state, root)
    branches = branches_for_final_call(state, settings)
    searched = {branch.path: branch for branch in (root, *branches)}.values()  # what the whole question found counts, too
    passages = tuple(rank_passages(state, searched, by_value=settings.final_call_branches == "leaves")[: settings.final_k])
    if not passages and not any(branch.known for branch in branches):
        return {"answer": UNKNOWN, "explanation": root.note}
    findings = [to_finding(branch, state["passages"], ancestors(state["tree"], branch.path)) for branch in branches]
    reply, update = await call_model(state, FINALIZE, passages, on_text=text_streamer(state), question=state["question"], findings=findings)
    if reply is None:
        return {**root_conclusion(state, root), **update}
    answer = without_trailing_marks(reply.value.answer)
    concluded = {
        "answer": UNKNOWN if is_unknown(answer) else answer,
        "confidence": reply.confidence,
        "confidence_source": reply.confidence_source,
        "settled_by": reply.value.settled_by,
        **cite_reply(state, answer, reply),
    }
    final = Rival(FINAL_CALL, answer, reply.confidence, reply.cited_ids())
    found = [] if is_unknown(answer) else answers_in_tree(state["tree"])
    settled = settle_conflict(found, final, state["passages"], getattr(settings, "trust", None))
    return {**update, **(concluded if settled is None else _settle(state, settled, concluded))}


def _settle(state: State, settled: Settled, concluded: Update) -> Update:
    """Return an update with the answer that counts in a conflict, what settled it, and a note of that at the root."""
    root = state["tree"][ROOT]
    if settled.rival is None:
        concluded = {"answer": UNKNOWN, "explanation": root.note}
    elif settled.rival.by != FINAL_CALL:
        quoted = text_update([])  # its text is quoted, which takes no further call
        concluded = {**quoted, **root_conclusion(state, state["tree"][settled.rival.by])}
    return {**concluded, "settled_by": settled.step, "tree": {ROOT: root.with_status(root.status, note=root.with_note(settled.note))}}


def root_conclusion(state: State, root: Branch) -> Update:
    """Return an update with the answer of the root, or of a branch that answers its question; Unknown, with its note, without one."""
    if root.answer is None:
        return {"answer": UNKNOWN, "explanation": root.note}
    citations = make_citations(state, root.answer, root.cited, root.evidence) if root.known else []
    written = text_update(parse_sentences(root.text, {number: [number] for number in range(1, len(root.cited) + 1)})) if root.text else {}
    return {
        "answer": root.answer if root.known else UNKNOWN,
        "confidence": root.confidence or 0.0,
        "confidence_source": root.confidence_source,
        "citations": citations,
        **written,
    }

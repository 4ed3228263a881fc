"""prune: drop a weak fork (ToR-RAG) or a useless batch (GraphRAG), or reject an answer (PruneRAG), with the reason; expand: keep a fork."""

from ramify.nodes.asking.ask import answerer_class
from ramify.nodes.settings import EMBEDDED, Settings, TorSettings, TreeSettings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.tree import UNKNOWN, Branch
from ramify.nodes.tree.answers import accepted_answer, confidence_note, sibling_of
from ramify.nodes.tree.notes import figure, unsure_note

NO_HELP = "score 0: nothing in it helps"
UNSURE_HOP = "the answer before it is too unsure to build on"
UNFILLABLE = f"the question before it has no answer ({UNKNOWN})"
UNANSWERED = "neither half has an answer"


@branch_step()
async def prune(branch: Branch, context: Context[Settings]) -> list[Branch]:
    """Drop a fork's pair, a batch, or a branch that waits for a failed hop; an answer gets an objection and stays if none is better."""
    if branch.kind == "batch":
        return [branch.with_status("pruned", note=branch.with_note(NO_HELP))]
    if branch.status == "waiting":
        return [branch.with_status("pruned", note=branch.with_note(_hop_note(context, branch)))]
    if branch.status == "split":
        halves = [half for half in context.pair(branch) if half.status != "failed"]  # failed ones keep their status, note and passages
        pruned = [half.with_status("pruned", note=half.with_note(_fork_note(branch, context.settings))) for half in halves]
        return [branch.with_status("open" if branch.answer is None else "answered", objection=""), *pruned]
    settings, objection = context.settings, "not accepted"
    if isinstance(settings, TreeSettings):
        is_calibrated = branch.confidence_source == "reader" and settings.threshold == answerer_class(EMBEDDED).tau
        objection = unsure_note(branch.confidence, settings.threshold, EMBEDDED if is_calibrated else "")
    note = branch.note if objection in branch.note else branch.with_note(objection)
    return [branch.with_status("answered", objection=objection, note=note)]


def _hop_note(context: Context[Settings], branch: Branch) -> str:
    sibling = sibling_of(context.tree, branch)
    settled = accepted_answer(context.tree, sibling)
    if settled is None or not settled.known:
        return f"{UNFILLABLE}: {sibling.path}"
    return f"{UNSURE_HOP}: {settled.path}, {confidence_note(settled)}"


def _fork_note(fork: Branch, settings: Settings) -> str:
    if fork.objection:
        return fork.objection
    if fork.score is None or not isinstance(settings, TorSettings):
        return UNANSWERED
    return f"fork scored {figure(fork.score)}, below theta {settings.theta:g}"


@branch_step()
async def expand(branch: Branch, context: Context[Settings]) -> list[Branch]:
    """Keep a fork, and return it with its answered halves."""
    return [branch.with_status("inner"), *(half for half in context.pair(branch) if half.status == "answered")]

"""prune: drop what does not hold, and say why (ToR-RAG: a fork; PruneRAG: an answer's acceptance; GraphRAG: a batch without use)."""

from ramify.nodes.settings import EMBEDDED, Settings, TorSettings, TreeSettings
from ramify.nodes.step import Context, StepResult, branch_step, result
from ramify.nodes.tree import Branch
from ramify.nodes.tree.notes import unsure
from ramify.tools.reader.calibration import TAU

USELESS = "score 0: nothing in it helps"
UNANSWERED = "neither half has an answer"


@branch_step()
async def prune(branch: Branch, context: Context[Settings]) -> StepResult:
    """Drop the pair of a fork, or a batch; object to an answer, which is kept, marked unsure, where nothing better comes of it."""
    if branch.kind == "batch":
        return result(branch.to("pruned", note=branch.noted(USELESS)))
    if branch.status == "split":
        halves = [half for half in context.pair(branch) if half.status != "failed"]  # what failed says so, and keeps what was found
        pruned = [half.to("pruned", note=half.noted(_reason(branch, context.settings))) for half in halves]
        return result(branch.to("open" if branch.answer is None else "answered", score=branch.score, objection=""), *pruned)
    objection = _unsure(branch, context.settings)
    note = branch.note if objection in branch.note else branch.noted(objection)
    return result(branch.to("answered", objection=objection, note=note))


def _reason(fork: Branch, settings: Settings) -> str:
    if fork.objection:
        return fork.objection
    if fork.score is None or not isinstance(settings, TorSettings):
        return UNANSWERED
    return f"fork scored {fork.score:.2f}, below theta {settings.theta:g}"


def _unsure(branch: Branch, settings: Settings) -> str:
    if not isinstance(settings, TreeSettings):
        return "not accepted"
    calibrated = EMBEDDED if branch.confidence_source == "reader" and settings.threshold == TAU else ""
    return unsure(branch.confidence, settings.threshold, calibrated)

"""map_report: answer the whole question from one batch, and say how helpful that is (GraphRAG §2, map)."""

from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import GlobalSettings
from ramify.nodes.step import Context, StepResult, branch_step, result
from ramify.nodes.tree import Branch
from ramify.prompts import MAP_REPORT


@branch_step()
async def map_report(branch: Branch, context: Context[GlobalSettings]) -> StepResult:
    """Answer from one batch; its score is its helpfulness."""
    passages = context.passages(branch)
    reply = await ask(MAP_REPORT, passages, field="", question=branch.question)
    left = len(passages) - len(reply.passages)
    note = f"{left} of {len(passages)} did not fit into the prompt" if left else ""
    answer = reply.value.text
    score = reply.value.helpfulness / 100 if answer else 0.0
    return result(branch.to("answered", answer=answer, score=score, cited=reply.cited() if score else (), note=branch.noted(note)))

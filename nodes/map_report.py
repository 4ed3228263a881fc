"""map_report: answer the whole question from one batch, and say how helpful that is (GraphRAG §2, map)."""

from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import GlobalSettings
from ramify.nodes.step import Growth, each, grow
from ramify.nodes.step.selection import Found, reading
from ramify.prompts import MAP_REPORT


@each(reading("found"), gives=("judged",))
async def map_report(found: Found, settings: GlobalSettings) -> Growth:
    """Answer from one batch; its score is its helpfulness."""
    reply = await ask(MAP_REPORT, found.passages, field="", question=found.branch.question)
    left = len(found.passages) - len(reply.passages)
    note = f"{left} of {len(found.passages)} did not fit into the prompt" if left else ""
    answer = reply.value.text
    score = reply.value.helpfulness / 100 if answer else 0.0
    cited = reply.cited() if score else ()
    return grow(found.branch.to("judged", answer=answer, score=score, cited=cited, note=found.branch.noted(note)))

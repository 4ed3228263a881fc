"""map_report: list what one batch says of the whole question, point by point, each with its score and its reports (GraphRAG §2, map)."""

from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import GlobalSettings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.tree import Branch, Point
from ramify.prompts import MAP_REPORT


@branch_step()
async def map_report(branch: Branch, context: Context[GlobalSettings]) -> list[Branch]:
    """Record the helpful points of a batch; its score is that of the best point, 0 if none helps."""
    passages = context.passages(branch)
    reply = await ask(MAP_REPORT, passages, field="", question=branch.question)
    read = {number: passage.id for number, passage in enumerate(reply.passages, 1)}
    found, unread = reply.value.scored
    points = [
        Point(text=point.text, score=point.score / 100, cited=tuple(dict.fromkeys(filter(None, map(read.get, point.reports)))))
        for point in found
        if point.score
    ]
    left = len(passages) - len(read)
    notes = (
        f"{left} of {len(passages)} did not fit into the prompt" if left else "",
        f"{unread} of {unread + len(found)} points could not be read" if unread else "",
    )
    return [
        branch.with_status(
            "answered",
            answer="\n".join(point.text for point in points),
            points=points,
            score=max((point.score for point in points), default=0.0),
            cited=tuple(dict.fromkeys(id for point in points for id in point.cited)),
            note=branch.with_note("; ".join(filter(None, notes))),
        )
    ]

"""extract_entities: name what to look up where a question cannot be split (PruneRAG's fine-grained retrieval)."""

from ramify.nodes.asking.ask import ask
from ramify.nodes.decompose import children_of
from ramify.nodes.settings import Settings
from ramify.nodes.step import Growth, each, grow
from ramify.nodes.step.selection import ReadFork, read_fork
from ramify.nodes.tree.references import normal
from ramify.prompts import ENTITIES


@each(read_fork("atomic"), gives=("split", "open"))
async def extract_entities(given: ReadFork, settings: Settings) -> Growth:
    """Name one or two entities and open a branch for each; without any the branch stays a leaf of low confidence."""
    reply = await ask(ENTITIES, given.passages, question=given.branch.question)
    names = distinct(reply.value.entities)
    if not names:
        return grow(given.branch.to("leaf", note=given.branch.noted("cannot be split, and names no entity to look up")))
    return grow(given.branch.to("split"), *children_of(given, names, "entity"))


def distinct(names: list[str]) -> list[str]:
    """Keep the first two different names; a reference to another's answer is none."""
    return list(dict.fromkeys(name.strip() for name in names if name.strip() and "{" not in normal(name)))[:2]

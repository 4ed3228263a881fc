"""Descriptions of elements and reports on communities by a language model (GraphRAG §1); failed reports become quotations."""

import re
from collections.abc import Callable, Sequence

from ramify.nodes.building.reply_cache import CachedModel, max_parallel_calls, run_concurrently
from ramify.nodes.settings import BuildSettings
from ramify.prompts import DESCRIBE, REPORT, Reported
from ramify.prompts.report import RATING
from ramify.tools.errors import BudgetError, ReplyError
from ramify.tools.knowledge.elements import Entity, Graph, Knowledge, Relation, Told, joined, settled
from ramify.tools.knowledge.reports import Finding, Material, Report, fill
from ramify.tools.knowledge.rule_builder import quoted_report

_NUMBERS = re.compile(r"\s*\[([\d,;\s]+)\]\s*\.?\s*$")
_PROMPT_TOKENS = 600
"""Tokens reserved for the rest of the prompt."""
_LONG_TOKENS = 500
"""From this many tokens on, the descriptions of an element are summarized by a call."""


async def describe(knowledge: Knowledge, model: CachedModel[BuildSettings], report_progress: Callable[[int], None]) -> Graph:
    """Return the graph with one description per element: all of them joined; summarized by the model if that is long."""
    elements: list[Entity | Relation] = [*knowledge.entities.values(), *knowledge.relations.values()]
    long = [one for one in elements if model.count(joined(one.told).text) > _LONG_TOKENS]

    async def sum_up(element: Entity | Relation) -> Told:
        name = element.name if isinstance(element, Entity) else "a connection"
        try:
            reply = await model.ask(DESCRIBE, "description", name=name, descriptions=[one.text for one in element.told])
        except ReplyError:
            return joined(element.told)
        return Told(reply.description, element.told[0].passage)

    made = await run_concurrently(sum_up, long, max_parallel_calls(model.settings), report_progress)
    described = {tuple(one.told): text for one, text in zip(long, made, strict=True) if isinstance(text, Told)}
    return settled(knowledge, lambda said, names: described.get(tuple(said)) or joined(said))


def report_tokens(material: Material, model: CachedModel[BuildSettings]) -> int:
    """Count the tokens of the prompt that asks for a report."""
    prompt = REPORT.with_options(model.settings.thought, model.settings.shots)
    return sum(model.count(message.text) for message in prompt.render({"material": [line.text for line in _select_lines(material, model)]}))


async def write_reports(
    materials: Sequence[Material], model: CachedModel[BuildSettings], report_progress: Callable[[int], None]
) -> list[Report]:
    """Return reports on communities, written concurrently."""

    async def write(material: Material) -> Report:
        if material.community.level >= model.settings.report_levels:
            return quoted_report(material)
        lines = _select_lines(material, model)
        if not lines:  # the model described nothing of it, and no sentence has two of its names
            return quoted_report(material)
        try:
            reply: Reported = await model.ask(REPORT, "summary", material=[line.text for line in lines])
        except ReplyError:
            return quoted_report(material)
        return _report(material, lines, reply, model.name)

    made = await run_concurrently(write, materials, max_parallel_calls(model.settings), report_progress)
    return [
        quoted_report(material) if isinstance(report, BudgetError) else report for material, report in zip(materials, made, strict=True)
    ]


def _select_lines(material: Material, model: CachedModel[BuildSettings]) -> list[Told]:
    return fill(material, model.prompt_room(_PROMPT_TOKENS), model.count)


def _report(material: Material, lines: Sequence[Told], reply: Reported, made_by: str) -> Report:
    findings = tuple(_finding(text, lines) for text in reply.findings if text.strip())
    rating = round(RATING * reply.importance, 1)
    title = reply.title or ", ".join(list(material.names.values())[:3])
    return Report(material.community.id, title, reply.summary, rating, findings, made_by, material.digest)


def _finding(text: str, lines: Sequence[Told]) -> Finding:
    """Return a finding with the passages of the lines it cites by number, by default that of the first line."""
    match = _NUMBERS.search(text)
    numbers = [int(number) for number in re.findall(r"\d+", match[1])] if match else []
    passages = dict.fromkeys(lines[number - 1].passage for number in numbers if 0 < number <= len(lines))
    return Finding(text[: match.start()].strip() if match else text.strip(), tuple(passages) or (lines[0].passage,))

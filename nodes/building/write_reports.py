"""Sum up elements and report on communities with a language model (GraphRAG §1); where a report fails, one is quoted, and marked so."""

import re
from collections.abc import Callable, Sequence

from ramify.nodes.building.kept_replies import KeptModel, at_once, side_by_side
from ramify.nodes.settings import BuildSettings
from ramify.prompts import DESCRIBE, REPORT, Reported
from ramify.prompts.report import RATING
from ramify.tools.errors import BudgetError, ReplyError
from ramify.tools.knowledge.elements import Description, Entity, Graph, Knowledge, Relation, join_descriptions, to_graph
from ramify.tools.knowledge.reports import Report, ReportFinding, ReportMaterial, fill_window
from ramify.tools.knowledge.rule_builder import extractive_report

_NUMBERS = re.compile(r"\s*\[([\d,;\s]+)\]\s*\.?\s*$")
_TOLD = 600
"""Tokens left for what the prompt says beside its material."""
_LONG = 500
"""Tokens from which on what was said of an element is summed up by a call."""


async def describe(knowledge: Knowledge, model: KeptModel[BuildSettings], on_done: Callable[[int], None]) -> Graph:
    """Give each element one description: what was said of it, joined; summed up by the model where that is long."""
    elements: list[Entity | Relation] = [*knowledge.entities.values(), *knowledge.relations.values()]
    long = [one for one in elements if model.count(join_descriptions(one.descriptions).text) > _LONG]

    async def sum_up(element: Entity | Relation) -> Description:
        name = element.name if isinstance(element, Entity) else "a connection"
        try:
            reply = await model.ask(DESCRIBE, "description", name=name, told=[one.text for one in element.descriptions])
        except ReplyError:
            return join_descriptions(element.descriptions)
        return Description(reply.description, element.descriptions[0].passage)

    made = await side_by_side(sum_up, long, at_once(model.settings), on_done)
    described = {tuple(one.descriptions): text for one, text in zip(long, made, strict=True) if isinstance(text, Description)}
    return to_graph(knowledge, lambda said, names: described.get(tuple(said)) or join_descriptions(said))


def report_tokens(material: ReportMaterial, model: KeptModel[BuildSettings]) -> int:
    """Count the tokens of the prompt that asks for a report."""
    prompt = REPORT.told_with(model.settings.thought, model.settings.shots)
    return sum(model.count(message.text) for message in prompt.render({"material": [line.text for line in _shown(material, model)]}))


async def write_reports(
    materials: Sequence[ReportMaterial], model: KeptModel[BuildSettings], on_done: Callable[[int], None]
) -> list[Report]:
    """Report on communities side by side."""

    async def write(material: ReportMaterial) -> Report:
        if material.community.level >= model.settings.report_levels:
            return extractive_report(material)
        lines = _shown(material, model)
        if not lines:  # the model described nothing of it, and no sentence has two of its names
            return extractive_report(material)
        try:
            reply: Reported = await model.ask(REPORT, "summary", material=[line.text for line in lines])
        except ReplyError:
            return extractive_report(material)
        return _report(material, lines, reply, model.name)

    made = await side_by_side(write, materials, at_once(model.settings), on_done)
    return [
        extractive_report(material) if isinstance(report, BudgetError) else report for material, report in zip(materials, made, strict=True)
    ]


def _shown(material: ReportMaterial, model: KeptModel[BuildSettings]) -> list[Description]:
    return fill_window(material, model.room(_TOLD), model.count)


def _report(material: ReportMaterial, lines: Sequence[Description], reply: Reported, made_by: str) -> Report:
    findings = tuple(_finding(text, lines) for text in reply.findings if text.strip())
    rating = round(RATING * reply.importance, 1)
    title = reply.title or ", ".join(list(material.names.values())[:3])
    return Report(material.community.id, title, reply.summary, rating, findings, made_by, material.digest)


def _finding(text: str, lines: Sequence[Description]) -> ReportFinding:
    """Lead from the numbers of lines to their passages; a finding without any rests on what the first line rests on."""
    match = _NUMBERS.search(text)
    numbers = [int(number) for number in re.findall(r"\d+", match[1])] if match else []
    passages = dict.fromkeys(lines[number - 1].passage for number in numbers if 0 < number <= len(lines))
    return ReportFinding(text[: match.start()].strip() if match else text.strip(), tuple(passages) or (lines[0].passage,))

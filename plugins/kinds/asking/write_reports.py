"""Descriptions of elements and reports on communities by a language model (GraphRAG §1); failed reports become quotations."""

import re
from collections.abc import Callable, Sequence

from ramify.kinds.asking.reply_cache import CachedModel, max_parallel_calls, run_concurrently
from ramify.kinds.knowledge.communities import ReportMaterial, fill_window
from ramify.kinds.knowledge.elements import Description, Entity, Graph, Knowledge, Relation, join_descriptions, to_graph
from ramify.kinds.knowledge.rule_builder import extractive_report
from ramify.kinds.prompts import DESCRIBE, REPORT, Reported
from ramify.kinds.prompts.report import RATING
from ramify.kinds.settings import BuildSettings
from ramify.tools.errors import BudgetError, ReplyError
from ramify.tools.index.reports import Report, ReportFinding

_NUMBERS = re.compile(r"(?<!\s)\s*+\[([\d,;\s]++)\]\s*+(?:\.\s*+)?$")
_PROMPT_TOKENS = 600
"""Tokens reserved for the rest of the prompt."""
_LONG_TOKENS = 500
"""From this many tokens on, the descriptions of an element are summarized by a call."""


async def describe(knowledge: Knowledge, model: CachedModel[BuildSettings], on_done: Callable[[int], None]) -> Graph:
    """Return the graph with one description per element: all of them joined; summarized by the model if that is long."""
    elements: list[Entity | Relation] = [*knowledge.entities.values(), *knowledge.relations.values()]
    long = [item for item in elements if model.count(join_descriptions(item.descriptions).text) > _LONG_TOKENS]

    async def sum_up(element: Entity | Relation) -> Description:
        name = element.name if isinstance(element, Entity) else "a connection"
        try:
            reply = await model.reply_to(DESCRIBE, "description", name=name, descriptions=[item.text for item in element.descriptions])
        except ReplyError:
            return join_descriptions(element.descriptions)
        return Description(reply.description, element.descriptions[0].passage)

    made = await run_concurrently(sum_up, long, max_parallel_calls(model.settings), on_done)
    described = {tuple(item.descriptions): text for item, text in zip(long, made, strict=True) if isinstance(text, Description)}
    return to_graph(knowledge, lambda said, names: described.get(tuple(said)) or join_descriptions(said))


def report_tokens(material: ReportMaterial, model: CachedModel[BuildSettings]) -> int:
    """Count the tokens of the prompt that asks for a report."""
    prompt = REPORT.with_options(model.settings.thought, model.settings.shots)
    return sum(model.count(message.text) for message in prompt.render({"material": [line.text for line in _select_lines(material, model)]}))


async def write_reports(
    materials: Sequence[ReportMaterial], model: CachedModel[BuildSettings], on_done: Callable[[int], None]
) -> list[Report]:
    """Return reports on communities, written concurrently."""

    async def write(material: ReportMaterial) -> Report:
        if material.community.level >= model.settings.report_levels:
            return extractive_report(material)
        lines = _select_lines(material, model)
        if not lines:  # the model described nothing of it, and no sentence has two of its names
            return extractive_report(material)
        try:
            reply: Reported = await model.reply_to(REPORT, "summary", material=[line.text for line in lines])
        except ReplyError:
            return extractive_report(material)
        return _report(material, lines, reply, model.name)

    made = await run_concurrently(write, materials, max_parallel_calls(model.settings), on_done)
    return [
        extractive_report(material) if isinstance(report, BudgetError) else report for material, report in zip(materials, made, strict=True)
    ]


def _select_lines(material: ReportMaterial, model: CachedModel[BuildSettings]) -> list[Description]:
    return fill_window(material, model.prompt_room(_PROMPT_TOKENS), model.count)


def _report(material: ReportMaterial, lines: Sequence[Description], reply: Reported, made_by: str) -> Report:
    findings = tuple(_finding(text, lines) for text in reply.findings if text.strip())
    rating = round(RATING * reply.importance, 1)
    title = reply.title or ", ".join(list(material.names.values())[:3])
    return Report(material.community.id, title, reply.summary, rating, findings, made_by, material.digest)


def _finding(text: str, lines: Sequence[Description]) -> ReportFinding:
    """Return a finding with the passages of the lines it cites by number, by default that of the first line."""
    match = _NUMBERS.search(text)
    numbers = [int(number) for number in re.findall(r"\d+", match[1])] if match else []
    passages = dict.fromkeys(lines[number - 1].passage for number in numbers if 0 < number <= len(lines))
    return ReportFinding(text[: match.start()].strip() if match else text.strip(), tuple(passages) or (lines[0].passage,))

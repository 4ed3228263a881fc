"""What a graph will cost, before it is built: a few units are read for a start, the rest is worked out from them."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ramify.graphs.building.build import ByModel
from ramify.graphs.run import blocking
from ramify.nodes.asking.ask import current_model
from ramify.nodes.asking.budget import Budget, working
from ramify.nodes.building.write_reports import report_tokens
from ramify.nodes.settings import is_embedded
from ramify.nodes.settings.building import BuildSettings
from ramify.nodes.state import Usage
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.index.progress import Progress, silent
from ramify.tools.knowledge.build import Reading, Work, key_of
from ramify.tools.knowledge.communities import communities, weighted
from ramify.tools.knowledge.elements import Knowledge, Piece, quoted, settled, sum_up, units
from ramify.tools.knowledge.reports import Material, Materials, Report
from ramify.tools.knowledge.rule_builder import quoted_elements, quoted_report

PILOT, REPORTED = 20, 5
"""Units read where a model finds the names, and reports written where only these are a model's; a build does not ask for them again.

Where a model finds the names, no report is asked for: its communities are not known yet, and reports on others would be thrown away.
"""
REPORTS = (0.15, 0.4)
"""Reports for each passage, at least and at most: manuals have few; of a corpus full of names the sample shows how many more there are."""
REPLY = (150, 400)
"""Tokens of a report that a model writes, at least and at most."""
_SAMPLE = 300
"""Passages on which the speed of the rules is measured, and from which reports are made for a start."""
_ENCODED = 64
"""Passages on which the speed of the encoder is measured."""
T = TypeVar("T")
Range = tuple[float, float]


class Stage(NamedTuple):
    """A stage of a build: what there is to do, and what that costs from least to most."""

    name: str
    todo: str
    calls: Range = (0, 0)
    tokens: Range = (0, 0)
    seconds: Range = (0, 0)


class Cost(NamedTuple):
    """What something cost."""

    calls: int
    tokens: int
    seconds: float

    def stage(self, name: str, todo: str, times: Range) -> Stage:
        """Make a stage of doing it so many times."""
        low, high = times
        return Stage(
            name,
            todo,
            (self.calls * low, self.calls * high),
            (self.tokens * low, self.tokens * high),
            (self.seconds * low, self.seconds * high),
        )


def estimate(
    pieces: Sequence[Piece], encoder: Encoder | None, options: Mapping[str, Any], work: Path, progress: Progress = silent
) -> list[Stage]:
    """List the stages of a build; `encoder` where the passages are to be encoded, too; `work` keeps what is asked. Blocking."""
    settings = BuildSettings.model_validate(dict(options))
    reporting = not is_embedded(settings.reporter or settings.model)
    stages = [encoding(pieces, encoder)] if encoder is not None else []
    known = is_embedded(settings.model) and reporting  # rules find the names as a build will: which reports it asks for can be known
    some = pieces if known else sample(pieces, _SAMPLE)
    began = time.perf_counter()
    materials = _materials(sum_up(quoted_elements(some)), settings)
    rules = (time.perf_counter() - began) * len(pieces) / max(1, len(some))
    most = max(REPORTS[1], len(materials) / max(1, len(some)))
    reports = (max(1, round(REPORTS[0] * len(pieces))), max(1, round(most * len(pieces))))
    by_rules = Stage("reports", f"{reports[0]:,} to {reports[1]:,}, quoted")
    with Work(work) as kept, working(settings, Budget.open(settings, Usage(), time.time(), kept=False)) as spent:
        builder = ByModel(settings, kept)
        if is_embedded(settings.model):
            stages.append(Stage("names", f"{len(pieces):,} passages by rules", seconds=(rules, rules)))
            return [*stages, _written(builder, materials, lambda: spent.spent) if known else by_rules]
        grouped = units(pieces, current_model(settings).count, settings.unit_tokens)
        pilot = sample(grouped, PILOT)
        readings: list[Reading] = []

        async def read() -> None:
            readings.append(await builder.read_units(pilot, progress))

        cost = blocking(measured(read, lambda: spent.spent))
        how = (settings.gleanings, settings.claims, settings.entity_types)
        cost = _remembered(kept, cost, [builder.made_by, str(how), *(unit.text for unit in pilot)])
        times = len(grouped) / max(1, len(pilot))
        stages.append(cost.stage("names", f"{len(grouped):,} units of at most {settings.unit_tokens} tokens", (times, times)))
        found = _materials(sum_up(readings[0].elements), settings)
        return [*stages, _foreseen(builder.reporting, found, reports, cost) if reporting else by_rules]


def _written(builder: ByModel, materials: Sequence[Material], spent: Callable[[], Usage]) -> Stage:
    """Say what reports on known communities cost, from some that are written now."""
    levels = builder.settings.report_levels
    asked = [material for material in materials if material.community.level < levels]
    # What a report is made from is known where none of its parts is to be reported on by the model.
    pilot = sample([material for material in asked if all(part.community.level >= levels for part in material.parts)], REPORTED)
    cost = blocking(measured(lambda: builder.report(pilot, lambda done: None), spent))
    cost = _remembered(builder.work, cost, [builder.reported_by, *(material.digest for material in pilot)])
    times = len(asked) / max(1, len(pilot))
    return cost.stage("reports", f"{len(materials):,}", (times, times))


def _foreseen(reporting: BuildSettings, materials: Sequence[Material], reports: Range, names: Cost) -> Stage:
    """Say what reports on communities that are not known yet cost: their tokens counted, at the speed at which names were found."""
    model = current_model(reporting)
    asked = [material for material in materials if material.community.level < reporting.report_levels]
    read = [report_tokens(material, reporting, model) for material in sample(asked, REPORTED)]
    share = len(asked) / len(materials) if materials else 1.0
    prompt = sum(read) / max(1, len(read))
    calls = (share * reports[0], share * reports[1])
    tokens = (calls[0] * (prompt + REPLY[0]), calls[1] * (prompt + REPLY[1]))
    speed = names.seconds / max(1, names.tokens)
    todo = f"{reports[0]:,} to {reports[1]:,}, at the speed at which names were found"
    return Stage("reports", todo, calls, tokens, (tokens[0] * speed, tokens[1] * speed))


def encoding(pieces: Sequence[Piece], encoder: Encoder) -> Stage:
    """Say what encoding the passages costs."""
    pilot = [piece.text for piece in sample(pieces, _ENCODED)]
    encoder.encode_documents(pilot[:2])  # loading is no part of the speed
    began = time.perf_counter()
    encoder.encode_documents(pilot)
    seconds = (time.perf_counter() - began) * len(pieces) / max(1, len(pilot))
    return Stage("encoding", f"{len(pieces):,} passages", seconds=(seconds, seconds))


def _remembered(kept: Work, cost: Cost, of: Sequence[str]) -> Cost:
    """Take the cost that the same had when it was asked for: of a second estimate all replies are there."""
    key = key_of(["cost", *of])
    held = kept.get(key)
    if held and held["calls"] > cost.calls:
        return Cost(**held)
    kept.put(key, cost._asdict())
    return cost


async def measured(act: Callable[[], Awaitable[object]], spent: Callable[[], Usage]) -> Cost:
    """Do something, and tell what it cost."""
    before, began = spent(), time.perf_counter()
    await act()
    after = spent()
    return Cost(after.llm_calls - before.llm_calls, after.tokens - before.tokens, time.perf_counter() - began)


def sample(of: Sequence[T], most: int) -> Sequence[T]:
    """Take some from all over."""
    return of[:: max(1, len(of) // most)][:most]


def _materials(knowledge: Knowledge, settings: BuildSettings) -> list[Material]:
    """Make materials as a build by rules would, to see what reporting on them costs."""
    graph = settled(knowledge, quoted)
    partition = communities(weighted(knowledge.relations, settings.weights), settings.max_cluster_size)
    made = Materials(graph, partition)
    reports: dict[str, Report] = {}
    found: list[Material] = []
    for ids in made.by_depth():
        found += [made.of(id, reports) for id in ids]
        reports |= {material.community.id: quoted_report(material) for material in found[-len(ids) :]}
    return found

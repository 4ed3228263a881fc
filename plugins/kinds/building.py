"""Build the graph or the hierarchy of an index: by rules, or with a language model, whose calls are passed to the tools here."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings
from pydantic import ValidationError

from ramify.graphs.run import blocking
from ramify.kinds.asking.extract_elements import extract_elements
from ramify.kinds.asking.reply_cache import CachedModel
from ramify.kinds.asking.summarize_clusters import ModelSummarizer
from ramify.kinds.asking.write_reports import describe, write_reports
from ramify.kinds.hierarchy.build import HierarchyBuild, write_hierarchy
from ramify.kinds.hierarchy.leaves import Routing
from ramify.kinds.hierarchy.summaries import ExtractiveSummarizer, load_nli
from ramify.kinds.knowledge.build import BUDGET_EXHAUSTED, REPLIES_FILE, Extraction, GraphBuild, GraphOptions, ReplyStore, write_graph
from ramify.kinds.knowledge.communities import EXTRACTIVE, ReportMaterial
from ramify.kinds.knowledge.elements import Graph, Knowledge, Piece, TextUnit, pick_description, text_units, to_graph
from ramify.kinds.knowledge.rule_builder import RuleBuilder, build_graph_by_rules
from ramify.kinds.settings import BuildSettings, HierarchySettings
from ramify.nodes.asking.budget import call_context
from ramify.nodes.settings import is_embedded
from ramify.nodes.state import Usage
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.folder import require_manifest
from ramify.tools.index.index import Index
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.index.reports import Report

_MAX_FAILED_SHARE = 0.2
"""A build fails if more than this fraction of units could not be read."""


class ModelBuilder:
    """Build with a language model that finds the names, that writes the reports, or both; rules do what it does not."""

    def __init__(self, settings: BuildSettings, work: ReplyStore) -> None:
        self.settings, self.work, self.rules = settings, work, RuleBuilder()

    @cached_property
    def finder(self) -> CachedModel[BuildSettings]:
        """The model that finds the names."""
        return CachedModel(self.settings, self.work)

    @cached_property
    def reporter(self) -> CachedModel[BuildSettings]:
        """The model that writes the reports."""
        return CachedModel(self.settings.model_copy(update={"model": self.settings.reporter or self.settings.model}), self.work)

    @property
    def made_by(self) -> str:
        """Return the name of the model that extracts names."""
        return EXTRACTIVE if is_embedded(self.settings.model) else self.finder.name

    @property
    def reported_by(self) -> str:
        """Return the name of the model that writes the reports."""
        return EXTRACTIVE if is_embedded(self.settings.reporter or self.settings.model) else self.reporter.name

    async def read(self, pieces: Sequence[Piece], progress: Progress) -> Extraction:
        """Extract names and relations; IndexingError if too many units could not be read."""
        if self.made_by == EXTRACTIVE:
            return await self.rules.read(pieces, progress)
        return await self.read_units(text_units(pieces, self.finder.count, self.settings.unit_tokens), progress)

    async def read_units(self, grouped: Sequence[TextUnit], progress: Progress) -> Extraction:
        """Extract names from units of passages with the model; IndexingError if too many could not be read."""
        elements, unread = await extract_elements(grouped, self.finder, lambda done: progress(done, len(grouped), "units"))
        failed = {id: why for id, why in unread.items() if why != BUDGET_EXHAUSTED}
        if len(failed) > _MAX_FAILED_SHARE * len(grouped):
            what = f"{len(failed):,} of {len(grouped):,} units could not be read: {next(iter(failed.values()))}"
            raise IndexingError(what, "use a larger model or smaller units (unit_tokens), and run the build again: what was read is stored")
        return Extraction(elements, unread)

    async def describe(self, knowledge: Knowledge, progress: Progress) -> Graph:
        """Return the graph with one description per element."""
        if self.made_by == EXTRACTIVE:
            return to_graph(knowledge, pick_description)
        return await describe(knowledge, self.finder, lambda done: progress(done, None, "descriptions"))

    async def report(self, materials: Sequence[ReportMaterial], on_done: Callable[[int], None]) -> list[Report]:
        """Report on communities."""
        if self.reported_by == EXTRACTIVE:
            return await self.rules.report(materials, on_done)
        return await write_reports(materials, self.reporter, on_done)


def build_graph(
    folder: Path, options: Mapping[str, Any] | None = None, recluster: bool = False, progress: Progress = ignore_progress
) -> tuple[GraphBuild, Usage]:
    """Build or update the graph of a finished index with these settings; return it and its cost. No passage is encoded again.

    Blocking. An interrupted build repeats only the calls that were running; if a budget is used up, the graph is usable.
    """
    settings = BuildSettings.model_validate(dict(options or {}))
    how = GraphOptions(settings.max_cluster_size, settings.weights, recluster)
    if not asks_model(options or {}):
        return build_graph_by_rules(folder, how, progress), Usage()

    async def build() -> tuple[GraphBuild, Usage]:
        with ReplyStore(folder / REPLIES_FILE) as work, call_context(settings) as spent:
            made = await write_graph(folder, ModelBuilder(settings, work), how, progress)
            if not made.unread and made.rewritten == made.communities:  # the replies of unchanged reports were not requested
                work.delete_unused()
            return made, spent.spent

    return blocking(build())


def asks_model(options: Mapping[str, Any]) -> bool:
    """Return whether a build with these settings calls a model."""
    settings = BuildSettings.model_validate(dict(options))
    return not is_embedded(settings.model) or (settings.reporter is not None and not is_embedded(settings.reporter))


def build_hierarchy(
    folder: Path,
    options: Mapping[str, Any] | None = None,
    group_by: Sequence[str] | None = None,
    rebuild: bool = False,
    progress: Progress = ignore_progress,
    embedding: Embeddings | None = None,
) -> tuple[HierarchyBuild, Usage]:
    """Build or update the hierarchy of a finished index; return it and its cost. No passage is encoded again.

    group_by: fields of metadata; not given, those that it has, or those that are proposed. rebuild: cluster anew what was clustered before.
    embedding: the program's own, where the index was made with one. Blocking. An interrupted build resumes at the unfinished group.
    """
    routing, settings = hierarchy_settings(options)
    manifest = require_manifest(folder)
    fields = group_by or (manifest.group_by if manifest.kind == "hierarchy" else None)
    encoder = Index.open(folder, embedding).embeddings

    async def build() -> tuple[HierarchyBuild, Usage]:
        if is_embedded(settings.model):
            return await write_hierarchy(folder, encoder, ExtractiveSummarizer(encoder), fields, routing, rebuild, progress), Usage()
        with ReplyStore(folder / REPLIES_FILE) as work, call_context(settings) as spent:
            summarizer = ModelSummarizer(CachedModel(settings, work), encoder)
            if settings.nli:
                load_nli(settings.nli)  # errors before the first call
            return await write_hierarchy(folder, encoder, summarizer, fields, routing, rebuild, progress, work), spent.spent

    return blocking(build())


def hierarchy_settings(options: Mapping[str, Any] | None) -> tuple[Routing, HierarchySettings]:
    """Return the settings of routing and those of a model; UsageError for unknown or invalid ones."""
    given = dict(options or {})
    own = {name: value for name, value in given.items() if name in Routing.model_fields}
    settings = HierarchySettings.model_validate({name: value for name, value in given.items() if name not in own or name == "seed"})
    try:
        return Routing.model_validate(own), settings
    except ValidationError as error:
        first = error.errors()[0]
        what = f"{first['loc'][0]}={first['input']!r} is not valid ({first['msg']})"
        raise UsageError(what, HierarchySettings.settings_help) from error

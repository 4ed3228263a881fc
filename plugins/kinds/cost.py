"""Estimated cost of building an index, by stage.

For a graph a sample of units is read, for a hierarchy some groups are summarized (meta-guided RAG §6); the rest is extrapolated.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

from ramify.graphs.run import blocking
from ramify.kinds.asking.reply_cache import CachedModel
from ramify.kinds.asking.summarize_clusters import ModelSummarizer
from ramify.kinds.asking.write_reports import report_tokens
from ramify.kinds.building import ModelBuilder, asks_model, hierarchy_settings
from ramify.kinds.hierarchy.leaves import NO_FIELDS, Leaves, Routing, read_leaves
from ramify.kinds.hierarchy.partition import Partition, partition, suitable_fields
from ramify.kinds.hierarchy.summaries import ClusterText, ExtractiveSummarizer, Summarizer
from ramify.kinds.hierarchy.summaries import SummaryMaterial as Cluster
from ramify.kinds.hierarchy.tree import CHARS_PER_TOKEN, MAX_CLUSTER_TOKENS
from ramify.kinds.knowledge.build import REPLIES_FILE, Extraction, ReplyStore, reply_key
from ramify.kinds.knowledge.communities import ReportMaterial, ReportMaterials, edge_weights, find_communities
from ramify.kinds.knowledge.elements import Knowledge, Piece, merge_elements, pick_description, read_pieces, text_units, to_graph
from ramify.kinds.knowledge.rule_builder import extract_by_rules, extractive_report
from ramify.kinds.settings import BuildSettings, HierarchySettings
from ramify.nodes.asking.budget import call_context
from ramify.nodes.settings import is_embedded
from ramify.nodes.state import Usage
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from ramify.tools.index.build import IndexStore, estimate_passages
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.index_store import FolderStore
from ramify.tools.index.manifest import MANIFEST, PASSAGES, IndexKind
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.index.reports import Report

PILOT_UNITS, PILOT_REPORTS = 20, 5
"""Units read where a model finds the names, and reports written where only these are a model's; a build does not ask for them again.

Where a model finds the names, no report is asked for: its communities are not known yet, and reports on others would be thrown away.
"""
REPORTS_PER_PASSAGE = (0.15, 0.4)
"""Reports for each passage, at least and at most: manuals have few; of a corpus full of names the sample shows how many more there are."""
REPORT_TOKENS = (150, 400)
"""Tokens of a report that a model writes, at least and at most."""
_RULES_SAMPLE = 300
"""Passages on which the speed of the rules is measured, and from which sample reports are made."""
_ENCODING_SAMPLE = 64
"""Passages on which the speed of the encoder is measured."""
PILOT_SUMMARIES = 5
"""Groups of a hierarchy that are summarized for an estimate."""
SUMMARIES_PER_PASSAGE = (0.06, 0.25)
"""Summaries for each passage of a group with a tree, at least and at most."""
_CLUSTER_SIZE = 8
"""Passages that are summarized in one call for an estimate, about as many as in a cluster."""
_MAX_LISTED_FIELDS = 5
"""Maximum number of fields listed by which passages may be grouped."""
T = TypeVar("T")
Range = tuple[float, float]


class Stage(NamedTuple):
    """A stage of a build: a description, and ranges (minimum, maximum) of calls, tokens and seconds."""

    name: str
    todo: str
    calls: Range = (0, 0)
    tokens: Range = (0, 0)
    seconds: Range = (0, 0)


class CallCost(NamedTuple):
    """Measured cost: calls, tokens and seconds."""

    calls: int
    tokens: int
    seconds: float

    def stage(self, name: str, todo: str, times: Range) -> Stage:
        """Return a stage of so many repetitions, at least and at most."""
        low, high = times
        return Stage(
            name,
            todo,
            (self.calls * low, self.calls * high),
            (self.tokens * low, self.tokens * high),
            (self.seconds * low, self.seconds * high),
        )


def index_cost(
    paths: Sequence[Path],
    store: IndexStore,
    kind: IndexKind,
    options: Mapping[str, Any],
    embedding: str,
    chunking: tuple[int, int],
    clean: bool,
    group_by: Sequence[str] | None,
    notify: Callable[[str], None],
    progress: Progress,
) -> list[Stage]:
    """Return the stages of a build with estimates, and report what is done for them; nothing is built. UsageError without documents."""
    if not isinstance(store, FolderStore) and not paths:
        raise UsageError(f"there are no documents to estimate for the index in {store.where!r}", "name the files or folders to index")
    folder = store.path if isinstance(store, FolderStore) else Path()  # only a folder has a kind beside its passages
    there = store.manifest() if not paths else None
    asks = kind == "graph" and asks_model(options)
    if asks:  # what it was asked here is not asked again by a build
        what = (
            f"for {PILOT_REPORTS} reports"
            if is_embedded(BuildSettings.model_validate(dict(options)).model)
            else f"about {PILOT_UNITS} texts"
        )
        notify(f"for an estimate the model is asked {what}; a build does not ask that again")
    if kind == "hierarchy" and not is_embedded(hierarchy_settings(options)[1].model):
        notify(f"for an estimate the model is asked for {PILOT_SUMMARIES} summaries")

    def read(path: Path) -> tuple[Sequence[Piece], Leaves | None]:
        return read_pieces(path), read_leaves(path, encoded=there is not None) if kind == "hierarchy" else None

    encoder: Encoder | None = None
    if there is not None:
        pieces, leaves = read(folder / there.file(PASSAGES))
    else:
        chunks = Chunking(*chunking).validated()
        (pieces, leaves), encoder = estimate_passages(paths or [folder], embedding, chunks, clean, progress, read)
    if kind == "passages":
        return [estimate_encoding(pieces, encoder)] if encoder else []
    with TemporaryDirectory(prefix="ramify-estimate-") as spare:
        work = Path(spare) / REPLIES_FILE
        if leaves is None:
            return estimate_graph(
                pieces, encoder, options, folder / REPLIES_FILE if asks and (folder / MANIFEST).is_file() else work, progress
            )
        fields = group_by or (there.group_by if there and there.kind == "hierarchy" else None)
        made = estimate_hierarchy(leaves, pieces, encoder or Index.open(folder).embeddings, dict(options), fields, work)
    names = [", ".join(combination) for combination in made.fields]
    several = (
        f"one of {' · '.join(names[:_MAX_LISTED_FIELDS])}{' …' if len(names) > _MAX_LISTED_FIELDS else ''}, chosen when they are encoded"
    )
    notify(f"passages would be grouped by {names[0] if len(names) == 1 else several}{'' if group_by else ': --group-by names others'}")
    return made.stages


def estimate_graph(
    pieces: Sequence[Piece], encoder: Encoder | None, options: Mapping[str, Any], work: Path, progress: Progress = ignore_progress
) -> list[Stage]:
    """Return the stages of building a graph; with `encoder`, those of encoding, too; replies are cached in `work`. Blocking."""
    settings = BuildSettings.model_validate(dict(options))
    reporting = not is_embedded(settings.reporter or settings.model)
    stages = [estimate_encoding(pieces, encoder)] if encoder is not None else []
    known = is_embedded(settings.model) and reporting  # by rules, so the names and reports are those of the build
    some = pieces if known else sample(pieces, _RULES_SAMPLE)
    began = time.perf_counter()
    materials = _rule_materials(merge_elements(extract_by_rules(some)), settings)
    rules = (time.perf_counter() - began) * len(pieces) / max(1, len(some))
    most = max(REPORTS_PER_PASSAGE[1], len(materials) / max(1, len(some)))
    reports = (max(1, round(REPORTS_PER_PASSAGE[0] * len(pieces))), max(1, round(most * len(pieces))))
    by_rules = Stage("reports", f"{reports[0]:,} to {reports[1]:,}, quoted")
    with ReplyStore(work) as kept, call_context(settings) as spent:
        builder = ModelBuilder(settings, kept)
        if is_embedded(settings.model):
            stages.append(Stage("names", f"{len(pieces):,} passages by rules", seconds=(rules, rules)))
            return [*stages, _measure_reports(builder, materials, lambda: spent.spent) if known else by_rules]
        grouped = text_units(pieces, builder.finder.count, settings.unit_tokens)
        pilot = sample(grouped, PILOT_UNITS)
        readings: list[Extraction] = []

        async def read() -> None:
            readings.append(await builder.read_units(pilot, progress))

        cost = blocking(measure_cost(read, lambda: spent.spent))
        how = (settings.gleanings, settings.claims, settings.entity_types, settings.examples)
        cost = _cached_cost(kept, cost, [builder.made_by, str(how), *(unit.text for unit in pilot)])
        times = len(grouped) / max(1, len(pilot))
        stages.append(cost.stage("names", f"{len(grouped):,} units of at most {settings.unit_tokens} tokens", (times, times)))
        sample_materials = _rule_materials(merge_elements(readings[0].elements), settings)
        return [*stages, _estimate_reports(builder.reporter, sample_materials, reports, cost) if reporting else by_rules]


def _measure_reports(builder: ModelBuilder, materials: Sequence[ReportMaterial], spent: Callable[[], Usage]) -> Stage:
    """Return the stage of reports on known communities, extrapolated from some that are written now."""
    levels = builder.settings.report_levels
    asked = [material for material in materials if material.community.level < levels]
    # What a report is made from is known where none of its parts is to be reported on by the model.
    pilot = sample(
        [material for material in asked if all(part.community.level >= levels for part in material.sub_communities)], PILOT_REPORTS
    )
    cost = blocking(measure_cost(lambda: builder.report(pilot, lambda done: None), spent))
    cost = _cached_cost(builder.work, cost, [builder.reported_by, *(material.digest for material in pilot)])
    times = len(asked) / max(1, len(pilot))
    return cost.stage("reports", f"{len(materials):,}", (times, times))


def _estimate_reports(reporter: CachedModel[BuildSettings], materials: Sequence[ReportMaterial], reports: Range, names: CallCost) -> Stage:
    """Return the stage of reports on unknown communities, from counted tokens at the speed of extracting names."""
    asked = [material for material in materials if material.community.level < reporter.settings.report_levels]
    read = [report_tokens(material, reporter) for material in sample(asked, PILOT_REPORTS)]
    share = len(asked) / len(materials) if materials else 1.0
    prompt = sum(read) / max(1, len(read))
    calls = (share * reports[0], share * reports[1])
    tokens = (calls[0] * (prompt + REPORT_TOKENS[0]), calls[1] * (prompt + REPORT_TOKENS[1]))
    speed = names.seconds / max(1, names.tokens)
    todo = f"{reports[0]:,} to {reports[1]:,}, at the speed at which names were found"
    return Stage("reports", todo, calls, tokens, (tokens[0] * speed, tokens[1] * speed))


def estimate_encoding(pieces: Sequence[Piece], encoder: Encoder) -> Stage:
    """Return the stage of encoding the passages."""
    pilot = [piece.text for piece in sample(pieces, _ENCODING_SAMPLE)]
    encoder.encode_documents(pilot[:2])  # loading is no part of the speed
    began = time.perf_counter()
    encoder.encode_documents(pilot)
    seconds = (time.perf_counter() - began) * len(pieces) / max(1, len(pilot))
    return Stage("encoding", f"{len(pieces):,} passages", seconds=(seconds, seconds))


def _cached_cost(replies: ReplyStore, cost: CallCost, of: Sequence[str]) -> CallCost:
    """Return the cost stored by an earlier estimate, if that was higher: in a second one all replies are cached."""
    key = reply_key(["cost", *of])
    earlier = replies.get(key)
    if earlier and earlier["calls"] > cost.calls:
        return CallCost(**earlier)
    replies.put(key, cost._asdict())
    return cost


async def measure_cost(act: Callable[[], Awaitable[object]], spent: Callable[[], Usage]) -> CallCost:
    """Run `act` and return its cost."""
    before, began = spent(), time.perf_counter()
    await act()
    after = spent()
    return CallCost(after.llm_calls - before.llm_calls, after.tokens - before.tokens, time.perf_counter() - began)


def sample(items: Sequence[T], size: int) -> Sequence[T]:
    """Return about `size` items, evenly spaced."""
    return items[:: max(1, len(items) // size)][:size]


def _rule_materials(knowledge: Knowledge, settings: BuildSettings) -> list[ReportMaterial]:
    """Return the materials of a build by rules, to estimate the cost of reports."""
    graph = to_graph(knowledge, pick_description)
    partition = find_communities(edge_weights(knowledge.relations, settings.weights), settings.max_cluster_size)
    made = ReportMaterials(graph, partition)
    reports: dict[str, Report] = {}
    materials: list[ReportMaterial] = []
    for ids in made.by_depth():
        materials += [made.material(id, reports) for id in ids]
        reports |= {material.community.id: extractive_report(material) for material in materials[-len(ids) :]}
    return materials


class HierarchyEstimate(NamedTuple):
    """The fields by which passages could be grouped, and the stages of a build."""

    fields: tuple[tuple[str, ...], ...]
    """One set of fields if known; otherwise the candidates of which one will be chosen when the passages are encoded."""
    stages: list[Stage]


def estimate_hierarchy(
    leaves: Leaves, pieces: Sequence[Piece], encoder: Encoder, options: dict[str, Any], fields: Sequence[str] | None, work: Path
) -> HierarchyEstimate:
    """Return the stages of building a hierarchy, with encoding if passages are not encoded yet. UsageError for wrong fields. Blocking."""
    routing, settings = hierarchy_settings(options)
    encoded = bool(len(leaves.vectors))
    chosen = [fields] if fields is not None or encoded else suitable_fields(leaves)
    partitions = [partition(leaves, names) for names in chosen]
    each = sum(len(piece.text) for piece in pieces) / CHARS_PER_TOKEN / max(1, len(pieces))
    ranges = [_summary_range(parts, routing, each) for parts in partitions]
    summaries = (min(low for low, _ in ranges), max(high for _, high in ranges))
    encoder.encode_documents([piece.text for piece in pieces[:2]])  # loading is no part of the speed
    materials = _sample_clusters(partitions[0], leaves, pieces, encoder)
    cost = _measure_summaries(materials, settings, encoder, work)
    who = "quoted" if is_embedded(settings.model) else "by the model"
    times = (summaries[0] / max(1, len(materials)), summaries[1] / max(1, len(materials)))
    counts = sorted({len(parts.groups) for parts in partitions})
    groups = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    stages = [
        *([] if encoded else [estimate_encoding(pieces, encoder)]),
        Stage("groups", f"{groups} of {len(leaves):,} passages"),
        cost.stage("summaries", f"{summaries[0]:,.0f} to {summaries[1]:,.0f}, {who}", times),
    ]
    return HierarchyEstimate(tuple(parts.fields for parts in partitions), stages)


def _measure_summaries(materials: Sequence[Cluster], settings: HierarchySettings, encoder: Encoder, work: Path) -> CallCost:
    """Return the cost of summarizing some clusters."""
    with ReplyStore(work) as kept, call_context(settings) as spent:
        quotes = is_embedded(settings.model)
        summarizer: Summarizer = ExtractiveSummarizer(encoder) if quotes else ModelSummarizer(CachedModel(settings, kept), encoder)

        async def act() -> None:
            for material in materials:
                await summarizer.summarize(material)

        return blocking(measure_cost(act, lambda: spent.spent))


def _summary_range(parts: Partition, how: Routing, each: float) -> Range:
    """Return how many summaries groups get, at least and at most; `each`: mean tokens of a passage, because short ones can share one."""
    sizes = [0] * len(parts.groups)
    for edge in parts.edges:
        sizes[edge.group] += 1
    if parts.ungrouped:  # those without metadata are one more group
        sizes.append(len(parts.ungrouped))
    least = min(SUMMARIES_PER_PASSAGE[0], each / MAX_CLUSTER_TOKENS)
    low = sum(max(1.0, least * size) if size >= how.tree else 1.0 for size in sizes)
    high = sum(1 + SUMMARIES_PER_PASSAGE[1] * size if size >= how.tree else 1.0 for size in sizes)  # one more: the root
    return round(low), round(high)


def _sample_clusters(parts: Partition, leaves: Leaves, pieces: Sequence[Piece], encoder: Encoder) -> list[Cluster]:
    """Return clusters of the first passages of some groups, or of the pool, for an estimate."""
    by_id = {piece.id: piece for piece in pieces}
    members: list[list[int]] = [[] for _ in parts.groups]
    for edge in parts.edges:
        members[edge.group].append(edge.leaf)
    named = [(group.name, own) for group, own in zip(parts.groups, members, strict=True)] or [(NO_FIELDS, parts.ungrouped)]
    clusters = []
    for name, own in sample(named, PILOT_SUMMARIES):
        shown = [by_id[leaves.ids[leaf]] for leaf in own[:_CLUSTER_SIZE]]
        vectors = encoder.encode_documents([piece.text for piece in shown])
        sources = [
            ClusterText(piece.text, leaf, vector, piece.titles)
            for piece, leaf, vector in zip(shown, own[:_CLUSTER_SIZE], vectors, strict=True)
        ]
        clusters.append(Cluster(tuple(sources), len(sources), name))
    return clusters

"""What an index would cost, stage by stage, before it is built.

Of a graph some units are read for a start, of a hierarchy some groups are summed up (meta-guided RAG §6); the rest is worked out from them.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

from ramify.graphs.building.build import ByModel, asks_model, hierarchy_settings
from ramify.graphs.run import blocking
from ramify.nodes.asking.budget import working
from ramify.nodes.building.kept_replies import KeptModel
from ramify.nodes.building.summarize_clusters import Summarizing
from ramify.nodes.building.write_reports import report_tokens
from ramify.nodes.settings import BuildSettings, HierarchySettings, is_embedded
from ramify.nodes.state import Usage
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.leaves import NO_FIELDS, Leaves, Routing, read_leaves
from ramify.tools.hierarchy.partition import Partition, partition, suitable_fields
from ramify.tools.hierarchy.summaries import ClusterText, ExtractiveSummarizer, Summarizer
from ramify.tools.hierarchy.summaries import SummaryMaterial as Cluster
from ramify.tools.hierarchy.tree import CHARS_PER_TOKEN, MAX_CLUSTER_TOKENS
from ramify.tools.index import Index
from ramify.tools.index.build import IndexStore, estimate_passages
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.index_store import FolderStore
from ramify.tools.index.manifest import MANIFEST, PASSAGES, IndexKind
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.knowledge.build import REPLIES_FILE, Extraction, ReplyStore, reply_key
from ramify.tools.knowledge.communities import edge_weights, find_communities
from ramify.tools.knowledge.elements import Knowledge, Piece, merge_elements, pick_description, read_pieces, text_units, to_graph
from ramify.tools.knowledge.reports import Report, ReportMaterial, ReportMaterials
from ramify.tools.knowledge.rule_builder import extract_by_rules, extractive_report

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
SUMMED = 5
"""Groups of a hierarchy that are summed up for a start."""
SUMMARIES = (0.06, 0.25)
"""Summaries for each passage of a group with a tree, at least and at most."""
_TOGETHER = 8
"""Passages that are summed up at once for a start, about as many as in a cluster."""
_LISTED = 5
"""Of many fields that passages may be grouped by, those that are named."""
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


def index_cost(
    paths: Sequence[Path],
    home: IndexStore,
    kind: IndexKind,
    options: Mapping[str, Any],
    embedding: str,
    chunking: tuple[int, int],
    clean: bool,
    group_by: Sequence[str] | None,
    tell: Callable[[str], None],
    progress: Progress,
) -> list[Stage]:
    """List the stages of a build, and tell what is done for that; nothing is built. UsageError where there is nothing to estimate."""
    if not isinstance(home, FolderStore) and not paths:
        raise UsageError(f"there is nothing to estimate of the index in {home.where!r}", "name the files or folders that are to be indexed")
    folder = home.path if isinstance(home, FolderStore) else Path()  # only a folder has a kind beside its passages
    there = home.manifest() if not paths else None
    asks = kind == "graph" and asks_model(options)
    if asks:  # what it was asked here is not asked again by a build
        what = f"for {REPORTED} reports" if is_embedded(BuildSettings.model_validate(dict(options)).model) else f"about {PILOT} texts"
        tell(f"for an estimate the model is asked {what}; a build does not ask that again")
    if kind == "hierarchy" and not is_embedded(hierarchy_settings(options)[1].model):
        tell(f"for an estimate the model is asked for {SUMMED} summaries")

    def read(path: Path) -> tuple[Sequence[Piece], Leaves | None]:
        return read_pieces(path), read_leaves(path, encoded=there is not None) if kind == "hierarchy" else None

    encoder: Encoder | None = None
    if there is not None:
        pieces, leaves = read(folder / PASSAGES)
    else:
        chunks = Chunking(*chunking).validated()
        (pieces, leaves), encoder = estimate_passages(paths or [folder], embedding, chunks, clean, progress, read)
    if kind == "passages":
        return [encoding(pieces, encoder)] if encoder else []
    with TemporaryDirectory(prefix="ramify-estimate-") as spare:
        work = Path(spare) / REPLIES_FILE
        if leaves is None:
            return estimate(pieces, encoder, options, folder / REPLIES_FILE if asks and (folder / MANIFEST).is_file() else work, progress)
        fields = group_by or (there.group_by if there and there.kind == "hierarchy" else None)
        made = estimate_hierarchy(leaves, pieces, encoder or Index.open(folder).embeddings, dict(options), fields, work)
    told = [", ".join(one) for one in made.fields]
    several = f"one of {' · '.join(told[:_LISTED])}{' …' if len(told) > _LISTED else ''}, chosen when they are encoded"
    tell(f"passages would be grouped by {told[0] if len(told) == 1 else several}{'' if group_by else ': --group-by names others'}")
    return made.stages


def estimate(
    pieces: Sequence[Piece], encoder: Encoder | None, options: Mapping[str, Any], work: Path, progress: Progress = ignore_progress
) -> list[Stage]:
    """List the stages of a build; `encoder` where the passages are to be encoded, too; `work` keeps what is asked. Blocking."""
    settings = BuildSettings.model_validate(dict(options))
    reporting = not is_embedded(settings.reporter or settings.model)
    stages = [encoding(pieces, encoder)] if encoder is not None else []
    known = is_embedded(settings.model) and reporting  # rules find the names as a build will: which reports it asks for can be known
    some = pieces if known else sample(pieces, _SAMPLE)
    began = time.perf_counter()
    materials = _materials(merge_elements(extract_by_rules(some)), settings)
    rules = (time.perf_counter() - began) * len(pieces) / max(1, len(some))
    most = max(REPORTS[1], len(materials) / max(1, len(some)))
    reports = (max(1, round(REPORTS[0] * len(pieces))), max(1, round(most * len(pieces))))
    by_rules = Stage("reports", f"{reports[0]:,} to {reports[1]:,}, quoted")
    with ReplyStore(work) as kept, working(settings) as spent:
        builder = ByModel(settings, kept)
        if is_embedded(settings.model):
            stages.append(Stage("names", f"{len(pieces):,} passages by rules", seconds=(rules, rules)))
            return [*stages, _written(builder, materials, lambda: spent.spent) if known else by_rules]
        grouped = text_units(pieces, builder.finder.count, settings.unit_tokens)
        pilot = sample(grouped, PILOT)
        readings: list[Extraction] = []

        async def read() -> None:
            readings.append(await builder.read_units(pilot, progress))

        cost = blocking(measured(read, lambda: spent.spent))
        how = (settings.gleanings, settings.claims, settings.entity_types)
        cost = _remembered(kept, cost, [builder.made_by, str(how), *(unit.text for unit in pilot)])
        times = len(grouped) / max(1, len(pilot))
        stages.append(cost.stage("names", f"{len(grouped):,} units of at most {settings.unit_tokens} tokens", (times, times)))
        found = _materials(merge_elements(readings[0].elements), settings)
        return [*stages, _foreseen(builder.reporter, found, reports, cost) if reporting else by_rules]


def _written(builder: ByModel, materials: Sequence[ReportMaterial], spent: Callable[[], Usage]) -> Stage:
    """Say what reports on known communities cost, from some that are written now."""
    levels = builder.settings.report_levels
    asked = [material for material in materials if material.community.level < levels]
    # What a report is made from is known where none of its parts is to be reported on by the model.
    pilot = sample([material for material in asked if all(part.community.level >= levels for part in material.sub_communities)], REPORTED)
    cost = blocking(measured(lambda: builder.report(pilot, lambda done: None), spent))
    cost = _remembered(builder.work, cost, [builder.reported_by, *(material.digest for material in pilot)])
    times = len(asked) / max(1, len(pilot))
    return cost.stage("reports", f"{len(materials):,}", (times, times))


def _foreseen(reporter: KeptModel[BuildSettings], materials: Sequence[ReportMaterial], reports: Range, names: Cost) -> Stage:
    """Say what reports on communities that are not known yet cost: their tokens counted, at the speed at which names were found."""
    asked = [material for material in materials if material.community.level < reporter.settings.report_levels]
    read = [report_tokens(material, reporter) for material in sample(asked, REPORTED)]
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


def _remembered(kept: ReplyStore, cost: Cost, of: Sequence[str]) -> Cost:
    """Take the cost that the same had when it was asked for: of a second estimate all replies are there."""
    key = reply_key(["cost", *of])
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


def _materials(knowledge: Knowledge, settings: BuildSettings) -> list[ReportMaterial]:
    """Make materials as a build by rules would, to see what reporting on them costs."""
    graph = to_graph(knowledge, pick_description)
    partition = find_communities(edge_weights(knowledge.relations, settings.weights), settings.max_cluster_size)
    made = ReportMaterials(graph, partition)
    reports: dict[str, Report] = {}
    found: list[ReportMaterial] = []
    for ids in made.by_depth():
        found += [made.material(id, reports) for id in ids]
        reports |= {material.community.id: extractive_report(material) for material in found[-len(ids) :]}
    return found


class Plan(NamedTuple):
    """What passages could be grouped by, and the stages of a build."""

    fields: tuple[tuple[str, ...], ...]
    """One, where it is known; else those of which one will be chosen when the passages are encoded."""
    stages: list[Stage]


def estimate_hierarchy(
    leaves: Leaves, pieces: Sequence[Piece], encoder: Encoder, options: dict[str, Any], fields: Sequence[str] | None, work: Path
) -> Plan:
    """List the stages of a build; of passages that are not encoded yet, this is one of them. UsageError for wrong fields. Blocking."""
    routing, settings = hierarchy_settings(options)
    encoded = bool(len(leaves.vectors))
    chosen = [fields] if fields is not None or encoded else suitable_fields(leaves)
    found = [partition(leaves, one) for one in chosen]
    each = sum(len(piece.text) for piece in pieces) / CHARS_PER_TOKEN / max(1, len(pieces))
    ranges = [_summaries(parts, routing, each) for parts in found]
    summaries = (min(low for low, _ in ranges), max(high for _, high in ranges))
    encoder.encode_documents([piece.text for piece in pieces[:2]])  # loading is no part of the speed
    materials = _clusters(found[0], leaves, pieces, encoder)
    cost = _cost(materials, settings, encoder, work)
    who = "quoted" if is_embedded(settings.model) else "by the model"
    times = (summaries[0] / max(1, len(materials)), summaries[1] / max(1, len(materials)))
    counts = sorted({len(parts.groups) for parts in found})
    groups = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    stages = [
        *([] if encoded else [encoding(pieces, encoder)]),
        Stage("groups", f"{groups} of {len(leaves):,} passages"),
        cost.stage("summaries", f"{summaries[0]:,.0f} to {summaries[1]:,.0f}, {who}", times),
    ]
    return Plan(tuple(parts.fields for parts in found), stages)


def _cost(materials: Sequence[Cluster], settings: HierarchySettings, encoder: Encoder, work: Path) -> Cost:
    """Sum up, and tell what that cost."""
    with ReplyStore(work) as kept, working(settings) as spent:
        quotes = is_embedded(settings.model)
        summarizer: Summarizer = ExtractiveSummarizer(encoder) if quotes else Summarizing(KeptModel(settings, kept), encoder)

        async def act() -> None:
            for material in materials:
                await summarizer.summarize(material)

        return blocking(measured(act, lambda: spent.spent))


def _summaries(parts: Partition, how: Routing, each: float) -> Range:
    """Say how many summaries groups get, at least and at most; short passages can all be in one, `each` being their tokens."""
    sizes = [0] * len(parts.groups)
    for edge in parts.edges:
        sizes[edge.group] += 1
    if parts.ungrouped:  # those without metadata are one more group
        sizes.append(len(parts.ungrouped))
    least = min(SUMMARIES[0], each / MAX_CLUSTER_TOKENS)
    low = sum(max(1.0, least * size) if size >= how.tree else 1.0 for size in sizes)
    high = sum(1 + SUMMARIES[1] * size if size >= how.tree else 1.0 for size in sizes)  # one more: the root
    return round(low), round(high)


def _clusters(parts: Partition, leaves: Leaves, pieces: Sequence[Piece], encoder: Encoder) -> list[Cluster]:
    """Take the first passages of some groups, or of the pool, to see what summing them up costs."""
    held = {piece.id: piece for piece in pieces}
    members: list[list[int]] = [[] for _ in parts.groups]
    for edge in parts.edges:
        members[edge.group].append(edge.leaf)
    named = [(group.name, own) for group, own in zip(parts.groups, members, strict=True)] or [(NO_FIELDS, parts.ungrouped)]
    clusters = []
    for name, own in sample(named, SUMMED):
        shown = [held[leaves.ids[leaf]] for leaf in own[:_TOGETHER]]
        vectors = encoder.encode_documents([piece.text for piece in shown])
        sources = [
            ClusterText(piece.text, leaf, vector, piece.titles) for piece, leaf, vector in zip(shown, own[:_TOGETHER], vectors, strict=True)
        ]
        clusters.append(Cluster(tuple(sources), len(sources), name))
    return clusters

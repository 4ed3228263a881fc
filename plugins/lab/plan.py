"""The options of a run, their validation, and the plan made from them: questions, data, indexes, variants and maximum cost."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from pydantic import AfterValidator, Field

from ramify.graphs.strategies import PRESET, configure, max_calls
from ramify.kinds.hierarchy.leaves import NO_FIELDS
from ramify.lab._degraded import DEGRADATION_KINDS, DegradationKind, check_shares
from ramify.lab._manifest import TOKENS_FIELD, describe_model_file, describe_reader, describe_run, profile_digest, write_run_manifest
from ramify.lab._variants import (
    HIERARCHY_KIND,
    PLAIN_KIND,
    VIEW_SETTING,
    Variant,
    check_kinds,
    flatten_search_settings,
    index_folder,
    kind_search_defaults,
    make_variants,
    serializable_options,
    slug,
    unused_setting_remedy,
)
from ramify.lab.dataset import Dataset, Question
from ramify.lab.task import Task
from ramify.nodes.asking.ask import current_model
from ramify.nodes.tree import FrozenModel
from ramify.stores.ray_cluster import check_ray_address
from ramify.tools.errors import UsageError
from ramify.tools.index.index_store import is_store_address, store_at
from ramify.tools.index.manifest import LAYOUT, IndexKind, file_sha256
from ramify.tools.models import clear_cache
from ramify.tools.models.tokens import Ratios, read_ratios, stored_ratios
from ramify.tools.new_files import cache_folder
from ramify.tools.search.searcher import open_index
from ramify.tools.user_input import expand_path

RESERVED_SETTINGS = {
    "index": "each data set has its own index: use --index to set the folder of these indexes",
    "seed": "use --seed, or --sweep seed=0,1,2 for several",
}
"""Settings that are set by other options of a run, with the remedy of the error."""
RERANK, RERANK_K = "rerank", "rerank_k"
"""Settings of reranking that also apply to searching without a model; the first may be swept."""


class RunOptions(FrozenModel):
    """The options of a run."""

    datasets: tuple[str, ...] = ()
    questions: Path | None = None
    """A file of questions about the documents of the existing `index`; then there are no data sets."""
    strategies: tuple[str, ...] = ("prune",)
    options: dict[str, Any] = Field(default_factory=dict)
    sweeps: dict[str, list[Any]] = Field(default_factory=dict)
    ablations: tuple[str, ...] = ()
    out: Annotated[Path, AfterValidator(expand_path)]
    shared: bool = False
    """Whether a new folder is readable for all users of this machine, not only for its owner."""
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    at_once: int = 8
    workers: int = 1
    ray: str | None = None
    """The address of a Ray cluster that encodes and answers; "local" starts one on this machine."""
    embedding: str = "minilm"
    index: str | None = None
    """Location of the indexes of the data sets (a folder, or an address with a tenant for each), or of the index of `questions`."""
    chunk_tokens: int | None = Field(default=None, ge=20)
    """Length of passages in tokens; by default DEFAULT_CHUNK_TOKENS."""
    label: tuple[str, ...] = ()
    """Metadata fields that are embedded with the passages, in addition to title and headings."""
    retrieval_only: bool = False
    index_kinds: tuple[str, ...] | None = None
    group_by: tuple[str, ...] = ()
    """Metadata fields that a hierarchy groups by; empty for the proposed ones."""
    build: dict[str, Any] = Field(default_factory=dict)
    """Settings of building a graph; empty for rules."""
    degrade: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    """Shares by kind of degradation: documents with removed (missing) or replaced (noise) metadata, or degraded questions and searches."""
    draws: int = 5
    """Number of random draws of those documents."""
    calls: bool = False
    """Whether each row contains its model calls, messages and replies, for `ramify export`."""

    @property
    def kinds(self) -> tuple[IndexKind, ...]:
        """Return the kinds of index of the run, its main one first; UsageError for an unknown one."""
        if self.questions is not None and self.index is not None:
            return (open_index(self.index).manifest.kind,)
        return (PLAIN_KIND,) if self.index_kinds is None else check_kinds(self.index_kinds)

    @property
    def metadata_shares(self) -> dict[str, tuple[float, ...]]:
        """Return the shares of degraded metadata, which are measured by searching without a model."""
        return {name: shares for name, shares in self.degrade.items() if name not in DEGRADATION_KINDS}

    @property
    def answer_shares(self) -> dict[DegradationKind, tuple[float, ...]]:
        """Return the shares of degraded questions and searches, which are measured with every strategy."""
        return {how: self.degrade[how] for how in DEGRADATION_KINDS if how in self.degrade}

    @property
    def work(self) -> Path:
        """Return the cache folder for converted corpora and indexes of data sets."""
        return cache_folder() / "evaluation"


def list_variants(options: RunOptions) -> list[Variant]:
    """Return the requested variants; UsageError if they cannot be run."""
    _check_run_options(options)
    search_sweeps = set() if options.strategies else swept_search_settings(options) - {RERANK_K}
    sweeps = {key: values for key, values in options.sweeps.items() if key not in search_sweeps}
    variants = make_variants(
        options.strategies, {**options.options, "seed": options.seed}, sweeps, options.ablations, options.kinds, options.answer_shares
    )
    for key in flatten_search_settings(options.options):
        if key != PRESET and key not in search_settings(options, options.kinds) and not any(key in variant.options for variant in variants):
            what = f"the setting {key!r} changes nothing in {', '.join(options.strategies) or 'a run without strategies'}"
            raise UsageError(
                what,
                unused_setting_remedy(key, options.kinds, f"`ramify settings {(*options.strategies, 'prune')[0]}` lists what there is"),
            )
    return variants


def search_settings(options: RunOptions, kinds: Iterable[IndexKind]) -> set[str]:
    """Return the settings that affect searching without a model in these kinds of index."""
    kind_settings = {name for kind in kinds for name in (VIEW_SETTING, *kind_search_defaults(kind)) if kind != PLAIN_KIND}
    return {RERANK, RERANK_K, *kind_settings} if options.retrieval_only else set()


def swept_search_settings(options: RunOptions) -> set[str]:
    """Return the swept settings that affect searching without a model, in the main kind of index."""
    return search_settings(options, options.kinds[:1]) & options.sweeps.keys()


def _check_run_options(options: RunOptions) -> None:
    _check_data(options)
    if not options.strategies and not options.retrieval_only:
        raise UsageError("no strategy is named", "name one or more with --strategy")
    for key in (*options.options, *(key for key in options.sweeps if key == "index")):
        if key in RESERVED_SETTINGS:
            raise UsageError(f"{key!r} cannot be set for a run", RESERVED_SETTINGS[key])
    values = [*options.options.values(), *(value for values in options.sweeps.values() for value in values)]
    if options.ray is not None and options.workers > 1:
        raise UsageError(f"--ray and --workers {options.workers} cannot be combined", "give one of them")
    if (options.workers > 1 or options.ray is not None) and any(isinstance(value, BaseChatModel) for value in values):
        raise UsageError("worker processes cannot share a model object", "give the model by its name, or use one worker and no --ray")
    if options.ray is not None:
        check_ray_address(options.ray)
    if options.index is not None and options.questions is None and is_store_address(options.index):
        if options.metadata_shares or options.kinds != (PLAIN_KIND,):
            raise UsageError(
                f"the index in {options.index!r} is plain", "leave --index-kind and --degrade out, or name a folder with --index"
            )
        store_at(options.index)  # raises for an invalid address before anything else
    _check_grouping(options)


def _check_data(options: RunOptions) -> None:
    """Validate data sets, questions and index; UsageError if none or both are given, or options that would build a given index."""
    if options.questions is None:
        if not options.datasets:
            raise UsageError("no data set is named", "name one, such as demo, or give --index DIR --questions FILE")
        return
    if options.datasets:
        raise UsageError(f"--questions cannot be combined with the data set {options.datasets[0]!r}", "give one of them")
    if options.index is None:
        raise UsageError("--questions needs an index", "name it with --index DIR")
    building_options = {
        "--index-kind": options.index_kinds,
        "--label": options.label,
        "--group-by": options.group_by,
        "--degrade": options.metadata_shares,
    }
    if unmet := [name for name, value in building_options.items() if value]:
        what = f"{unmet[0]} would build an index, but the existing one in {options.index!r} is used"
        raise UsageError(what, "leave the option out; to compare two indexes, make two runs and use `ramify compare`")


def _check_grouping(options: RunOptions) -> None:
    """Validate grouping and degradation; UsageError without a hierarchy, or if no measure depends on the degraded metadata."""
    group_by = ",".join(options.group_by)
    if options.group_by and HIERARCHY_KIND not in options.kinds:
        raise UsageError(f"--group-by {group_by} groups nothing", f"give --index-kind {','.join((*options.kinds, HIERARCHY_KIND))} as well")
    check_shares(options.degrade, options.draws)
    if options.answer_shares and not options.strategies:
        raise UsageError(f"--degrade {next(iter(options.answer_shares))} measures strategies", "name one or more with --strategy")
    if not options.metadata_shares:
        return
    needed = {
        "--retrieval-only": options.retrieval_only and not options.strategies,
        f"--index-kind {PLAIN_KIND},{HIERARCHY_KIND}": HIERARCHY_KIND in options.kinds,
        "--group-by FIELD": bool(options.group_by) and NO_FIELDS not in options.group_by,
    }
    if missing := [name for name, is_set in needed.items() if not is_set]:
        name = next(iter(options.metadata_shares))
        what = f"--degrade {name} measures only searching, in a hierarchy grouped by the degraded metadata"
        raise UsageError(what, f"give {' and '.join(missing)}{', and no strategy' if options.strategies else ''}")


AUTO_MODEL = "auto"
"""The model name that selects an available model."""
DEFAULT_CHUNK_TOKENS = {"document": 300, "fact": 256}
"""Default length of passages in tokens: by document, and by fact as in MultiHop-RAG."""
Notify = Callable[[str], None]


class IndexedDataset(NamedTuple):
    """A data set with the location of its indexes."""

    dataset: Dataset
    location: str
    """Location of its plain index: a folder next to those of the other kinds, or an address."""
    unlabelled: Path
    """Folder of its plain index without labels; the same as `location` if the run has none."""
    group_by: tuple[str, ...] = ()
    """Metadata fields that its hierarchy groups by; empty for the proposed ones."""
    chunk_tokens: int = DEFAULT_CHUNK_TOKENS["document"]
    """Length of its passages in tokens."""
    build: Mapping[str, Any] = MappingProxyType({})
    """Settings of building its graph."""

    @property
    def folder(self) -> Path:
        """Return the folder of its plain index."""
        return Path(self.location)

    def index_location(self, kind: IndexKind) -> str:
        """Return the location of its index of a kind."""
        if kind == PLAIN_KIND or self.dataset.index is not None:
            return self.location
        return str(index_folder(self.folder, kind, self.group_by, self.build))


class RunPlan(NamedTuple):
    """The questions, data and variants of a run."""

    sources: Sequence[IndexedDataset]
    variants: Sequence[Variant]
    seed: int
    sample: int | None
    """Number of questions per data set for sweeps and ablations; None for all."""
    tokens: dict[str, Ratios]
    """The models' token ratios at the start of the run."""
    calls: bool = False
    """Whether each row contains its model calls."""

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks ordered by question, whose variants read the same passages; variants equal to the default are skipped."""
        for source in self.sources:
            sample = self.sample_ids(source.dataset)
            for question in source.dataset.questions:
                for variant in self.variants:
                    if not variant.same_as_default and (variant.is_unchanged or question.id in sample):
                        yield self.make_task(source, question, variant)

    def sample_ids(self, dataset: Dataset) -> frozenset[str]:
        """Return the ids of the sampled questions for sweeps and ablations; the same seed gives the same sample."""
        ids = [question.id for question in dataset.questions]
        if self.sample is None or self.sample >= len(ids):
            return frozenset(ids)
        return frozenset(random.Random(self.seed).sample(ids, self.sample))

    def duplicates(self, task: Task) -> list[Task]:
        """Return the tasks with other names that are equal to this one: values of sweeps that are the default."""
        same = [variant for variant in self.variants if variant.same_as_default and variant.strategy == task.variant.strategy]
        if task.variant.name or not same:
            return []
        source = next(source for source in self.sources if source.dataset.name == task.dataset)
        return [self.make_task(source, task.question, variant) for variant in same if task.question.id in self.sample_ids(source.dataset)]

    def make_task(self, source: IndexedDataset, question: Question, variant: Variant) -> Task:
        """Return the task of a question and a variant."""
        return Task(
            dataset=source.dataset.name,
            hits_by=source.dataset.hits_by_for(question),
            index=source.index_location(variant.kind),
            question=question,
            variant=variant,
            seed=self.seed,
            tokens=self.tokens,
            calls=self.calls,
        )

    def max_model_calls(self, tasks: Iterable[Task]) -> int | None:
        """Return the maximum number of model calls of some tasks; None if unknown for one."""
        max_by_variant = {}
        for variant in self.variants:
            settings = configure(variant.strategy, variant.options)[1]
            max_by_variant[variant.strategy, variant.name] = max_calls(variant.strategy, settings, variant.arguments)
        bounds = [max_by_variant[task.variant.strategy, task.variant.name] for task in tasks]
        known_bounds = [bound.calls for bound in bounds if bound]
        return sum(known_bounds) if len(known_bounds) == len(bounds) else None


def prepare_run(
    options: RunOptions, datasets: list[tuple[str, Dataset]], variants: list[Variant], notify: Notify = lambda text: None
) -> RunPlan:
    """Resolve the models, write the manifest, and return the plan.

    ModelError if a model is missing, UsageError if the folder has a run with another configuration.
    """
    variants, models = resolve_models(variants, notify)
    model = next(iter(models), None)
    facts = options.model_dump(include={"seed", "sample", "limit", "embedding", "retrieval_only"})
    base = {name: value for name, value in options.options.items() if name != "model"}
    if datasets[0][1].origin:
        facts["embedding"] = datasets[0][1].origin["embedding"]
    recorded = {
        **facts,
        **({"index_kinds": options.kinds} if options.index_kinds is not None else {}),
        **({"label": list(options.label)} if options.label else {}),
        **({"chunk_tokens": options.chunk_tokens} if options.chunk_tokens is not None else {}),
        **({"build": serializable_options(options.build)} if options.build else {}),
        **({"index": datasets[0][1].index or store_at(options.index).where} if options.index else {}),
        **({"group_by": list(options.group_by)} if HIERARCHY_KIND in options.kinds else {}),
        "model": model,
        "reader": describe_reader(model),
        "model_file": describe_model_file(model),
        "profile": profile_digest(options.options.get("profile")),
        TOKENS_FIELD: {
            location: ratios._asdict() for location, ratios in stored_ratios().items() if location.partition(" at ")[0] in models
        },
        "base": base,
        "concurrency": options.at_once,
        "workers": options.workers,
        **({"ray": options.ray} if options.ray is not None else {}),
    }
    written = write_run_manifest(options.out, describe_run(datasets, variants, **recorded), options.shared)
    sources = []
    for _, dataset in datasets:
        location, unlabelled = _index_location(dataset, options, options.label), Path(_index_location(dataset, options))
        sources.append(IndexedDataset(dataset, location, unlabelled, options.group_by, _chunk_tokens(dataset, options), options.build))
    return RunPlan(sources, variants, options.seed, options.sample, read_ratios(written[TOKENS_FIELD]), options.calls)


def _chunk_tokens(dataset: Dataset, options: RunOptions) -> int:
    return options.chunk_tokens or DEFAULT_CHUNK_TOKENS["fact" if dataset.hits_by == "fact" else "document"]


def _index_location(dataset: Dataset, options: RunOptions, label: Sequence[str] = ()) -> str:
    if dataset.index is not None:
        return dataset.index
    name = slug(options.embedding)
    digest = "".join(file_sha256(path)[:12] for path in dataset.documents)
    labelled = "".join(f"-{slug(field)}" for field in label)
    folder_name = f"{dataset.name}-{digest}-{name}-{_chunk_tokens(dataset, options)}{labelled}"
    if options.index is not None and is_store_address(options.index):
        return f"{options.index.rstrip(':')}:{slug(folder_name)[-100:]}"
    return str((options.work / f"indexes-{LAYOUT}" if options.index is None else expand_path(options.index)) / folder_name)


def resolve_models(variants: Sequence[Variant], notify: Notify) -> tuple[list[Variant], list[str]]:
    """Return the variants with resolved models, and the models' names. Blocking.

    "auto" is replaced by the model found, so that a resumed run uses the same model. ModelError if one is missing.
    """
    clear_cache()
    resolved, names, notices = [], [], list[str]()
    for variant in variants:
        settings = configure(variant.strategy, variant.options)[1]
        model = current_model(settings)
        names.append(model.name)
        notices += model.notices
        chosen = {"model": model.name} if settings.model == AUTO_MODEL else {}
        resolved.append(variant.model_copy(update={"options": {**variant.options, **chosen}}))
    for notice in dict.fromkeys(notices):
        notify(notice)
    return resolved, names

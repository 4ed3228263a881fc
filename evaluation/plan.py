"""The order of a run, checked, and the plan made from it: the questions, data, indexes and variants, and the maximum cost."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from pydantic import AfterValidator, Field

from ramify.evaluation.dataset import Dataset, Question
from ramify.evaluation.degraded import HOWS, How, check_shares
from ramify.evaluation.manifest import TOKENS, describe, file_of, profile_of, reader_of, write_manifest
from ramify.evaluation.task import Task
from ramify.evaluation.variants import (
    HIERARCHY,
    PLAIN,
    VIEW,
    Variant,
    check_kinds,
    flatten_search,
    folder_of,
    named,
    own_settings,
    remedy,
    slug,
    variants,
)
from ramify.graphs.strategies import PRESET, configure, max_calls
from ramify.nodes.asking.ask import current_model
from ramify.nodes.tree import FrozenModel
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.leaves import NONE
from ramify.tools.index.index_store import is_address, store_at
from ramify.tools.index.manifest import LAYOUT, Kind, file_sha256
from ramify.tools.index.searcher import opened
from ramify.tools.models import clear_cache
from ramify.tools.models.tokens import Ratios, read_ratios, stored_ratios
from ramify.tools.new_files import cache_folder
from ramify.tools.ray_cluster import check_address
from ramify.tools.user_input import expand_path

ELSEWHERE = {
    "index": "each data set is asked about its own documents: --index says where their indexes lie",
    "seed": "give it by --seed, or several of them by --sweep seed=0,1,2",
}
"""Settings that are given by other options of a run."""
RERANK, RERANK_K = "rerank", "rerank_k"
"""Settings of reranking that searching alone heeds, too: the first may be swept there."""


class Order(FrozenModel):
    """The options of a run."""

    datasets: tuple[str, ...] = ()
    questions: Path | None = None
    """A file of questions about the documents of `index`, which is searched as it is; then there are no data sets."""
    strategies: tuple[str, ...] = ("prune",)
    options: dict[str, Any] = Field(default_factory=dict)
    sweeps: dict[str, list[Any]] = Field(default_factory=dict)
    ablations: tuple[str, ...] = ()
    out: Annotated[Path, AfterValidator(expand_path)]
    shared: bool = False
    """Whether everybody on this machine may read its folder, which is its owner's alone where it is made."""
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    at_once: int = 8
    workers: int = 1
    ray: str | None = None
    """The address of a Ray cluster that encodes and asks; "local" starts one on this machine."""
    embedding: str = "minilm"
    index: str | None = None
    """Where the indexes of the data sets lie: a folder, or an address whose collection has a tenant for each; or that of `questions`."""
    chunk_tokens: int | None = Field(default=None, ge=20)
    """Length of passages; not given: that of CHUNK_TOKENS."""
    label: tuple[str, ...] = ()
    """Fields of metadata that passages are searched under, beside title and headings."""
    retrieval_only: bool = False
    index_kinds: tuple[str, ...] | None = None
    group_by: tuple[str, ...] = ()
    """Fields of metadata that a hierarchy groups by; empty: those that are proposed."""
    build: dict[str, Any] = Field(default_factory=dict)
    """Settings of building a graph; empty: by rules."""
    degrade: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    """Shares of the documents whose metadata are taken away (missing) or made wrong (noise); of a strategy's questions and searches."""
    draws: int = 5
    """How often those documents are drawn."""
    calls: bool = False
    """Whether each line keeps its calls, the messages and the replies, for `ramify export`."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Return the kinds of index to run on, the run's own first; UsageError for an unknown one."""
        if self.questions is not None and self.index is not None:
            return (opened(self.index).manifest.kind,)
        return (PLAIN,) if self.index_kinds is None else check_kinds(self.index_kinds)

    @property
    def metadata_shares(self) -> dict[str, tuple[float, ...]]:
        """Return the shares of documents whose metadata are degraded, which searching alone is measured with."""
        return {name: shares for name, shares in self.degrade.items() if name not in HOWS}

    @property
    def answer_shares(self) -> dict[How, tuple[float, ...]]:
        """Return the shares of questions and searches that are degraded for every strategy."""
        return {how: self.degrade[how] for how in HOWS if how in self.degrade}

    @property
    def work(self) -> Path:
        """Return the cache folder for converted corpora and indexes."""
        return cache_folder() / "evaluation"


def variants_of(order: Order) -> list[Variant]:
    """Return the requested variants; UsageError if they cannot be run."""
    _checked(order)
    of_searching = set() if order.strategies else swept_in_searching(order) - {RERANK_K}
    sweeps = {key: values for key, values in order.sweeps.items() if key not in of_searching}
    found = variants(order.strategies, {**order.options, "seed": order.seed}, sweeps, order.ablations, order.kinds, order.answer_shares)
    for key in flatten_search(order.options):
        if key != PRESET and key not in heeded_in_searching(order, order.kinds) and not any(key in one.options for one in found):
            what = f"the setting {key!r} changes nothing in {', '.join(order.strategies) or 'a run without strategies'}"
            raise UsageError(what, remedy(key, order.kinds, f"`ramify settings {(*order.strategies, 'prune')[0]}` lists what there is"))
    return found


def heeded_in_searching(order: Order, kinds: Iterable[Kind]) -> set[str]:
    """Return the settings that affect search without a model in some kinds of index."""
    own = {name for kind in kinds for name in (VIEW, *own_settings(kind)) if kind != PLAIN}
    return {RERANK, RERANK_K, *own} if order.retrieval_only else set()


def swept_in_searching(order: Order) -> set[str]:
    """Return the swept settings that affect search without a model, in the run's own kind of index."""
    return heeded_in_searching(order, order.kinds[:1]) & order.sweeps.keys()


def _checked(order: Order) -> None:
    _check_data(order)
    if not order.strategies and not order.retrieval_only:
        raise UsageError("no strategy is named", "name one or more with --strategy")
    for key in (*order.options, *(key for key in order.sweeps if key == "index")):
        if key in ELSEWHERE:
            raise UsageError(f"{key!r} cannot be set for a run", ELSEWHERE[key])
    values = [*order.options.values(), *(value for values in order.sweeps.values() for value in values)]
    if order.ray is not None and order.workers > 1:
        raise UsageError(f"--ray and --workers {order.workers} are two ways to share the work", "give one of them")
    if (order.workers > 1 or order.ray is not None) and any(isinstance(value, BaseChatModel) for value in values):
        raise UsageError("several processes cannot share a model that is an object", "give it by its name, or take one worker and no --ray")
    if order.ray is not None:
        check_address(order.ray)
    if order.index is not None and order.questions is None and is_address(order.index):
        if order.metadata_shares or order.kinds != (PLAIN,):
            raise UsageError(
                f"the index in {order.index!r} is plain", "leave --index-kind and --degrade out, or name a folder with --index"
            )
        store_at(order.index)  # a bad address is told at once
    _check_grouping(order)


def _check_data(order: Order) -> None:
    """Refuse a run about nothing or about two things at once, and to build anything where an index is given."""
    if order.questions is None:
        if not order.datasets:
            raise UsageError("there is nothing to ask", "name a data set, such as demo, or give --index DIR --questions FILE")
        return
    if order.datasets:
        raise UsageError(f"--questions is for an index of your own, and {order.datasets[0]!r} is a data set", "give one of them")
    if order.index is None:
        raise UsageError("--questions needs the index that they are about", "name it with --index DIR")
    given = {"--index-kind": order.index_kinds, "--label": order.label, "--group-by": order.group_by, "--degrade": order.metadata_shares}
    if unmet := [name for name, value in given.items() if value]:
        what = f"{unmet[0]} builds an index, and the one in {order.index!r} is searched as it is"
        raise UsageError(what, "leave it out; another index is another run, with which `ramify compare` compares this one")


def _check_grouping(order: Order) -> None:
    """Refuse to group without a hierarchy, and to degrade metadata if nothing that depends on them is measured."""
    told = ",".join(order.group_by)
    if order.group_by and HIERARCHY not in order.kinds:
        raise UsageError(f"--group-by {told} groups nothing", f"give --index-kind {','.join((*order.kinds, HIERARCHY))} as well")
    check_shares(order.degrade, order.draws)
    if order.answer_shares and not order.strategies:
        raise UsageError(f"--degrade {next(iter(order.answer_shares))} measures strategies", "name one or more with --strategy")
    if not order.metadata_shares:
        return
    needed = {
        "--retrieval-only": order.retrieval_only and not order.strategies,
        f"--index-kind {PLAIN},{HIERARCHY}": HIERARCHY in order.kinds,
        "--group-by FIELD": bool(order.group_by) and NONE not in order.group_by,
    }
    if missing := [name for name, given in needed.items() if not given]:
        name = next(iter(order.metadata_shares))
        what = f"--degrade {name} measures searching alone, in a hierarchy that is grouped by the metadata degraded"
        raise UsageError(what, f"give {' and '.join(missing)}{', and no strategy' if order.strategies else ''}")


AUTO = "auto"
"""The model that takes what it finds."""
CHUNK_TOKENS = {"document": 300, "fact": 256}
"""Length of passages: the toolkit's own, and MultiHop-RAG's."""
Tell = Callable[[str], None]


class IndexedDataset(NamedTuple):
    """A data set with the folder of its index."""

    dataset: Dataset
    place: str
    """Of its plain index: a folder, beside which the other kinds lie, or an address."""
    bare: Path
    """Of its plain index without labels; the same where the run has none."""
    group_by: tuple[str, ...] = ()
    """Fields of metadata that its hierarchy groups by; empty: those that are proposed."""
    chunk_tokens: int = CHUNK_TOKENS["document"]
    """Length of its passages."""
    build: Mapping[str, Any] = MappingProxyType({})
    """Settings of building its graph."""

    @property
    def folder(self) -> Path:
        """Return the folder of its plain index."""
        return Path(self.place)

    def holding(self, kind: Kind) -> str:
        """Return the place of its index of a kind."""
        if kind == PLAIN or self.dataset.index is not None:
            return self.place
        return str(folder_of(self.folder, kind, self.group_by, self.build))


class RunPlan(NamedTuple):
    """The questions, data and variants of a run."""

    sources: Sequence[IndexedDataset]
    variants: Sequence[Variant]
    seed: int
    sample: int | None
    """Questions of each set that sweeps and ablations are run on; all where none is given."""
    tokens: dict[str, Ratios]
    """What was known of the models' tokens when the run began."""
    calls: bool = False
    """Whether each line keeps its calls."""

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks, question by question because its variants read the same passages; variants equal to the default are skipped."""
        for source in self.sources:
            sampled = self.sampled(source.dataset)
            for question in source.dataset.questions:
                for variant in self.variants:
                    if not variant.same_as_default and (variant.whole or question.id in sampled):
                        yield self.task_of(source, question, variant)

    def sampled(self, dataset: Dataset) -> frozenset[str]:
        """Return the sample of questions for sweeps and ablations; the same seed gives the same ones."""
        ids = [question.id for question in dataset.questions]
        if self.sample is None or self.sample >= len(ids):
            return frozenset(ids)
        return frozenset(random.Random(self.seed).sample(ids, self.sample))

    def duplicates(self, task: Task) -> list[Task]:
        """Return the tasks equal to this one under another name: a sweep's value that is the default."""
        same = [one for one in self.variants if one.same_as_default and one.strategy == task.variant.strategy]
        if task.variant.name or not same:
            return []
        source = next(source for source in self.sources if source.dataset.name == task.dataset)
        return [self.task_of(source, task.question, one) for one in same if task.question.id in self.sampled(source.dataset)]

    def task_of(self, source: IndexedDataset, question: Question, variant: Variant) -> Task:
        """Return the task of a question and a variant."""
        return Task(
            dataset=source.dataset.name,
            hits_by=source.dataset.counted_by(question),
            index=source.holding(variant.kind),
            question=question,
            variant=variant,
            seed=self.seed,
            tokens=self.tokens,
            calls=self.calls,
        )

    def most_calls(self, tasks: Iterable[Task]) -> int | None:
        """Return the maximum number of model calls of some tasks; None if unknown for one."""
        most = {}
        for one in self.variants:
            settings = configure(one.strategy, one.options)[1]
            most[one.strategy, one.name] = max_calls(one.strategy, settings, one.arguments)
        bounds = [most[task.variant.strategy, task.variant.name] for task in tasks]
        known = [one.calls for one in bounds if one]
        return sum(known) if len(known) == len(bounds) else None


def prepare(order: Order, datasets: list[tuple[str, Dataset]], wanted: list[Variant], tell: Tell = lambda text: None) -> RunPlan:
    """Resolve the models, write the manifest, and return the plan.

    ModelError if a model is missing, UsageError if the folder has a run with another configuration.
    """
    wanted, models = with_models(wanted, tell)
    model = next(iter(models), None)
    facts = order.model_dump(include={"seed", "sample", "limit", "embedding", "retrieval_only"})
    base = {name: value for name, value in order.options.items() if name != "model"}
    if datasets[0][1].origin:
        facts["embedding"] = datasets[0][1].origin["embedding"]
    told = {
        **facts,
        **({"index_kinds": order.kinds} if order.index_kinds is not None else {}),
        **({"label": list(order.label)} if order.label else {}),
        **({"chunk_tokens": order.chunk_tokens} if order.chunk_tokens is not None else {}),
        **({"build": named(order.build)} if order.build else {}),
        **({"index": datasets[0][1].index or store_at(order.index).where} if order.index else {}),
        **({"group_by": list(order.group_by)} if HIERARCHY in order.kinds else {}),
        "model": model,
        "reader": reader_of(model),
        "model_file": file_of(model),
        "profile": profile_of(order.options.get("profile")),
        TOKENS: {place: ratios._asdict() for place, ratios in stored_ratios().items() if place.partition(" at ")[0] in models},
        "base": base,
        "concurrency": order.at_once,
        "workers": order.workers,
        **({"ray": order.ray} if order.ray is not None else {}),
    }
    written = write_manifest(order.out, describe(datasets, wanted, **told), order.shared)
    sources = []
    for _, dataset in datasets:
        place, bare = _place(dataset, order, order.label), Path(_place(dataset, order))
        sources.append(IndexedDataset(dataset, place, bare, order.group_by, _chunk_tokens(dataset, order), order.build))
    return RunPlan(sources, wanted, order.seed, order.sample, read_ratios(written[TOKENS]), order.calls)


def _chunk_tokens(dataset: Dataset, order: Order) -> int:
    return order.chunk_tokens or CHUNK_TOKENS["fact" if dataset.hits_by == "fact" else "document"]


def _place(dataset: Dataset, order: Order, label: Sequence[str] = ()) -> str:
    if dataset.index is not None:
        return dataset.index
    name = slug(order.embedding)
    digest = "".join(file_sha256(path)[:12] for path in dataset.documents)
    labelled = "".join(f"-{slug(field)}" for field in label)
    called = f"{dataset.name}-{digest}-{name}-{_chunk_tokens(dataset, order)}{labelled}"
    if order.index is not None and is_address(order.index):
        return f"{order.index.rstrip(':')}:{slug(called)[-100:]}"
    return str((order.work / f"indexes-{LAYOUT}" if order.index is None else expand_path(order.index)) / called)


def with_models(wanted: Sequence[Variant], tell: Tell) -> tuple[list[Variant], list[str]]:
    """Return the variants with resolved models, and the models' names. Blocking.

    "auto" is replaced by the model found, so that the whole run, and a resumed one, asks the same model. ModelError if one is missing.
    """
    clear_cache()
    found, names, notices = [], [], list[str]()
    for variant in wanted:
        settings = configure(variant.strategy, variant.options)[1]
        model = current_model(settings)
        names.append(model.name)
        notices += model.notices
        chosen = {"model": model.name} if settings.model == AUTO else {}
        found.append(variant.model_copy(update={"options": {**variant.options, **chosen}}))
    for notice in dict.fromkeys(notices):
        tell(notice)
    return found, names

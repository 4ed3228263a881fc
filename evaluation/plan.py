"""The plan of a run: which questions it asks, of which data and index, with which variants; and the most that it can cost."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ramify.evaluation.asking.one_question import Task
from ramify.evaluation.dataset import Dataset, Question
from ramify.evaluation.index_kinds import HIERARCHY, PLAIN, folder_of, written
from ramify.evaluation.manifest import TOKENS, describe, file_of, reader_of, write_manifest
from ramify.evaluation.order import Order
from ramify.evaluation.variants import Variant
from ramify.graphs.strategies import configure, max_calls
from ramify.nodes.asking.ask import current_model
from ramify.tools.index.location import home_of, is_address
from ramify.tools.index.manifest import Kind, file_sha256
from ramify.tools.models import forget
from ramify.tools.models.learned_tokens import Ratios, kept_ratios, read_ratios
from ramify.tools.typed import usable

AUTO = "auto"
"""The model that takes what it finds."""
CHUNK_TOKENS = {"document": 300, "fact": 256}
"""Length of passages: the toolkit's own, and MultiHop-RAG's."""
Tell = Callable[[str], None]


class Source(NamedTuple):
    """A data set with the folder of its index."""

    path: str
    dataset: Dataset
    place: str
    """Of its plain index: a folder, beside which the other kinds lie, or an address."""
    bare: Path
    """Of its plain index without labels; the same where the run has none."""
    group_by: tuple[str, ...] = ()
    """Fields of metadata that its hierarchy groups by; empty: those that are proposed."""

    @property
    def folder(self) -> Path:
        """Name the folder of its plain index."""
        return Path(self.place)

    def holding(self, kind: Kind) -> str:
        """Name the place of its index of a kind."""
        return self.place if kind == PLAIN else str(folder_of(self.folder, kind, self.group_by))


class Plan(NamedTuple):
    """What is to be asked."""

    sources: Sequence[Source]
    variants: Sequence[Variant]
    seed: int
    sample: int | None
    """Questions of each set that sweeps and ablations are run on; all where none is given."""
    tokens: dict[str, Ratios]
    """What was known of the models' tokens when the run began."""

    def tasks(self) -> Iterator[Task]:
        """List the tasks question by question, because its variants read the same passages; a variant that is the default is not asked."""
        for source in self.sources:
            sampled = self.sampled(source.dataset)
            for question in source.dataset.questions:
                for variant in self.variants:
                    if not variant.same_as_default and (variant.whole or question.id in sampled):
                        yield self.task_of(source, question, variant)

    def sampled(self, dataset: Dataset) -> frozenset[str]:
        """Draw the questions for sweeps and ablations: the same ones for the same seed."""
        ids = [question.id for question in dataset.questions]
        if self.sample is None or self.sample >= len(ids):
            return frozenset(ids)
        return frozenset(random.Random(self.seed).sample(ids, self.sample))

    def twins(self, task: Task) -> list[Task]:
        """List the tasks that are the same as this one under another name: a sweep's value that is the default."""
        same = [one for one in self.variants if one.same_as_default and one.strategy == task.variant.strategy]
        if task.variant.name or not same:
            return []
        source = next(source for source in self.sources if source.dataset.name == task.dataset)
        return [self.task_of(source, task.question, one) for one in same if task.question.id in self.sampled(source.dataset)]

    def task_of(self, source: Source, question: Question, variant: Variant) -> Task:
        """Make the task of a question and a variant."""
        return Task(
            dataset=source.dataset.name,
            hits_by=source.dataset.hits_by,
            index=source.holding(variant.kind),
            question=question,
            variant=variant,
            seed=self.seed,
            tokens=self.tokens,
        )

    def most_calls(self, tasks: Iterable[Task]) -> int | None:
        """Give the most model calls that some of its tasks can take; None where that is not known of one."""
        most = {}
        for one in self.variants:
            settings = configure(one.strategy, one.options)[1]
            most[one.strategy, one.name] = max_calls(one.strategy, settings, one.arguments)
        bounds = [most[task.variant.strategy, task.variant.name] for task in tasks]
        known = [one.calls for one in bounds if one]
        return sum(known) if len(known) == len(bounds) else None


def prepare(order: Order, datasets: list[tuple[str, Dataset]], wanted: list[Variant], tell: Tell = lambda text: None) -> Plan:
    """Look the models up, and note down in the run's folder what it is.

    ModelError where a model is missing, UsageError where the folder holds a run of another configuration.
    """
    wanted, models = with_models(wanted, tell)
    model = next(iter(models), None)
    facts = order.model_dump(include={"seed", "sample", "limit", "embedding", "retrieval_only"})
    base = {name: value for name, value in order.options.items() if name != "model"}
    told = {
        **facts,
        **({"index_kinds": order.kinds} if order.index_kinds is not None else {}),
        **({"label": list(order.label)} if order.label else {}),
        **({"index": home_of(order.index).where} if order.index else {}),
        **({"group_by": list(order.group_by)} if HIERARCHY in order.kinds else {}),
        "model": model,
        "reader": reader_of(model),
        "model_file": file_of(model),
        TOKENS: {place: ratios._asdict() for place, ratios in kept_ratios().items() if place.partition(" at ")[0] in models},
        "base": base,
        "concurrency": order.at_once,
        "workers": order.workers,
        **({"ray": order.ray} if order.ray is not None else {}),
    }
    written = write_manifest(order.out, describe(datasets, wanted, **told), order.shared)
    sources = [
        Source(path, dataset, _place(dataset, order, order.label), Path(_place(dataset, order)), order.group_by)
        for path, dataset in datasets
    ]
    return Plan(sources, wanted, order.seed, order.sample, read_ratios(written[TOKENS]))


def _place(dataset: Dataset, order: Order, label: Sequence[str] = ()) -> str:
    name = written(order.embedding)
    digest = "".join(file_sha256(path)[:12] for path in dataset.documents)
    labelled = "".join(f"-{written(field)}" for field in label)
    called = f"{dataset.name}-{digest}-{name}-{CHUNK_TOKENS[dataset.hits_by]}{labelled}"
    if order.index is not None and is_address(order.index):
        return f"{order.index.rstrip(':')}:{written(called)[-100:]}"
    return str((order.work / "indexes" if order.index is None else usable(order.index)) / called)


def with_models(wanted: Sequence[Variant], tell: Tell) -> tuple[list[Variant], list[str]]:
    """Give the variants with models that are there, and the models' names; blocking.

    "auto" becomes what it finds, so that the whole run, and whoever goes on with it, asks one model. ModelError where one is missing.
    """
    forget()
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

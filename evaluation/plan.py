"""What a run is to ask: which questions, of which data, with which variants; and the most that it can cost."""

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ramify.evaluation.asking import Task
from ramify.evaluation.dataset import Dataset, Question
from ramify.evaluation.index_kinds import PLAIN, folder_of
from ramify.evaluation.variants import Variant
from ramify.graphs.ceiling import ceiling
from ramify.graphs.strategies import configure
from ramify.tools.index.manifest import Kind


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

    def tasks(self) -> Iterator[Task]:
        """List the tasks question by question, because its variants read the same passages; a variant that is the default is not asked."""
        for source in self.sources:
            sampled = self.sampled(source.dataset)
            for question in source.dataset.questions:
                for variant in self.variants:
                    if not variant.same_as_default and (variant.whole or question.id in sampled):
                        yield task_of(source, question, variant, self.seed)

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
        return [task_of(source, task.question, one, self.seed) for one in same if task.question.id in self.sampled(source.dataset)]

    def most_calls(self, tasks: Iterable[Task]) -> int:
        """Give the most model calls that some of its tasks can take."""
        most = {(one.strategy, one.name): _most(one) for one in self.variants}
        return sum(most[task.variant.strategy, task.variant.name] for task in tasks)


def task_of(source: Source, question: Question, variant: Variant, seed: int) -> Task:
    """Make the task of a question and a variant."""
    dataset = source.dataset
    index = source.holding(variant.kind)
    return Task(dataset=dataset.name, hits_by=dataset.hits_by, index=index, question=question, variant=variant, seed=seed)


def _most(variant: Variant) -> int:
    _, settings = configure(variant.strategy, variant.options)
    return ceiling(variant.strategy, settings, variant.arguments).calls

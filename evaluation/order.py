"""What is wanted of a run, and whether that makes sense."""

from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import Field

from ramify.evaluation.variants import Variant, variants
from ramify.nodes.tree import Value
from ramify.tools.demo import cache_folder
from ramify.tools.errors import UsageError

ELSEWHERE = {
    "index": "each data set is asked about its own documents, so leave it out",
    "seed": "give it by --seed, or several of them by --sweep seed=0,1,2",
}
"""Settings that a run has another place for."""
RERANK, RERANK_K = "rerank", "rerank_k"
"""Settings that searching alone heeds, too: the first may be swept there."""


class Order(Value):
    """What is wanted of a run."""

    datasets: tuple[str, ...]
    strategies: tuple[str, ...] = ("prune",)
    options: dict[str, Any] = Field(default_factory=dict)
    sweeps: dict[str, list[Any]] = Field(default_factory=dict)
    ablations: tuple[str, ...] = ()
    out: Path
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    at_once: int = 8
    workers: int = 1
    embedding: str = "minilm"
    retrieval_only: bool = False

    @property
    def work(self) -> Path:
        """Name the folder for what can be made again: converted corpora and indexes."""
        return cache_folder() / "evaluation"


def variants_of(order: Order) -> list[Variant]:
    """List the variants that are wanted; UsageError for what cannot be run."""
    _checked(order)
    heeded = {RERANK, RERANK_K} if order.retrieval_only else set()
    sweeps = {key: values for key, values in order.sweeps.items() if order.strategies or key not in heeded - {RERANK_K}}
    found = variants(order.strategies, {**order.options, "seed": order.seed}, sweeps, order.ablations)
    for key in order.options:
        if key not in heeded and not any(key in one.options for one in found):
            what = f"the setting {key!r} changes nothing in {', '.join(order.strategies) or 'a run without strategies'}"
            raise UsageError(what, f"`ramify settings {(*order.strategies, 'prune')[0]}` lists what there is")
    return found


def _checked(order: Order) -> None:
    if not order.strategies and not order.retrieval_only:
        raise UsageError("no strategy is named", "name one or more with --strategy")
    for key in (*order.options, *(key for key in order.sweeps if key == "index")):
        if key in ELSEWHERE:
            raise UsageError(f"{key!r} cannot be set for a run", ELSEWHERE[key])
    values = [*order.options.values(), *(value for values in order.sweeps.values() for value in values)]
    if order.workers > 1 and any(isinstance(value, BaseChatModel) for value in values):
        raise UsageError("several processes cannot share a model that is an object", "give it by its name, or take one worker")

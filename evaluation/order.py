"""What is wanted of a run, and whether that makes sense."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from langchain_core.language_models import BaseChatModel
from pydantic import AfterValidator, Field

from ramify.evaluation.index_kinds import HIERARCHY, PLAIN, VIEW, checked, dotted, own_settings, remedy
from ramify.evaluation.searching.degraded_cells import check_shares
from ramify.evaluation.variants import Variant, variants
from ramify.nodes.tree import FrozenModel
from ramify.tools.cache_folder import cache_folder
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.groups_and_nodes import NONE
from ramify.tools.index.location import home_of, is_address
from ramify.tools.index.manifest import Kind
from ramify.tools.ray.address import check_address
from ramify.tools.typed import usable

ELSEWHERE = {
    "index": "each data set is asked about its own documents: --index says where their indexes lie",
    "seed": "give it by --seed, or several of them by --sweep seed=0,1,2",
}
"""Settings that a run has another place for."""
RERANK, RERANK_K = "rerank", "rerank_k"
"""Settings of reranking that searching alone heeds, too: the first may be swept there."""


class Order(FrozenModel):
    """What is wanted of a run."""

    datasets: tuple[str, ...]
    strategies: tuple[str, ...] = ("prune",)
    options: dict[str, Any] = Field(default_factory=dict)
    sweeps: dict[str, list[Any]] = Field(default_factory=dict)
    ablations: tuple[str, ...] = ()
    out: Annotated[Path, AfterValidator(usable)]
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
    """Where the indexes of the data sets lie: a folder, or an address whose collection has a tenant for each."""
    label: tuple[str, ...] = ()
    """Fields of metadata that passages are searched under, beside title and headings."""
    retrieval_only: bool = False
    index_kinds: tuple[str, ...] | None = None
    group_by: tuple[str, ...] = ()
    """Fields of metadata that a hierarchy groups by; empty: those that are proposed."""
    degrade: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    """Shares of the documents whose metadata are taken away (missing) or made wrong (noise)."""
    draws: int = 5
    """How often those documents are drawn."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """List the kinds of index to run on, the run's own first; UsageError for one that there is not."""
        return (PLAIN,) if self.index_kinds is None else checked(self.index_kinds)

    @property
    def work(self) -> Path:
        """Name the folder for what can be made again: converted corpora and indexes."""
        return cache_folder() / "evaluation"


def variants_of(order: Order) -> list[Variant]:
    """List the variants that are wanted; UsageError for what cannot be run."""
    _checked(order)
    of_searching = set() if order.strategies else swept_in_searching(order) - {RERANK_K}
    sweeps = {key: values for key, values in order.sweeps.items() if key not in of_searching}
    found = variants(order.strategies, {**order.options, "seed": order.seed}, sweeps, order.ablations, order.kinds)
    for key in dotted(order.options):
        if key not in heeded_in_searching(order, order.kinds) and not any(key in one.options for one in found):
            what = f"the setting {key!r} changes nothing in {', '.join(order.strategies) or 'a run without strategies'}"
            raise UsageError(what, remedy(key, order.kinds, f"`ramify settings {(*order.strategies, 'prune')[0]}` lists what there is"))
    return found


def heeded_in_searching(order: Order, kinds: Iterable[Kind]) -> set[str]:
    """List the settings that searching alone heeds in some kinds of index."""
    own = {name for kind in kinds for name in (VIEW, *own_settings(kind)) if kind != PLAIN}
    return {RERANK, RERANK_K, *own} if order.retrieval_only else set()


def swept_in_searching(order: Order) -> set[str]:
    """List the settings that are swept and that searching alone heeds: a sweep is in the run's own kind of index."""
    return heeded_in_searching(order, order.kinds[:1]) & order.sweeps.keys()


def _checked(order: Order) -> None:
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
    if order.index is not None and is_address(order.index):
        if order.degrade or order.kinds != (PLAIN,):
            raise UsageError(
                f"the index in {order.index!r} is plain", "leave --index-kind and --degrade out, or name a folder with --index"
            )
        home_of(order.index)  # a bad address is told at once
    _check_grouping(order)


def _check_grouping(order: Order) -> None:
    """Refuse to group where there is no hierarchy, and to degrade metadata where nothing is measured that rests on them."""
    told = ",".join(order.group_by)
    if order.group_by and HIERARCHY not in order.kinds:
        raise UsageError(f"--group-by {told} groups nothing", f"give --index-kind {','.join((*order.kinds, HIERARCHY))} as well")
    if not order.degrade:
        return
    needed = {
        "--retrieval-only": order.retrieval_only and not order.strategies,
        f"--index-kind {PLAIN},{HIERARCHY}": HIERARCHY in order.kinds,
        "--group-by FIELD": bool(order.group_by) and NONE not in order.group_by,
    }
    if missing := [name for name, given in needed.items() if not given]:
        what = f"--degrade {next(iter(order.degrade))} measures searching alone, in a hierarchy that is grouped by the metadata degraded"
        raise UsageError(what, f"give {' and '.join(missing)}{', and no strategy' if order.strategies else ''}")
    check_shares(order.degrade, order.draws)

"""Plug-ins: what installed packages offer in the entry-point groups `ramify.…`, ours among them; the core imports none by its own name.

| group | name | object |
|---|---|---|
| `ramify.commands` | of the command | a `ramify.studio.commands.Command` |
| `ramify.models` | before the colon of the model's name | a class derived from `ramify.nodes.asking.answerer.Answerer` |
| `ramify.relevance` | `reader` | a module as `ramify.tools.reader.Reader` |
| `ramify.rerankers` | scheme: before `://` in the address | a function of the address that returns a `tools.search.relevance.Ranker` |
| `ramify.embeddings` | of the encoder | a `Pretrained` of `ramify.tools.embeddings.pretrained`, or an `Embeddings` of LangChain |
| `ramify.downloads` | of the model | a `tools.downloads.Download` |
| `ramify.stores` | scheme: before the colon of the address | a function of the address that returns an `IndexStore` |
| `ramify.kinds` | `graph`, `hierarchy` | a `ramify.tools.index.kind.Kind` |
| | `estimate` | a function that prints what a build would cost, called by `ramify index --estimate` |
| `ramify.readers` | suffix of the files, such as `.pdf` | a `ramify.tools.documents.readers.FormatReader` |
| | `check-reading` | a function of paths, called by `ramify index --check-reading` |
| `ramify.clusters` | of the option that names its address | a function of the address and an encoder that returns an `Encoding` |
| `ramify.strategies` | of the strategy | a `ramify.graphs.Strategy` |
"""

import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from ramify.tools.errors import PluginError, RamifyError

Group = Literal[
    "ramify.commands",
    "ramify.models",
    "ramify.relevance",
    "ramify.rerankers",
    "ramify.embeddings",
    "ramify.downloads",
    "ramify.stores",
    "ramify.kinds",
    "ramify.readers",
    "ramify.clusters",
    "ramify.strategies",
]


def names(group: Group) -> list[str]:
    """Return the names that installed packages offer in a group, without importing anything; [] if there are none."""
    return list(dict.fromkeys(point.name for point in _offers(*sys.path).select(group=group)))


def load(group: Group, name: str) -> Any:
    """Import the object of a name; PluginError if none is offered, several packages offer one, or it cannot be imported."""
    points = list(_offers(*sys.path).select(group=group, name=name))
    if not points:
        raise PluginError(
            f"no installed package offers {name!r} in {group}",
            "check the name; of ramify's own: reinstall ramify-rag, else install the package that offers it",
        )
    distributions = ", ".join(dict.fromkeys(map(_distribution, points)))
    if len(points) > 1:
        raise PluginError(f"{name!r} of {group} is offered by several: {distributions}", "uninstall all of these packages but one")
    try:
        return points[0].load()
    except (RamifyError, MemoryError):  # clear as they are
        raise
    except Exception as error:
        what = f"{name!r} of {group}, which {distributions} offers, cannot be loaded: {type(error).__name__}: {error}"
        raise PluginError(what, f"update or uninstall {distributions}") from error


@cache
def _offers(*_path: str) -> Any:
    """Return the entry points of the packages on a path, which takes 20 ms to read."""
    return entry_points()


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value

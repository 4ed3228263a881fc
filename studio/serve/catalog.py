"""What a server offers: collections by name, strategies, models, and the options that each question gets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

from ramify.graphs.run import check_reviewer
from ramify.graphs.strategies import STRATEGIES, Strategy, build, configure, find_strategy
from ramify.graphs.tool import ABOUT_DEMO
from ramify.nodes.settings import Settings
from ramify.studio.server.bounds import check_allowed, names_of
from ramify.tools.errors import UsageError
from ramify.tools.index.collections import Collections as Searched
from ramify.tools.index.index_store import is_address
from ramify.tools.index.manifest import Manifest
from ramify.tools.index.searcher import DEMO, opened
from ramify.tools.quoting import truncate_line
from ramify.tools.scrub import mask_address

T = TypeVar("T")
COMMAND = "ramify serve"
OF_THE_SERVER = ("index", "model", "base_url", "profile")
"""Settings that a request does not give: it names a collection and one of the server's models; the operator names the profile."""
QUOTED = 80
"""Characters of a value that is refused."""
AND = "+"
"""Between the names of collections that one question is asked of: none has it in its name."""
_SHAPE = ("type", "anyOf", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "examples")
"""What of a JSON schema says which values a setting can have."""


@dataclass(frozen=True)
class Collection:
    """An index under the name that requests give."""

    name: str
    where: str
    """Its folder or address, or `demo`."""

    def manifest(self) -> Manifest:
        """Read what is known of it; blocking."""
        return opened(self.where).manifest

    def to_json(self) -> dict[str, Any]:
        """Describe it; blocking."""
        manifest = self.manifest()
        return {
            "name": self.name,
            "path": self.name if self.where == DEMO else mask_address(self.where) if is_address(self.where) else Path(self.where).name,
            "kind": manifest.kind,
            "documents": manifest.documents,
            "passages": manifest.passages,
            "description": ABOUT_DEMO if self.where == DEMO else manifest.description,
        }


@dataclass(frozen=True)
class Selection:
    """The collections that a question is asked of: one, or several that are searched together."""

    members: tuple[Collection, ...]

    @property
    def name(self) -> str:
        """Return the name, of several all of them."""
        return AND.join(one.name for one in self.members)

    @property
    def index(self) -> str | Searched:
        """Return what is searched; UsageError where two names stand for the same index."""
        if len(self.members) == 1:
            return self.members[0].where
        several = Searched.of([one.where for one in self.members])
        return replace(several, names=tuple(one.name for one in self.members))

    def locate(self, passage: str) -> tuple[Collection, str] | None:
        """Return the collection of a passage and its id there; where there are several, the id begins with the collection's name."""
        if len(self.members) == 1:
            return self.members[0], passage
        name, _, identity = passage.partition(":")
        found = next((one for one in self.members if one.name == name), None)
        return (found, identity) if found else None


def named(indexes: Sequence[str]) -> dict[str, Collection]:
    """Name collections by the last part of their paths, which is numbered where it is taken; the demo where there is none."""
    places = indexes or [DEMO]
    return {name: Collection(name, where) for name, where in zip(names_of(places), places, strict=True)}


@dataclass(frozen=True)
class Catalog:
    """What questions may name, and what they get where they name nothing: the first of each."""

    collections: dict[str, Collection]
    strategy: str
    models: Sequence[str]
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of every question, where its strategy has them."""

    def collection(self, name: str | None) -> Collection:
        """Return a collection; UsageError where there is none of the name."""
        return _chosen(self.collections, name, "collection")

    def selection(self, names: str | Sequence[str] | None) -> Selection:
        """Return the collections of these names, which may also be joined by `+`; UsageError where there is none of a name."""
        listed = [names] if isinstance(names, str) else [*(names or ())]
        if not listed:
            return Selection((self.collection(None),))
        wanted = AND.join(listed).split(AND)
        if twice := next((name for name in wanted if wanted.count(name) > 1), None):
            raise UsageError(f"the collection {truncate_line(repr(twice), QUOTED)} is named twice", "name it once")
        return Selection(tuple(map(self.collection, wanted)))

    def options_of(
        self,
        strategy: str,
        selection: Selection,
        model: str | None = None,
        settings: Mapping[str, Any] | None = None,
        reviewed: bool = False,
    ) -> dict[str, Any]:
        """Return the options of a question; UsageError for a setting that is wrong, or that a request may not give.

        Only where it is `reviewed` may they ask a person first: there, somebody can decide.
        """
        given = dict(settings or {})
        if wrong := [name for name in OF_THE_SERVER if name in given]:
            remedy = f"leave it out: name a collection, and one of the server's models ({', '.join(self.models)})"
            raise UsageError(f"{wrong[0]}={truncate_line(repr(given[wrong[0]]), QUOTED)} is not for a request to set", remedy)
        known = {"preset", *find_strategy(strategy).parameters, *build(strategy).settings.model_fields}
        own = {name: value for name, value in self.options.items() if name.partition(".")[0] in known}
        options = {**own, **given, "index": selection.index, "model": _chosen({one: one for one in self.models}, model, "model")}
        chosen = configure(strategy, options)[1]
        check_allowed(chosen, COMMAND)
        if not reviewed:
            check_reviewer(chosen, None)
        return options

    def model_names(self) -> list[str]:
        """List each collection with each strategy that can answer from it, as `collection/strategy`; blocking."""
        return [f"{one.name}/{strategy}" for one in list(self.collections.values()) for strategy in self.strategies(one)]

    def model_of(self, name: str) -> tuple[Selection, str] | None:
        """Return what a model's name stands for, such as `a+b/prune`; None where it is not of this form, or nothing here; blocking."""
        names, _, strategy = name.rpartition("/")
        listed = names.split(AND)
        if not all(one in self.collections for one in listed) or len({*listed}) < len(listed):
            return None
        selection = self.selection(names)
        known = all(strategy in self.strategies(one) for one in selection.members)
        return (selection, strategy) if known and not (len(listed) > 1 and strategy == "global") else None

    def strategies(self, collection: Collection) -> list[str]:
        """List the strategies that can answer from a collection, the default first: a global one needs reports; blocking."""
        plain = collection.manifest().kind == "passages"
        names = sorted(STRATEGIES, key=lambda name: name != self.strategy)
        return [name for name in names if not (plain and name == "global")]


def _chosen(known: Mapping[str, T], name: str | None, what: str) -> T:
    """Return what has the name, the first where none is given."""
    if name is None:
        return next(iter(known.values()))
    if name not in known:
        raise UsageError(f"there is no {what} {truncate_line(repr(name), QUOTED)} here", f"choose one of {', '.join(known)}")
    return known[name]


def strategies_json(catalog: Catalog) -> list[dict[str, Any]]:
    """Describe every strategy with its settings and the arguments of its graph, the default first, as `ramify settings` does."""
    names = sorted(STRATEGIES, key=lambda name: name != catalog.strategy)
    return [_strategy(STRATEGIES[name], catalog.options) for name in names]


def _strategy(strategy: Strategy, options: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a strategy: the settings of its own, those that every strategy has, and what changes the graph."""
    kind = build(strategy.name).settings
    common, properties = Settings.model_fields, kind.model_json_schema()["properties"]

    def described(name: str, default: Any, description: str, shared: bool, schema: dict[str, Any]) -> dict[str, Any]:
        return {"name": name, "default": options.get(name, default), "description": description, "common": shared, "schema": schema}

    settings = []
    for name, known in kind.model_fields.items():
        if name not in OF_THE_SERVER:
            shared = name in common and common[name].default == known.default
            schema = {part: properties[name][part] for part in _SHAPE if part in properties[name]}
            settings.append(described(name, known.default, known.description or "", shared, schema))
    settings.sort(key=lambda setting: bool(setting["common"]))
    for name, argument in strategy.parameters.items():
        choices = get_args(argument.annotation) if get_origin(argument.annotation) is Literal else ()
        schema = {"enum": list(choices)} if choices else {"type": "boolean"}
        settings.append(described(name, argument.default, strategy.arguments.get(name, ""), False, schema))
    head = {"name": strategy.name, "description": strategy.description, "paper": strategy.paper}
    return {**head, "presets": list(strategy.presets), "settings": settings}

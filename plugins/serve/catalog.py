"""What a server offers: collections by name, strategies and models; and the options of a question."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

from ramify.graphs.run import check_reviewer
from ramify.graphs.strategies import Strategy, build, configure, load_strategies, own_options
from ramify.graphs.tool import ABOUT_DEMO
from ramify.nodes.asking.ask import current_model
from ramify.nodes.settings import Settings
from ramify.serve.questions import to_failure
from ramify.studio.server.bounds import LIMITS, cap_limits, check_allowed, unique_index_names
from ramify.tools.demo import demo_index
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.index.file_list import sources_of
from ramify.tools.index.index_store import is_store_address
from ramify.tools.index.manifest import Manifest
from ramify.tools.index.passage_store import opened_passages
from ramify.tools.quoting import truncate_line
from ramify.tools.scrub import mask_address
from ramify.tools.search.collection_set import CollectionSet
from ramify.tools.search.searcher import DEMO, open_index

T = TypeVar("T")
COMMAND = "ramify serve"
SERVER_SETTINGS = ("index", "model", "adapter", "base_url", "profile")
"""Settings that a request cannot set: it names a collection and one of the server's models; the operator sets the profile."""
MAX_QUOTED_CHARS = 80
"""Maximum length of a rejected value in an error message."""
NAME_SEPARATOR = "+"
"""Separates the names of collections that are searched together; not allowed in a name."""
_FILE_COUNT_QUERY = "SELECT count(*) FROM (SELECT DISTINCT root, file, CASE file WHEN '' THEN id END FROM documents)"
_SCHEMA_KEYWORDS = ("type", "anyOf", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "examples")
"""Keywords of a JSON schema that describe the allowed values of a setting."""


@dataclass(frozen=True)
class Collection:
    """An index with the name that requests use."""

    name: str
    where: str
    """Its folder or address, or `demo`."""

    def manifest(self) -> Manifest:
        """Return the manifest of the index. Blocking."""
        return open_index(self.where).manifest

    def _count_files(self) -> int:
        """Return the number of files that passages are from; a file may have several documents, as a table has records."""
        with opened_passages(self.folder()) as database:
            [count] = database.execute(_FILE_COUNT_QUERY).fetchone()
        return int(count)

    def folder(self) -> Path:
        """Return the folder of the index; raise UsageError if it is in a database."""
        if is_store_address(self.where):
            raise UsageError("files can be chosen in a collection in a folder, not in a database", "omit the files")
        return demo_index() if self.where == DEMO else Path(self.where)

    def to_json(self) -> dict[str, Any]:
        """Return the description of the collection as JSON values; with an `error`, and no counts, if it cannot be opened. Blocking."""
        is_address = is_store_address(self.where)
        path = self.name if self.where == DEMO else mask_address(self.where) if is_address else Path(self.where).name
        try:
            manifest = self.manifest()
            files = manifest.files or (manifest.documents if is_address else self._count_files())
        except Exception as error:  # noqa: BLE001 - the other collections are listed
            unknown = {"kind": "passages", "documents": None, "files": None, "passages": None, "description": ""}
            return {"name": self.name, "path": path, **unknown, "error": to_failure(error).message}
        return {
            "name": self.name,
            "path": path,
            "kind": manifest.kind,
            "documents": manifest.documents,
            "files": files,
            "passages": manifest.passages,
            "description": ABOUT_DEMO if self.where == DEMO else manifest.description,
        }


@dataclass(frozen=True)
class Selection:
    """The collections that a question searches: one, or several together."""

    members: tuple[Collection, ...]

    @property
    def name(self) -> str:
        """Return the name of the collection, or all names joined by `+`."""
        return NAME_SEPARATOR.join(member.name for member in self.members)

    @property
    def index(self) -> str | CollectionSet:
        """Return the index to search; raise UsageError if two names refer to the same index."""
        if len(self.members) == 1:
            return self.members[0].where
        collections = CollectionSet.from_members([member.where for member in self.members])
        return replace(collections, names=tuple(member.name for member in self.members))

    def file_filter(self, files: Sequence[str]) -> dict[str, Any]:
        """Return the filter for the passages of these files; raise UsageError for several collections, or a file without passages."""
        if len(self.members) > 1:
            raise UsageError("files can be chosen in one collection, not in several together", "name one collection, or omit the files")
        sources = sources_of(self.members[0].folder(), files)
        if missing := next((file for file in files if file not in sources), None):
            quoted = truncate_line(repr(missing), MAX_QUOTED_CHARS)
            raise UsageError(f"the collection {self.name!r} has no searchable file {quoted}", "choose among its documents")
        return {"source": [source for listed in sources.values() for source in listed]}

    def locate(self, passage: str) -> tuple[Collection, str] | None:
        """Return the collection of a passage and the passage's id in it; with several collections, ids begin with a collection's name."""
        if len(self.members) == 1:
            return self.members[0], passage
        name, _, identity = passage.partition(":")
        collection = next((member for member in self.members if member.name == name), None)
        return (collection, identity) if collection else None


def name_collections(indexes: Sequence[str]) -> dict[str, Collection]:
    """Return collections by name: the last part of their paths, numbered if it is in use; the demo if there are no indexes."""
    indexes_or_demo = indexes or [DEMO]
    return {name: Collection(name, where) for name, where in zip(unique_index_names(indexes_or_demo), indexes_or_demo, strict=True)}


@dataclass(frozen=True)
class Catalog:
    """What questions may name; the first collection and model are the defaults."""

    collections: dict[str, Collection]
    strategy: str
    models: Sequence[str]
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of every question whose strategy has them."""

    def collection(self, name: str | None) -> Collection:
        """Return a collection by name, by default the first; raise UsageError for an unknown name."""
        return _find_or_first(self.collections, name, "collection")

    def selection(self, names: str | Sequence[str] | None) -> Selection:
        """Return the collections of these names, which may be joined by `+`; raise UsageError for an unknown or repeated name."""
        joined = [names] if isinstance(names, str) else [*(names or ())]
        if not joined:
            return Selection((self.collection(None),))
        separate_names = NAME_SEPARATOR.join(joined).split(NAME_SEPARATOR)
        if repeated := next((name for name, count in Counter(separate_names).items() if count > 1), None):
            raise UsageError(
                f"the collection {truncate_line(repr(repeated), MAX_QUOTED_CHARS)} is named twice", "name each collection once"
            )
        return Selection(tuple(map(self.collection, separate_names)))

    def request_options(
        self,
        strategy: str,
        selection: Selection,
        model: str | None = None,
        settings: Mapping[str, Any] | None = None,
        has_reviewer: bool = False,
    ) -> dict[str, Any]:
        """Return the options of a question; raise UsageError for an invalid setting, or one that a request cannot set.

        Of a limit that the operator has set (`LIMITS`), the smaller value is used. Settings that ask a person first (`ask_first`) are
        allowed only if the question `has_reviewer`.
        """
        request_values = dict(settings or {})
        if wrong := [name for name in request_values if name.partition(".")[0] in SERVER_SETTINGS]:
            remedy = f"omit it; name a collection and one of the server's models ({', '.join(self.models)})"
            raise UsageError(
                f"{wrong[0]}={truncate_line(repr(request_values[wrong[0]]), MAX_QUOTED_CHARS)} cannot be set by a request", remedy
            )
        server_options = own_options(strategy, self.options)
        options = {
            **server_options,
            **request_values,
            "index": selection.index,
            "model": _find_or_first({name: name for name in self.models}, model, "model"),
        }
        request_settings = configure(strategy, options)[1]
        check_allowed(request_settings, COMMAND)
        if request_values:
            options |= cap_limits(request_settings, configure(strategy, server_options)[1], server_options)
        if not has_reviewer:
            check_reviewer(request_settings, None)
        return options

    def default_settings(self, model: str | None = None) -> Settings:
        """Return the settings of a question that names nothing else than a model; UsageError for a model that is not served."""
        return configure(self.strategy, self.request_options(self.strategy, self.selection(None), model, has_reviewer=True))[1]

    def resolved_model(self) -> tuple[str, list[str]]:
        """Return the name of the default model, and notices on it, such as why it is not a language model; blocking.

        The name is "" if it cannot be used now.
        """
        try:
            model = current_model(self.default_settings())
        except RamifyError:
            return "", []
        return model.name, list(model.notices)

    def model_names(self) -> list[str]:
        """Return a model name `collection/strategy` for each collection and each strategy that can answer from it. Blocking.

        Collections that cannot be opened have none.
        """
        return [f"{collection.name}/{strategy}" for collection in self.intact_collections() for strategy in self.strategies(collection)]

    def intact_collections(self) -> list[Collection]:
        """Return the collections that can be opened. Blocking."""
        return [collection for collection in list(self.collections.values()) if "error" not in collection.to_json()]

    def resolve_model(self, name: str) -> tuple[Selection, str] | None:
        """Return the collections and strategy of a model name such as `a+b/prune`; None if there are none of these names. Blocking."""
        names, _, strategy = name.rpartition("/")
        members = names.split(NAME_SEPARATOR)
        if not all(member in self.collections for member in members) or len({*members}) < len(members):
            return None
        selection = self.selection(names)
        known = all(strategy in self.strategies(member) for member in selection.members)
        return (selection, strategy) if known and not (len(members) > 1 and strategy == "global") else None

    def strategies(self, collection: Collection) -> list[str]:
        """Return the strategies that can answer from a collection, the default first; `global` needs a graph or hierarchy. Blocking."""
        has_no_graph = collection.manifest().kind == "passages"
        names = sorted(load_strategies(), key=lambda name: name != self.strategy)
        return [name for name in names if not (has_no_graph and name == "global")]


def _find_or_first(known: Mapping[str, T], name: str | None, what: str) -> T:
    """Return the item with this name, or the first if the name is None; raise UsageError for an unknown name."""
    if name is None:
        return next(iter(list(known.values())))  # a copy, because other threads may add items
    if name not in known:
        raise UsageError(
            f"there is no {what} {truncate_line(repr(name), MAX_QUOTED_CHARS)} on this server", f"choose one of {', '.join(list(known))}"
        )
    return known[name]


def strategies_json(catalog: Catalog) -> list[dict[str, Any]]:
    """Return every strategy with its settings and graph arguments, the default strategy first, as `ramify settings` lists them."""
    names = sorted(load_strategies(), key=lambda name: name != catalog.strategy)
    return [_strategy(load_strategies()[name], catalog.options) for name in names]


def _strategy(strategy: Strategy, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a strategy with its own settings first, then those common to all strategies, then the arguments of its graph."""
    settings_class = build(strategy.name).settings
    common, properties = Settings.model_fields, settings_class.model_json_schema()["properties"]

    def setting_json(name: str, default: Any, description: str, shared: bool, schema: dict[str, Any]) -> dict[str, Any]:
        return {"name": name, "default": options.get(name, default), "description": description, "common": shared, "schema": schema}

    settings = []
    for name, known in settings_class.model_fields.items():
        if name not in SERVER_SETTINGS:
            shared = name in common and common[name].default == known.default
            schema = {part: properties[name][part] for part in _SCHEMA_KEYWORDS if part in properties[name]}
            if name in LIMITS and options.get(name) is not None:  # a larger value of a request would not be used
                schema["maximum"] = options[name]
            settings.append(setting_json(name, known.default, known.description or "", shared, schema))
    settings.sort(key=lambda setting: bool(setting["common"]))
    for name, argument in strategy.parameters.items():
        choices = get_args(argument.annotation) if get_origin(argument.annotation) is Literal else ()
        schema = {"enum": list(choices)} if choices else {"type": "boolean"}
        settings.append(setting_json(name, argument.default, strategy.arguments.get(name, ""), False, schema))
    head = {"name": strategy.name, "description": strategy.description, "paper": strategy.paper}
    return {**head, "presets": list(strategy.presets), "settings": settings}

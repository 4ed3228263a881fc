"""Results and passages as clients see them: names of collections and files, no folders of the server."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ramify.serve.catalog import Collection
from ramify.tools.quoting import hide_folders
from ramify.tools.search.searcher import DEMO


def public_index(description: str, collections: Iterable[Collection] = ()) -> str:
    """Return the description of what was searched, with the names of the collections instead of their folders."""
    names = {collection.where: collection.name for collection in collections if collection.where != DEMO}
    if names:
        folders = re.compile(rf"(?<![^ ])({'|'.join(map(re.escape, names))})(?= \()")
        description = folders.sub(lambda match: names[match[1]], description)
    return hide_folders(description)


def public_result(result: Mapping[str, Any], name_index: Callable[[str], str]) -> dict[str, Any]:
    """Return a result in JSON values without folders of the server; `name_index` changes the description of what was searched."""
    return {**public_citations(result), "index": name_index(str(result.get("index") or ""))}


def public_citations(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what has citations, in JSON values, with these without folders of the server."""
    return {**result, "citations": [public_source(source) for source in result.get("citations") or ()]}


def public_passage(passage: Mapping[str, Any]) -> dict[str, Any]:
    """Return a passage in JSON values without the path of its file."""
    return {**passage, "metadata": {name: value for name, value in passage["metadata"].items() if name != "path"}}


def public_source(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return a source in JSON values without its path; of its link only the place in the file is left, such as `#page=4`."""
    _, number_sign, place = str(source.get("link") or "").partition("#")
    public = {**source, "path": "", "link": number_sign + place}
    return public | {"also": [public_source(further) for further in source["also"]]} if source.get("also") else public

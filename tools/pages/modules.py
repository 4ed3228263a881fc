"""Join ES modules of this folder into one script, for a page that loads nothing."""

import re

from ramify.tools.pages import read_packaged

_IMPORT = re.compile(r'^import \{ ([^{}]+) \} from "\./([\w.]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|class|(?:async )?function\*?) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*|\bimport\s*[(.].*|</script.*|<!--.*", re.MULTILINE | re.IGNORECASE)
"""Forms that a joined script cannot have: other imports and exports, and what ends or hides a script within HTML."""


def join_modules(entry: str) -> str:
    """Return a module and all that it imports as one classic script in strict mode: each module is a function that returns its exports.

    Modules write `import { a, b as c } from "./name.js";` and `export` before a declaration that is not reassigned, each at the start of a
    line. ValueError for other forms, for names that are not exported, and for modules that import each other.
    """
    exported: dict[str, list[str]] = {}
    scripts: list[str] = []

    def add(name: str, importing: tuple[str, ...]) -> None:
        if name in importing:
            raise ValueError(f"modules import each other: {' → '.join([*importing, name])}")
        if name in exported:
            return
        source = read_packaged(name)
        for names, other in _IMPORT.findall(source):
            add(other, (*importing, name))
            if missing := {part.split()[0] for part in names.split(",")} - set(exported[other]):
                raise ValueError(f"{name} imports {', '.join(sorted(missing))} from {other}, which does not export that")
        exported[name] = _EXPORT.findall(source)
        body = _EXPORT.sub("", _IMPORT.sub(lambda match: f'const {{ {match[1].replace(" as ", ": ")} }} = modules["{match[2]}"];', source))
        if form := _OTHER.search(body):
            raise ValueError(f"{name} has a form that cannot be joined: {form[0][:80]!r}")
        scripts.append(f'modules["{name}"] = (() => {{\n{body}return {{ {", ".join(exported[name])} }};\n}})();\n')

    add(entry, ())
    return "\n".join(['"use strict";\nconst modules = {};', *scripts])

"""Front matter of Markdown: fields above the text, between two lines of `---` (YAML) or `+++` (TOML)."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

_LONGEST = 1 << 14
"""Characters within which it ends; what is longer is text."""
_YAML = re.compile(r"\A---[ \t]*\n(?!\s*\n)(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MOST_NODES, _MOST_BRACKETS, _DEEPEST = 5000, 200, 20
"""More than this is an attack: an alias may stand for thousands of values, and open brackets take quadratic time."""
_SAID = 100
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9]\d{0,17})")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9]\d{0,17})\.\d{1,17}")


class FrontMatter(NamedTuple):
    """The fields of a file's front matter, the text below it, and why what looks like one cannot be read."""

    fields: dict[Any, Any]
    text: str
    problem: str = ""


def front_matter(text: str) -> FrontMatter:
    """Part a Markdown file's front matter from its text; what is not made of fields, or cannot be read, is text."""
    for pattern, read in _FORMS:
        if found := pattern.match(text[:_LONGEST]):
            try:
                fields = read(found[1])
            except (ValueError, RecursionError) as error:
                return FrontMatter({}, text, " ".join(str(error).split())[:_SAID])
            if fields is None or isinstance(fields, dict):
                return FrontMatter(fields or {}, text[found.end() :])
    return FrontMatter({}, text)


def _read_yaml(text: str) -> Any:
    """Read YAML as plain values: nothing is constructed of its tags, and its dates stay as they are written."""
    import yaml

    if text.count("[") + text.count("{") > _MOST_BRACKETS:
        raise ValueError("too many brackets")
    try:
        return _plain(yaml.compose(text, Loader=yaml.SafeLoader), [0], 0)
    except yaml.YAMLError as error:
        raise ValueError(getattr(error, "problem", None) or str(error)) from error


def _plain(node: Any, count: list[int], depth: int) -> Any:
    """Return what a node of YAML stands for; ValueError where it stands for too much."""
    import yaml

    count[0] += 1
    if count[0] > _MOST_NODES or depth > _DEEPEST:
        raise ValueError("too many values within each other")
    if isinstance(node, yaml.MappingNode):
        return {str(_plain(key, count, depth + 1)): _plain(value, count, depth + 1) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, count, depth + 1) for item in node.value]
    return _scalar(node.value, quoted=bool(node.style)) if node else None


def _scalar(text: str, quoted: bool) -> Any:
    """Read a value as YAML 1.2 does: `no` is a word and `12:30` a text."""
    if quoted:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return int(text) if _INTEGER.fullmatch(text) else float(text) if _DECIMAL.fullmatch(text) else text


def _read_toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = ((_YAML, _read_yaml), (_TOML, _read_toml))

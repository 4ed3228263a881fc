"""A file of expectations in YAML, to be written by hand and read in a diff: questions, and what must hold of their answers."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from ramify.nodes.tree import is_unknown
from ramify.nodes.tree.citation import Citation
from ramify.studio.console.options import read_value
from ramify.tools.english import fold
from ramify.tools.errors import UsageError
from ramify.tools.new_files import write_atomically
from ramify.tools.quoting import one_line

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_HEAD = "# What must hold of answers about these documents: `ramify test {name} --index INDEX`\ntests:\n"
_TESTS = re.compile(r"^tests:\s*(?:\[\s*\]\s*)?(?:#.*)?$", re.MULTILINE)


def _texts(value: Any) -> Any:
    """Return a single text as a list of one."""
    return [value] if isinstance(value, str) else value


def _settings(value: Any) -> Any:
    """Return settings with their texts read as by `--set`."""
    return {key: read_value(text) if isinstance(text, str) else text for key, text in value.items()} if isinstance(value, dict) else value


Texts = Annotated[list[Annotated[str, Field(min_length=1)]], BeforeValidator(_texts)]
Values = Annotated[dict[str, Any], BeforeValidator(_settings)]


class _How(BaseModel):
    """How questions are asked: what is not given is as for `ramify ask`."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    strategy: str | None = Field(default=None, description="The strategy, such as prune.")
    settings: Values = Field(default_factory=dict, description="Settings, as `--set` has them: `k: 8`.")
    filter: Values = Field(default_factory=dict, description="Metadata of the passages that are searched, as `--filter` has it.")
    repeat: int | None = Field(default=None, ge=1, le=100, description="How often the question is asked.")
    pass_if: int | None = Field(default=None, ge=1, description="How many of these answers must hold; all of them if not given.")


class Expectation(_How):
    """A question, and what must hold of its answer."""

    question: str = Field(min_length=1, description="The question.")
    answer: Texts = Field(default_factory=list, description="The answer, or a list of answers of which one is given. Case, articles and "
                          "punctuation do not count.")  # fmt: skip
    contains: Texts = Field(default_factory=list, description="Words that the answer or its text contains, all of them.")
    excludes: Texts = Field(default_factory=list, alias="not", description="Words that neither the answer nor its text contains.")
    cites: Texts = Field(default_factory=list, description="Files that the answer cites, all of them; `*` stands for any characters.")
    unknown: bool = Field(default=False, description="true: the documents do not have the answer, so that it must be Unknown.")
    note: str = Field(default="", description="A note for readers of the file.")

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        expects = self.answer or self.contains or self.excludes or self.cites
        if not (expects or self.unknown):
            raise ValueError("expects nothing: give answer, contains, not, cites, or unknown: true")
        if self.unknown and (self.answer or self.contains or self.cites):
            raise ValueError("expects Unknown and an answer: give one of them")
        return self

    def objections(self, answer: str, text: str, cited: Iterable[str]) -> list[str]:
        """Return what does not hold of an answer: empty if all does. `cited`: the names under which its sources are known."""
        said, names = fold(f"{answer}\n{text}"), list(cited)
        if self.unknown:
            return [] if is_unknown(answer) else [f"expected Unknown, got {answer!r}"]
        wrong = []
        if self.answer and _plain(answer) not in map(_plain, self.answer):
            wrong.append(f"expected {' or '.join(map(repr, self.answer))}, got {answer!r}")
        wrong += [f"expected text with {wanted!r}" for wanted in self.contains if not _has_words(said, wanted)]
        wrong += [f"expected no text with {unwanted!r}" for unwanted in self.excludes if _has_words(said, unwanted)]
        wrong += [f"expected a citation of {file!r}" for file in self.cites if not any(fnmatchcase(name, file) for name in names)]
        return wrong


class Expectations(_How):
    """A file: how all of its questions are asked, and the questions."""

    tests: list[Expectation] = Field(description="The questions.")

    @model_validator(mode="after")
    def _asks_each_once(self) -> Self:
        questions = [test.question for test in self.tests]
        if repeated := next((question for number, question in enumerate(questions) if question in questions[:number]), None):
            raise ValueError(f"the question {repeated!r} stands there twice: give it once")
        return self


def names_of(citation: Citation) -> set[str]:
    """Return the names under which a file expects a citation: the source, the file, and its last part, each also with its page."""
    paths = {citation.source, citation.source.partition("#")[0], citation.name or citation.source}
    names = paths | {path.rpartition("/")[2] for path in paths}
    return names | ({f"{name}:{citation.page}" for name in names} if citation.page is not None else set())


def _plain(answer: str) -> str:
    return "" if is_unknown(answer) else " ".join(_ARTICLES.sub(" ", fold(answer)).split())


def _has_words(text: str, wanted: str) -> bool:
    return f" {' '.join(fold(wanted).split())} " in f" {' '.join(text.split())} "


class _Loader(yaml.BaseLoader):  # type: ignore[misc]
    """Reads all scalars as texts, so that `no` is an answer and `1856-07-10` no date; a key given twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping; UsageError for a key that is given twice."""
        keys = [key.value for key, _ in node.value]
        for number, key in enumerate(keys):
            if key in keys[:number]:
                raise UsageError(f"line {node.value[number][0].start_mark.line + 1} gives {key!r} a second time", "give it once")
        made: dict[Any, Any] = super().construct_mapping(node, deep=True)
        return made


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Writes texts of several lines as they are."""


_Dumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)
)


def load_expectations(path: Path) -> Expectations:
    """Return a file of expectations; UsageError if it cannot be read, is no YAML or has another form."""
    try:
        return parse_expectations(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {str(path)!r} ({error})", "give a file of expectations; `ramify test add` begins one") from error
    except UsageError as error:
        raise UsageError(f"{path}: {error.what}", error.remedy) from error


def parse_expectations(text: str) -> Expectations:
    """Return the expectations in a YAML text; UsageError if it is none, or has another form."""
    loader = _Loader(text)
    try:
        return Expectations.model_validate(loader.get_single_data())
    except yaml.YAMLError as error:
        raise UsageError(f"no valid YAML ({one_line(str(error))})", "put texts with a colon or a quotation mark between quotes") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = _place(first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{where}: {what}", "`ramify test --schema` prints what a file can have") from error


def _place(loc: Sequence[int | str]) -> str:
    """Return where in a file something is wrong: `test 3, answer`."""
    if loc[:1] == ("tests",) and len(loc) > 1:
        return ", ".join([f"test {int(loc[1]) + 1}", *map(str, loc[2:])])
    return ", ".join(map(str, loc)) or "the file"


def append_expectations(path: Path, tests: Sequence[Expectation]) -> int:
    """Append expectations to a file, whose other lines stay as they are; return how many, without questions that it has already.

    UsageError if the file has another form, or its tests are not at its end.
    """
    before = load_expectations(path).tests if path.exists() else []
    text = path.read_text(encoding="utf-8") if path.exists() else _HEAD.format(name=path.name)
    known = {test.question for test in before}
    new = [test for test in {test.question: test for test in tests}.values() if test.question not in known]
    if not before:
        text = _TESTS.sub("tests:", text, count=1)
    entries = [test.model_dump(by_alias=True, exclude_defaults=True) for test in new]
    blocks = [yaml.dump([_short(entry)], Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=140) for entry in entries]
    first = re.search(r"^( *)- ", text[text.find("tests:") :], re.MULTILINE)
    indent = first[1] if first else "  "
    added = "".join("\n" * bool(before or number) + textwrap.indent(block, indent) for number, block in enumerate(blocks))
    whole = text.rstrip("\n") + "\n" + added
    if new and parse_expectations(whole).tests != [*before, *new]:
        raise UsageError(f"cannot append to {str(path)!r}: its tests are not a list at its end", "move `tests:` to the end of the file")
    if new:
        write_atomically(whole, path)
    return len(new)


def _short(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with lists of one text as that text."""
    return {key: value[0] if isinstance(value, list) and len(value) == 1 else value for key, value in entry.items()}

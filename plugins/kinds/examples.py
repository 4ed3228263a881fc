"""Own worked examples for extraction: read from a JSON file that the build setting `examples` names, and put into the prompts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from ramify.kinds.prompts.extract import BAR, MAX_LINE_CHARS, MAX_LINES, NOTHING, Extracted
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example
from ramify.tools.english import fold
from ramify.tools.errors import InputError
from ramify.tools.names import contains_name
from ramify.tools.quoting import one_line
from ramify.tools.user_input import expand_path

MAX_EXAMPLES, MAX_TEXT_CHARS, MAX_FILE_BYTES = 3, 2000, 2**20
_REMEDY = (
    'give a list of objects such as {"text": "Hollin Bridge spans the Oskel.", "entities": ["Hollin Bridge | place | A bridge."], '
    '"relations": ["Hollin Bridge | Oskel | Hollin Bridge spans the Oskel."]}; docs/graph.md says more'
)
Line = Annotated[str, Field(min_length=1, max_length=MAX_LINE_CHARS)]
Lines = Annotated[tuple[Line, ...], Field(max_length=MAX_LINES)]


class OwnExample(BaseModel):
    """A text, and the names and relations that a reply to it lists, in the form of a reply."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = "example"
    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARS)
    entities: Lines = ()
    relations: Lines = ()

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        """Reject names that are not in the text, and relations of names that are not listed."""
        for name in self.names:
            if not contains_name(self.text, name):
                raise ValueError(f"the name {name!r} does not occur in its text")
        for line in self.relations:
            if len(_parts(line)) < 2:
                raise ValueError(f"the relation {line!r} has no second name behind a bar")
            if unlisted := [name for name in _parts(line)[:2] if fold(name) not in map(fold, self.names)]:
                raise ValueError(f"the relation {line!r} is of {unlisted[0]!r}, which is not among its entities")
        return self

    @property
    def names(self) -> list[str]:
        """Return the names of its entities."""
        return [_parts(line)[0] for line in self.entities]

    @property
    def found(self) -> list[str]:
        """Return its names and related pairs of names, as a prompt lists those that were found."""
        return [*self.names, *(f" {BAR} ".join(_parts(line)[:2]) for line in self.relations)]

    @property
    def reply(self) -> Extracted:
        """Return the reply that lists all of it."""
        return Extracted(entities=list(self.entities), relations=list(self.relations))

    def split(self) -> tuple["OwnExample", Extracted]:
        """Return the example without its last name, and the reply that adds that name with its relations."""
        last = fold(self.names[-1])
        added = tuple(line for line in self.relations if last in map(fold, _parts(line)[:2]))
        rest = tuple(line for line in self.relations if line not in added)
        kept = self.model_copy(update={"entities": self.entities[:-1], "relations": rest})
        return kept, Extracted(entities=[self.entities[-1]], relations=list(added))


def _parts(line: str) -> list[str]:
    return [part.strip() for part in line.split(BAR)]


_FILE = TypeAdapter(Annotated[tuple[OwnExample, ...], Field(min_length=1, max_length=MAX_EXAMPLES)])


def read_examples(given: Any) -> Any:
    """Return the examples in a file, if its path is given; InputError if that cannot be read or has an invalid example."""
    if not isinstance(given, (str, Path)):
        return given
    path = expand_path(given)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES)
        return _FILE.validate_json(content)
    except OSError as error:
        what = f"the examples {str(path)!r} cannot be read ({error.strerror or error})"
        raise InputError(what, "give the path of a JSON file") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ", ".join(f"example {int(step) + 1}" if number == 0 else str(step) for number, step in enumerate(first["loc"]))
        message = one_line(first["msg"].removeprefix("Value error, "))
        raise InputError(": ".join(filter(None, (f"the examples {str(path)!r}", place, message))), _REMEDY) from error


def extract_examples(prompt: Prompt[Any], examples: Sequence[OwnExample]) -> Prompt[Any]:
    """Return the prompt of extraction with these examples; unchanged without any."""
    own = tuple(example(each.reply, title=each.title, text=each.text) for each in examples)
    return replace(prompt, examples=own) if own else prompt


def glean_examples(prompt: Prompt[Any], examples: Sequence[OwnExample]) -> Prompt[Any]:
    """Return the prompt of gleaning with these examples, each with its last name missing, then with all of its names found."""
    own = []
    for each in examples:
        if each.entities:
            kept, missed = each.split()
            own.append(example(missed, title=each.title, text=each.text, found=kept.found))
        own.append(example(NOTHING, title=each.title, text=each.text, found=each.found))
    return replace(prompt, examples=tuple(own)) if own else prompt

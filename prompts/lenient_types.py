"""Reply types: strict in the JSON schema that is sent, lenient in validation.

The schema in the prompt and in a server's grammar requires every field, with type and bounds. Validation accepts replies that lack a
field with a default, write it in another form, or have further fields; a reply without the required ones is malformed. A thought before
a reply is one more field.
"""

import re
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    create_model,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import CoreSchema, core_schema

NUMBER = re.compile(r"-?(?:\d+(?:[.,]\d+)?|(?<!\d)[.,]\d+)(?:e-?\d{1,2}\b)?", re.IGNORECASE)
SHARE = re.compile(r"(?<!\d)(\d++(?:[.,]\d++)?)\s*+(?:/|out of|von|of)\s*(\d+)", re.IGNORECASE)
CONFIDENCE_WORDS = {
    0.95: "very high, certain, sure, very confident, very likely, absolute, definite, full, yes, true",
    0.9: "high, confident, likely, probable, strong, hoch, sicher, alta, alto, élevée, haute, 高, 高い, 높음",
    0.5: "medium, moderate, fair, average, possible, mittel, media, médio, moyenne, 中, 中程度, 보통",
    0.2: "low, weak, unlikely, unsure, uncertain, not sure, not certain, doubtful, niedrig, unsicher, baja, bassa, baixa, faible, 低, 低い, 낮음",
    0.05: "very low, very unlikely, none, no, false",
}
"""Confidences for words that models write in place of a number."""
_DEGREE = re.compile(
    r"(?:(?:very|quite|fairly|pretty|rather|extremely|highly|absolutely|completely|reasonably|relatively|sehr|ziemlich|très|muy|molto|"
    r"muito|非常|很|とても|매우) ?)+"
)
PASSAGE_NUMBER = re.compile(r"(?<![-\d])\d{1,6}\b")
BRACKETED = re.compile(r"\[(\d{1,6})\]")
ANSWER_LABEL = re.compile(r"^(?:\*\*)?(?:(?:final|short) )?answer:(?:\*\*)?\s+", re.IGNORECASE)
ANSWER_CITATIONS = re.compile(r"(?:\s\[\d{1,2}(?:, ?\d{1,2})*\])+$")
MAX_NUMBER_CHARS = 40
MAX_SCORE = 5
THOUGHT, CONFIDENCE = "thought", "confidence"
T = TypeVar("T", bound=BaseModel)


TEXT = "text"
TEXT_LAST = (
    "for a reader: the answer and what it rests on, in one to four sentences, each ending with its passage's number, such as [2]; empty "
    "without an answer"
)
NAME_CHARS, QUERY_CHARS, SPAN_CHARS, SENTENCE_CHARS, PARAGRAPH_CHARS, TEXT_CHARS = 80, 160, 200, 240, 600, 1000
"""Maximum characters of texts in replies, so that a grammar ends a reply before its token limit."""


@dataclass(frozen=True)
class AtMost:
    """Limit of a text's characters or a list's items, in the schema; longer values are cut."""

    most: int
    each: int | None = None
    """Characters of each text in a list."""

    def __get_pydantic_core_schema__(self, kind: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the type's schema with a validator that cuts values."""
        return core_schema.no_info_after_validator_function(self._cut, handler(kind))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON schema with the limits."""
        bounded = handler(schema)
        if bounded["type"] == "string":
            return {**bounded, "maxLength": self.most}
        items = {**bounded["items"], "maxLength": self.each} if self.each else bounded["items"]
        return {**bounded, "items": items, "maxItems": self.most}

    def _cut(self, value: Any) -> Any:
        kept = value[: self.most]
        return [part[: self.each] for part in kept] if self.each else kept


CHARS_PER_TOKEN, LINE_END_TOKENS = 4, 4
"""Characters of a token of a reply in English, and tokens of what JSON has around a text in a list."""


def line_tokens(chars: int) -> int:
    """Return the tokens that a text of so many characters takes in a list of a reply."""
    return chars // CHARS_PER_TOKEN + LINE_END_TOKENS


def _all_required(schema: dict[str, Any]) -> None:
    """Make every field required in the schema, also those with defaults."""
    schema["required"] = list(schema["properties"])
    for field in schema["properties"].values():
        field.pop("default", None)


class ModelReply(BaseModel):
    """Base class of all replies; rejects an object that has none of the fields."""

    model_config = ConfigDict(json_schema_extra=_all_required)

    @model_validator(mode="before")
    @classmethod
    def _something(cls, given: Any) -> Any:
        """Reject an object that has none of the fields, or only a thought."""
        wanted = [name for name in reply_fields(cls) if name != THOUGHT]
        if isinstance(given, Mapping) and not given.keys() & set(wanted):
            raise ValueError(f"it has none of the fields {', '.join(wanted)}")
        return given


@cache
def reply_fields(reply: type[BaseModel]) -> tuple[str, ...]:
    """Return the names of the fields that a model is asked for: all but those that only the embedded model fills in."""
    return tuple(reply.model_json_schema()["properties"])


def _unwrap(value: Any) -> Any:
    """Return the value of a list or an object that has one alone."""
    parts = list(value.values()) if isinstance(value, Mapping) else value
    return _unwrap(parts[0]) if isinstance(parts, list) and len(parts) == 1 else value


def _number(value: Any) -> float:
    """Return the first number in a value; 0 if there is none."""
    value = _unwrap(value)
    number = NUMBER.search(str(value)[:MAX_NUMBER_CHARS]) if isinstance(value, (int, float, str)) else None
    return float(number[0].replace(",", ".")) if number else 0.0


def _fraction(value: Any) -> float:
    """Return a stated fraction within [0, 1]: 95, "95%" and "9.5 out of 10" are .95; words are those of CONFIDENCE_WORDS."""
    value = _unwrap(value)
    written = "" if value is None else str(value)[:MAX_NUMBER_CHARS].casefold()
    if (share := SHARE.search(written)) and float(share[2]):
        return min(1.0, float(share[1].replace(",", ".")) / float(share[2]))
    if not NUMBER.search(written):
        words = " ".join(re.findall(r"\w+", written)).removesuffix(" confidence")
        return _FRACTIONS.get(words, _FRACTIONS.get(_DEGREE.sub("", words, count=1), 0.0))
    number = _number(value)
    return max(0.0, min(1.0, number / 100 if number > 1 else number))


_FRACTIONS = {word: fraction for fraction, words in CONFIDENCE_WORDS.items() for word in words.split(", ")}


def percent(value: Any) -> int:
    """Return a percentage from 0 to 100; values between 0 and 1 are fractions. ValueError if there is no number."""
    if not (isinstance(value, (int, float, str)) and NUMBER.search(str(value)[:MAX_NUMBER_CHARS])):
        raise ValueError(f"{value!r} is not a percentage: give a number from 0 to 100")
    number = _number(value)
    return round(max(0.0, min(100.0, number * 100 if 0 < number < 1 else number)))


def _text(value: Any) -> Any:
    """Return a value of another type as text: Yes for true, a list as its parts, an object with one text as that text."""
    if isinstance(value, Mapping) and isinstance(text := _unwrap(value), str):
        return text
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, (int, float)):
        return str(value).removesuffix(".0")
    if isinstance(value, list) and all(isinstance(part, (str, int, float)) for part in value):
        return ", ".join(str(_text(part)) for part in value)
    return "" if value is None else value


def _bare(answer: str) -> str:
    """Return an answer without what models write around it: "Answer: **Lyon** [1]" is "Lyon"."""
    bare = ANSWER_CITATIONS.sub("", ANSWER_LABEL.sub("", answer.strip()))
    return bare[2:-2] if bare.startswith("**") and bare.find("**", 2) == len(bare) - 2 > 2 else bare


def _texts(value: Any) -> Any:
    """Return a list of texts: a single text as one item, None as an empty list."""
    parts = value if isinstance(value, list) else [] if value is None else [value]
    return [text for text in map(_text, parts) if isinstance(text, str)]


def _numbers(value: Any) -> list[int]:
    """Return the numbers of passages, in any form: 1, "[1]", "passage 2", "1, 3", {"passage": 1}, {"2": "what it says"}."""
    if isinstance(value, list):
        return [number for part in value for number in _numbers(part)]
    if isinstance(value, Mapping):
        return _numbers([name for name in value if str(name).isdecimal()] or [part for part in value.values() if _is_number(part)])
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return []
    written = str(value)[:MAX_NUMBER_CHARS].removesuffix(".0")
    return [int(number) for number in BRACKETED.findall(written) or PASSAGE_NUMBER.findall(written)]


def _is_number(value: Any) -> bool:
    """Return whether a value is the number of a passage, and not a text with numbers: 1, "[1]"."""
    return isinstance(value, (int, float)) or (isinstance(value, str) and value.strip(" []").isdecimal())


def one_of_words(kind: Any, otherwise: str | None = None) -> BeforeValidator:
    """Return a validator for a Literal's words in any case, also before an explanation, or as a number; other values become `otherwise`."""
    words = {word.casefold(): word for word in get_args(kind)}

    def validate(value: Any) -> Any:
        text = str(_unwrap(value)).strip(" .").casefold()
        first = re.match(r"\W*(\w+)\W*(?:[:(\n–—].*)?$", text, re.DOTALL)
        return words.get(text) or words.get(first[1] if first else "", value if otherwise is None else otherwise)

    return BeforeValidator(validate)


Fraction = Annotated[float, Field(default=0.0, ge=0, le=1), BeforeValidator(_fraction)]
Score = Annotated[float, Field(ge=0, le=MAX_SCORE), BeforeValidator(lambda value: max(0.0, min(float(MAX_SCORE), _number(value))))]
Text = Annotated[str, BeforeValidator(_text)]
Query = Annotated[Text, AtMost(QUERY_CHARS)]
Span = Annotated[Text, AtMost(SPAN_CHARS)]
ShortAnswer = Annotated[Span, AfterValidator(_bare)]
"""An answer without a label, emphasis of Markdown and citations, since it is filled into the next question."""
Sentence = Annotated[Text, AtMost(SENTENCE_CHARS)]
Paragraph = Annotated[Text, AtMost(PARAGRAPH_CHARS)]
EmbeddedText = Annotated[str, BeforeValidator(lambda value: value[:NAME_CHARS] if isinstance(value, str) else ""), SkipJsonSchema()]
"""A field that the embedded model fills in; a language model is not asked for it."""
Quotes = Annotated[list[str], Field(default_factory=list), BeforeValidator(lambda value: _texts(value)), SkipJsonSchema()]
"""Sentences that the embedded model quotes, as many and as long as they are; a language model is not asked for any."""
Texts = Annotated[list[str], Field(default_factory=list), BeforeValidator(_texts)]
PassageNumber = Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": 99})]
Numbers = Annotated[list[PassageNumber], Field(default_factory=list), BeforeValidator(_numbers)]
Citations = Annotated[Numbers, AtMost(8)]
Flag = Annotated[bool, Field(default=False), BeforeValidator(lambda value: False if value is None else value)]

AnswerText = Annotated[Text, AtMost(TEXT_CHARS)]


class Written(ModelReply):
    """The answer in sentences, before the short one."""

    text: AnswerText = Field(
        default="",
        description="the answer and what it rests on, in one to eight sentences, each ending with its passage's number, such as [2]; if "
        "Unknown, what is told and what not",
    )


def reply_bounds(reply: type[BaseModel]) -> dict[str, AtMost]:
    """Return the limits of a reply's texts and lists, by field."""
    return {name: bound for name, field in reply.model_fields.items() for bound in field.metadata if isinstance(bound, AtMost)}


@cache
def with_bounds(reply: type[T], **most: int) -> type[T]:
    """Return a reply type whose texts and lists of these names may have so many characters or items."""
    fields: dict[str, Any] = {}
    for name, bound in most.items():
        field = copy(reply.model_fields[name])
        field.metadata = [replace(limit, most=bound) if isinstance(limit, AtMost) else limit for limit in field.metadata]
        fields[name] = (field.annotation, field)
    return create_model(reply.__name__, __base__=reply, __doc__=reply.__doc__, **fields)


@cache
def without_confidence(reply: type[T]) -> type[T]:
    """Return a reply type whose confidence a model is not asked for, because it is measured."""
    if CONFIDENCE not in reply_fields(reply):
        return reply
    unasked: dict[str, Any] = {CONFIDENCE: (SkipJsonSchema[float], Field(default=1.0, ge=0, le=1))}
    return create_model(reply.__name__, __base__=reply, __doc__=reply.__doc__, **unasked)


@cache
def with_text(reply: type[T], last: bool = False) -> type[T]:
    """Return a reply type with the answer in sentences: as first field, so that it can be streamed first, or as last.

    What stands before the short answer makes its tokens likely, right or wrong: behind it, these tell more.
    """
    if last:
        text: dict[str, Any] = {TEXT: (AnswerText, Field(default="", description=TEXT_LAST))}
        return create_model(reply.__name__, __base__=reply, __doc__=reply.__doc__, **text)
    bases: Any = (reply, Written)
    return create_model(reply.__name__, __base__=bases, __doc__=reply.__doc__)  # type: ignore[no-any-return]


@cache
def with_thought(reply: type[T], of: str) -> type[T]:
    """Return a reply type with a sentence of reasoning as first field, about `of`.

    A model generates from left to right, so the fields after it can depend on it.
    """
    thought: dict[str, Any] = {THOUGHT: (Sentence, Field(default="", description=f"one sentence: {of}"))}
    before = create_model("Thought", __base__=ModelReply, **thought)
    thoughtful: Any = create_model(reply.__name__, __base__=(reply, before), __doc__=reply.__doc__)
    return thoughtful  # type: ignore[no-any-return]

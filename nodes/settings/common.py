"""The settings of every strategy."""

from typing import Annotated, Any, ClassVar, Literal, Self

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    ModelWrapValidatorHandler,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from ramify.tools.errors import UsageError
from ramify.tools.index.hybrid_search import View
from ramify.tools.index.passage_store import filter_choices
from ramify.tools.profile import Profile
from ramify.tools.quoting import truncate_line
from ramify.tools.scrub import mask_address
from ramify.tools.search.collection_set import CollectionSet
from ramify.tools.search.relevance import NO_RERANKER, is_address
from ramify.tools.search.searcher import as_collections
from ramify.tools.server_address import single_address
from ramify.tools.user_input import check_text

AUTO, EMBEDDED, LARGE = "auto", "extractive", "extractive:large"
"""The names of the best model that is available, of the embedded one, and of that one with the large reader, which is downloaded."""
IndexList = Annotated[tuple[str | VectorStore | BaseRetriever, ...], Field(min_length=1)] | InstanceOf[CollectionSet]
"""Indexes that are searched as one, also with names of their own."""
FILTER = '{"source": "report.pdf"}'
TRUST = '{"source": {"manual*": 2, "wiki/*": 0.5}, "date": "newest"}'
MAX_QUOTED_CHARS = 80
"""Characters shown of a rejected value."""
AskFirst = Literal["splits", "unsure", "never"]
"""What a person reviews."""
Style = Literal["auto", "full", "quoted", "short"]
"""Whether an answer has sentences, and who writes them."""
Think = Literal["off", "plan", "on"]
"""In which calls a model thinks before it replies."""
Splitter = Literal["auto", "model", "embedded", "both"]
"""What splits a question."""
Judging = Literal["auto", "scores", "confidence"]
"""How a fork is judged."""
NEWEST = "newest"
Trust = dict[str, dict[str, float] | Literal["newest"]]
"""By metadata field: weights of patterns of its values, or `newest` where it is a date."""
NEVER: AskFirst = "never"
SPLITS: AskFirst = "splits"
UNSURE: AskFirst = "unsure"


def _reranker(value: Any) -> Any:
    """Return the name "none" for None, which the command line makes of it."""
    return NO_RERANKER if value is None else value.strip() if isinstance(value, str) else value


def _checker(value: Any) -> Any:
    """Return the name of what checks sentences; UsageError for a reranker's address, since the scale of its scores is not known."""
    if isinstance(value, str) and is_address(value):
        what = f"check={mask_address(value.strip())!r} is the address of a reranker, whose scores do not say what a text supports"
        raise UsageError(what, "use reader, model, none, or a cross-encoder by name or path")
    return _reranker(value)


def is_embedded(model: object) -> bool:
    """Return whether a model's name is that of the embedded one, with either reader."""
    return isinstance(model, str) and model.strip() in (EMBEDDED, LARGE)


def is_large(model: object) -> bool:
    """Return whether a model's name is that of the embedded one with the large reader."""
    return isinstance(model, str) and model.strip() == LARGE


def _single(value: Any) -> Any:
    """Return the index of a list with one item."""
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value


class Settings(BaseModel):
    """Settings of every strategy."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, coerce_numbers_to_str=True)
    settings_help: ClassVar[str] = "`ramify settings STRATEGY` lists what it can be"
    """Remedy in the error of an unknown setting."""
    final_call_branches: ClassVar[Literal["tree", "leaves"]] = "tree"
    """Branches shown to the final call: the whole tree, or its leaves."""

    model: str | SkipJsonSchema[BaseChatModel] = Field(
        default="auto",
        description="Chat model: auto (Ollama if it is running, else extractive), extractive, extractive:large (`ramify download reader`), "
        "ollama:NAME, gguf:PATH, or any provider:model of LangChain.",
    )
    adapter: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)] = Field(
        default="auto",
        description="LoRA adapter of a gguf: model: auto (the adapter.gguf in the folder of a downloaded model, if it has one), off, or "
        "the path of a GGUF file.",
    )
    base_url: Annotated[str | None, BeforeValidator(single_address)] = Field(
        default=None, description="Address of the model's server (Ollama, vLLM, llama.cpp), or of a proxy before several."
    )
    index: Annotated[
        str | SkipJsonSchema[VectorStore] | SkipJsonSchema[BaseRetriever] | SkipJsonSchema[IndexList], BeforeValidator(_single)
    ] = Field(
        default="demo",
        description="Folder or address of the index to search, a list of several, or demo for the corpus included in the package.",
    )
    filter: dict[str, Any] | None = Field(
        default=None, description=f"Search only passages whose metadata has these values, such as {FILTER}.", examples=[FILTER]
    )
    k: int = Field(default=5, ge=1, le=100, description="Passages retrieved for a question.")
    fetch_k: int | None = Field(default=None, ge=1, description="Candidates that MMR selects from. Not given: four times k.")
    mmr: float | None = Field(
        default=None, ge=0, le=1, description="Lambda of maximal marginal relevance (MMR); none: rank by relevance only."
    )
    hybrid: bool = Field(default=True, description="Combine dense search with BM25, by the mean of their scores; false: dense search only.")
    view: View = Field(
        default="auto",
        description="How the index is searched: auto: with its graph or hierarchy, if it has one; flat: passages only.",
    )
    search: dict[str, Any] | None = Field(
        default=None,
        description="Options of searching a graph (seeds, hops, damping, …: docs/graph.md) or a hierarchy (fallback, headings, …: "
        "docs/hierarchy.md).",
        examples=["search.seeds=3"],
    )
    rerank: Annotated[str, BeforeValidator(_reranker)] = Field(
        default=NO_RERANKER,
        min_length=1,
        description="Model that reorders the passages found by a search: none, reader (the relevance score of the embedded model), the "
        "name or path of a sentence-transformers cross-encoder, or a server's address: http://HOST:PORT/v1/rerank, or MODEL@http://… for "
        "one that wants a model.",
    )
    rerank_k: int = Field(
        default=20,
        ge=1,
        le=100,
        description="Passages that are reranked; the best k are kept. With mmr, MMR selects them. Iterative RAG does not rerank.",
    )
    passage_tokens: int = Field(
        default=300, ge=20, description="A passage is cut to this many tokens of the encoder before the model reads it."
    )
    context_tokens: int = Field(default=1500, ge=50, description="Tokens of passages given to one call.")
    final_k: int = Field(default=5, ge=1, description="Passages given to the final call.")
    style: Style = Field(
        default="auto",
        description="full: the short answer, and sentences with their sources, written by a language model; quoted: sentences of the "
        "sources word for word, without a call; short: the short answer only; auto: quoted for a language model of fewer than 4 billion "
        "parameters, else full.",
    )
    check: Annotated[str, BeforeValidator(_checker)] = Field(
        default="reader",
        min_length=1,
        description="What checks whether the sources of a sentence in the answer support it: reader (the embedded model), none, model "
        "(one more call), or the name or path of a sentence-transformers cross-encoder, which may be an NLI model.",
    )
    profile: str | SkipJsonSchema[Profile] | None = Field(
        default=None,
        description="File written by `ramify calibrate`: its curve corrects confidences, its threshold withholds unsure answers.",
    )
    thought: bool = Field(default=True, description="Ask for one short sentence of reasoning before a decision, a score or a final answer.")
    think: Think = Field(
        default="off",
        description="Where a model that can think before it replies (at Ollama) does so: off; plan: where a question is split or judged; "
        "on: in every call. Each thought can take a quarter of num_ctx, at most 4096 tokens.",
    )
    shots: int = Field(default=2, ge=0, le=3, description="Examples shown in a prompt (few-shot), if they fit beside the passages.")
    temperature: float = Field(default=0.0, ge=0, le=2, description="Sampling temperature of every call.")
    seed: int = Field(default=0, description="Seed of every call.")
    num_ctx: int = Field(default=8192, ge=512, description="Context window of the model in tokens; prompts are shortened to fit.")
    num_predict: int = Field(default=512, ge=16, description="Maximum length of a reply in tokens, without the reasoning before it.")
    timeout: float = Field(default=120.0, gt=0, description="Seconds to wait for one call; with `gguf:`, for a sign of progress.")
    keep_alive: str = Field(default="10m", description="How long Ollama keeps the model loaded.")
    max_concurrency: int | None = Field(
        default=None,
        ge=1,
        description="Maximum number of concurrent calls of a model. Not given: 8; gguf: 1, on a GPU 4; "
        "Ollama: OLLAMA_NUM_PARALLEL, if set.",
    )
    max_calls: int | None = Field(
        default=None, ge=1, description="Maximum number of model calls for a question, with retries; the last is reserved for the answer."
    )
    max_tokens: int | None = Field(default=None, ge=1, description="Maximum number of tokens for a question, prompts and replies together.")
    max_seconds: float | None = Field(
        default=None, gt=0, description="Maximum time for a question in seconds, without loading models and indexes."
    )

    @model_validator(mode="wrap")
    @classmethod
    def _one_line_errors(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        # Here and not where settings are read, because LangGraph makes them of a run's context itself.
        for value in given.values() if isinstance(given, dict) else ():
            for text in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(text, str):
                    check_text(text)
        try:
            made = handler(given)
        except ValidationError as error:
            first, *others = error.errors()
            name = str(first["loc"][0])
            or_else = [other["msg"] for other in others if other["loc"][0] == name]  # of a setting that may be one thing or another
            what = (
                f"{name}={truncate_line(repr(first['input']), MAX_QUOTED_CHARS)} is not valid ({'; or: '.join([first['msg'], *or_else])})"
            )
            example = next(iter(getattr(cls.model_fields.get(name), "examples", None) or ()), None)
            remedy = f"write it as `--set '{name}={example}'`" if example else cls.settings_help
            raise UsageError(what, remedy) from None
        several = as_collections(made.index)
        members = several.members if several else [made.index]
        if any(isinstance(member, str) for member in members):  # other stores have filters of their own
            for field, wanted in (made.filter or {}).items():
                filter_choices(field, wanted)
        return made

    @property
    def reviewed(self) -> AskFirst:
        """Return what a person reviews before it counts."""
        return NEVER

    @property
    def reranker(self) -> str:
        """Return the name of the model that reranks passages."""
        return self.rerank

    def passages_for(self, path: str) -> int:
        """Return how many passages are retrieved for the branch at this path."""
        return self.k

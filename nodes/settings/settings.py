"""What every strategy can be told: model, index, search, what a call may show and what a question may cost."""

from typing import Annotated, Any, ClassVar, Literal, Self

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic.json_schema import SkipJsonSchema

from ramify.tools.errors import UsageError
from ramify.tools.index.hybrid_search import View
from ramify.tools.index.passage_store import choices_of
from ramify.tools.quoting import brief
from ramify.tools.relevance import NONE
from ramify.tools.server_address import as_one_text
from ramify.tools.typed import readable

EMBEDDED = "extractive"
"""The name of the embedded model."""
FILTER = '{"source": "report.pdf"}'
QUOTED = 80
"""Characters of a value that is refused."""


def _reranker(value: Any) -> Any:
    """Read none as the name that it is here: on the command line it stands for no value."""
    return NONE if value is None else value.strip() if isinstance(value, str) else value


class Settings(BaseModel):
    """What every strategy can be told."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, coerce_numbers_to_str=True)
    listed: ClassVar[str] = "`ramify settings STRATEGY` lists what it can be"
    """What to do about a setting that there is not."""
    shown_at_last: ClassVar[Literal["tree", "leaves"]] = "tree"
    """The branches that the final call is shown: all of the tree, or what holds at the end."""

    model: str | SkipJsonSchema[BaseChatModel] = Field(
        default="auto",
        description="Chat model: auto (Ollama, if it is there), extractive, ollama:NAME, gguf:PATH, or any provider:model of LangChain.",
    )
    base_url: Annotated[str | None, BeforeValidator(as_one_text)] = Field(
        default=None, description="Address of the model's server (Ollama, vLLM, llama.cpp); several of them with spaces or commas between."
    )
    index: str | SkipJsonSchema[VectorStore] | SkipJsonSchema[BaseRetriever] = Field(
        default="demo", description="Folder or address of the index to search, or demo for the corpus that ships with the package."
    )
    filter: dict[str, Any] | None = Field(
        default=None, description=f"Search only passages whose metadata has these values, such as {FILTER}.", examples=[FILTER]
    )
    k: int = Field(default=5, ge=1, le=100, description="Passages retrieved for a question.")
    fetch_k: int | None = Field(default=None, ge=1, description="Candidates that MMR picks from; four times k where not given.")
    mmr: float | None = Field(default=None, ge=0, le=1, description="Lambda of maximal marginal relevance; none for relevance alone.")
    hybrid: bool = Field(default=True, description="Fuse dense search with BM25, by the mean of their scores.")
    view: View = Field(
        default="auto", description="How the index is searched: auto for the way of its kind, flat for plain passages whatever its kind."
    )
    search: dict[str, Any] | None = Field(
        default=None,
        description="Options of the search of an index's own kind; with a graph seeds, hops, damping and more, with a hierarchy fallback, "
        "summaries, headings and more.",
        examples=["search.seeds=3"],
    )
    rerank: Annotated[str, BeforeValidator(_reranker)] = Field(
        default=NONE,
        min_length=1,
        description="What reorders the passages that a search found before they are read: none, reader (the embedded model's relevance), "
        "or a sentence-transformers cross-encoder by name or path.",
    )
    rerank_k: int = Field(
        default=20,
        ge=1,
        le=100,
        description="Passages a search hands to the reranker, which keeps k of them; with mmr, it picks these. Iterative RAG reranks none.",
    )
    passage_tokens: int = Field(
        default=300, ge=20, description="A passage is cut to this many tokens, counted as an index counts them, before the model reads it."
    )
    context_tokens: int = Field(default=1500, ge=50, description="Tokens of passages given to one call.")
    final_k: int = Field(default=5, ge=1, description="Passages given to the final call.")
    thought: bool = Field(default=True, description="Ask for one short sentence of thought before a decision, a verdict or a final answer.")
    shots: int = Field(
        default=3, ge=0, le=3, description="Worked examples shown before what is asked (few-shot), where they fit beside the passages."
    )
    temperature: float = Field(default=0.0, ge=0, le=2, description="Sampling temperature of every call.")
    seed: int = Field(default=0, description="Seed of every call.")
    num_ctx: int = Field(default=8192, ge=512, description="Context window of the model in tokens; a prompt is made to fit.")
    num_predict: int = Field(default=512, ge=16, description="Longest reply in tokens, without a thought before it.")
    timeout: float = Field(default=120.0, gt=0, description="Seconds to wait for one call.")
    keep_alive: str = Field(default="10m", description="How long Ollama keeps the model loaded.")
    max_concurrency: int | None = Field(
        default=None,
        ge=1,
        description="Calls to one model at the same time, at each of its servers. Not given: 8; gguf: 1, on a GPU 4; "
        "Ollama: OLLAMA_NUM_PARALLEL, or as it serves.",
    )
    max_calls: int | None = Field(default=None, ge=1, description="Budget of model calls a question, repeats too; the last is kept back.")
    max_tokens: int | None = Field(default=None, ge=1, description="Budget of tokens a question, prompts and replies together.")
    max_seconds: float | None = Field(default=None, gt=0, description="Budget of seconds a question; those of loading do not count.")

    @model_validator(mode="wrap")
    @classmethod
    def _refused_in_one_line(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        # Here and not where settings are read, because LangGraph makes them of a run's context itself.
        for text in given.values() if isinstance(given, dict) else ():
            if isinstance(text, str):
                readable(text)
        try:
            made = handler(given)
        except ValidationError as error:
            first, *others = error.errors()
            name = str(first["loc"][0])
            or_else = [other["msg"] for other in others if other["loc"][0] == name]  # of a setting that may be one thing or another
            what = f"{name}={brief(repr(first['input']), QUOTED)} is not valid ({'; or: '.join([first['msg'], *or_else])})"
            example = next(iter(getattr(cls.model_fields.get(name), "examples", None) or ()), None)
            remedy = f"write it as `--set '{name}={example}'`" if example else cls.listed
            raise UsageError(what, remedy) from None
        if isinstance(made.index, str):  # other stores have filters of their own kinds
            for field, wanted in (made.filter or {}).items():
                choices_of(field, wanted)
        return made

    @property
    def reranker(self) -> str:
        """Name what reorders the passages that a search found."""
        return self.rerank

    def passages_for(self, path: str) -> int:
        """Return how many passages a search for the branch at this path hands over."""
        return self.k

"""The settings of every strategy: numbers, thresholds and names, with the papers' values as defaults; and those of building an index.

An option that changes the graph (`joint`, `backtrace`, an ablation) is an argument of a strategy's `build`, never a setting.
"""

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


TAU = 0.95
"""The paper's threshold."""
MIN_HOP_CONFIDENCE = 0.1
"""Answers of the embedded model below this are not filled into further questions: nine of ten are wrong. Chosen by hand, not fitted."""
PRIMARY = "0.0"
"""The branch of the primary query of Iterative RAG."""


class SplitterSettings(Settings):
    """Settings of every strategy that splits questions, or asks one after another."""

    splitter: Splitter = Field(
        default="auto",
        description="What splits a question: model; embedded (the embedded writer, in milliseconds; the model if it cannot read it), "
        "whose splits are combined by arithmetic where that settles them; both: the model where the writer does not split; auto: embedded "
        "for a language model of fewer than 4 billion parameters, else model.",
    )


class TreeSettings(SplitterSettings):
    """Settings of every strategy that decomposes."""

    max_depth: int = Field(default=3, ge=0, le=10, description="Levels of the tree below the root.")
    dependent: bool = Field(default=True, description="Allow a second sub-question that needs the answer to the first.")
    informed: bool = Field(
        default=True, description="Show the passages found for a question, if it was searched, to the call that splits it."
    )
    tau: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="An answer is accepted if its confidence is above this. Not given: "
        f"{TAU:g} as in the paper; for the extractive model 0.6, from its calibration.",
    )

    min_hop_confidence: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="A sub-question is not asked if the confidence of the answer it needs is below this. Not given: 0; for the extractive "
        f"model {MIN_HOP_CONFIDENCE:g}.",
    )
    trust: Trust | None = Field(
        default=None,
        description="Which source to trust where answers to the whole question conflict: weights of the values of metadata fields "
        f"(patterns; 1 by default), and `newest` for a date, such as {TRUST}. Not given: the majority, then the final call.",
        examples=[TRUST],
    )
    ask_first: AskFirst = Field(
        default=NEVER,
        description="When a person approves, edits or rejects: splits: before a question is split; unsure: before an answer with a "
        "confidence not above tau is inserted into another question or returned; never. Needs a checkpointer.",
    )

    @property
    def reviewed(self) -> AskFirst:
        """Return what a person reviews before it counts."""
        return self.ask_first

    @property
    def threshold(self) -> float:
        """Return tau, which is set when a question is started; otherwise the paper's value."""
        return TAU if self.tau is None else self.tau


class SplitSettings(TreeSettings):
    """Split first: what splits, and how much is read."""

    splitter: Splitter = Field(default="embedded", description=TreeSettings.model_fields["splitter"].description)
    k: int = Field(default=3, ge=1, le=100, description="Passages retrieved for a question.")
    style: Style = Field(default="quoted", description=Settings.model_fields["style"].description)


class JudgedSettings(TreeSettings):
    """Settings of every strategy that judges forks."""

    final_call_branches: ClassVar[Literal["tree", "leaves"]] = "leaves"
    mmr: float | None = Field(
        default=0.75, ge=0, le=1, description="Lambda of maximal marginal relevance (MMR); none: rank by relevance only."
    )
    temperature: float = Field(default=0.2, ge=0, le=2, description="Sampling temperature of every call.")
    judge: Judging = Field(
        default="auto",
        description="How a fork is judged: scores: by four criteria, as in the paper, in a call; confidence: by how likely its "
        "answers are right; auto: confidence for a language model of fewer than 4 billion parameters, else scores.",
    )
    expand_sure: bool = Field(default=False, description="Also split branches whose confidence is above tau, as in the paper.")


class TorSettings(JudgedSettings):
    """ToR-RAG: theta and the attempts at a fork (paper §4)."""

    theta: float = Field(default=0.4, ge=0, le=1, description="A fork judged below this is pruned.")
    redecompositions: int = Field(
        default=1, ge=0, description="How often a fork below theta is decomposed again before it is pruned for good."
    )


class MctsSettings(JudgedSettings):
    """Monte Carlo tree search over splits: its budget, and how it explores."""

    judge: Judging = Field(default="confidence", description=JudgedSettings.model_fields["judge"].description)
    simulations: int = Field(
        default=7, ge=1, le=200, description="Maximum number of simulations: each splits one question, answers the halves and judges them."
    )
    theta: float = Field(
        default=0.4, ge=0, le=1, description="The value that a split not tried yet is expected to have: pairs below it are replaced first."
    )
    exploration: float = Field(default=0.5, ge=0, description="Weight of rarely tried splits in the choice of the next one (c of UCT).")


class PruneSettings(TreeSettings):
    """PruneRAG: tau and the depth of the tree (counted below the root)."""

    max_depth: int = Field(default=2, ge=0, le=10, description="Levels of the tree below the root.")
    reconsider: bool | None = Field(
        default=None,
        description="With joint=true: if the confidence is not above tau, ask again with the next k passages. The same answer keeps its "
        "confidence. Not given: true for a language model, false for the extractive model.",
    )
    shared_evidence: int = Field(
        default=0, ge=0, le=10, description="Passages cited by other answers, the best for this question, shown too (M-PruneRAG: 2)."
    )
    final_k: int = Field(default=10, ge=1, description="Passages given to the final call.")
    context_tokens: int = Field(default=3000, ge=50, description="Tokens of passages given to one call.")


class ChainSettings(Settings):
    """Settings of every chain: its length."""

    max_depth: int = Field(default=4, ge=1, le=20, description="Maximum number of sub-questions asked one after another (L).")


class RetrievalChainSettings(ChainSettings, SplitterSettings):
    """Chain of retrieval (CoR-RAG): what asks the next sub-question."""


class IrcotSettings(ChainSettings):
    """IRCoT: its steps and passages (paper §4.2)."""

    max_depth: int = Field(default=8, ge=1, le=20, description="Maximum number of sentences in the chain of thought; each is searched for.")
    final_k: int = Field(default=15, ge=1, description="Maximum number of collected passages given to one call.")
    context_tokens: int = Field(default=4500, ge=50, description="Tokens of passages given to one call.")


class ReactSettings(ChainSettings):
    """ReAct: its steps (7 for HotpotQA, paper §3.2)."""

    max_depth: int = Field(default=7, ge=1, le=20, description="Maximum number of searches, one after another.")


class IterativeSettings(Settings):
    """Iterative RAG: the width of the search and when the filter loop stops."""

    top_k: int = Field(default=100, ge=2, description="Passages retrieved for the primary query; half as many for each sub-query.")
    batch: int = Field(default=20, ge=1, description="Passages read in one round of the filter step.")
    rounds: int = Field(default=5, ge=1, description="Maximum number of rounds of the filter step.")
    enough_facts: int = Field(default=5, ge=1, description="Stop when this many facts have been found.")
    low_relevance: float | None = Field(default=None, ge=0, le=1, description="A round is poor below this relevance. Not given: always.")
    patience: int = Field(default=1, ge=1, description="Consecutive poor rounds before the query suggested by the model is searched.")
    final_k: int = Field(default=15, ge=1, description="Passages given to the final call.")
    passage_chars: int = Field(default=500, ge=50, description="A passage is cut to this many characters for the final call.")
    final_facts: int = Field(default=10, ge=0, description="Facts given to the final call.")
    context_tokens: int = Field(
        default=6000,
        ge=50,
        le=20_000,
        description="Tokens of passages given to one call, at most 20000; those that do not fit into num_ctx are read in the next round.",
    )
    num_predict: int = Field(
        default=768,
        ge=16,
        le=4000,
        description="Maximum length of a reply in tokens, at most 4000; with num_ctx=8192, more would leave no room for a batch of 20.",
    )

    @property
    def reranker(self) -> str:
        """Return "none": a filter reads all passages, round by round."""
        return NO_RERANKER

    def passages_for(self, path: str) -> int:
        """Return how many passages are retrieved for the branch at this path: half as many, except for the primary query."""
        return self.top_k if path == PRIMARY else self.top_k // 2


class GlobalSettings(Settings):
    """Questions about everything: which reports or summaries are read, and how many in one call (GraphRAG §2)."""

    level: int | Literal["auto"] = Field(
        default="auto",
        description="Level of the reports or summaries that are read; 0 is the root. auto: the deepest with at most max_batches batches.",
    )
    over: Literal["reports", "passages", "search"] = Field(
        default="reports",
        description="reports: read the reports of a graph or the summaries of a hierarchy; passages: read all passages of any index "
        "(the baseline TS of the paper); search: answer from the passages that a search finds, as many as num_ctx has room for (SS).",
    )
    max_batches: int = Field(
        default=16,
        ge=1,
        le=1000,
        description="Maximum number of batches, each of which is one call; of more batches, a random sample is read.",
    )
    batch_tokens: int | None = Field(
        default=None,
        ge=100,
        description="Tokens of reports or summaries in a batch. Not given: what num_ctx leaves beside the prompt and the reply.",
    )
    final_k: int = Field(default=12, ge=1, le=100, description="Passages cited for an answer.")
    context_tokens: int = Field(
        default=1_000_000, ge=50, description="Tokens of reports or points given to one call, as far as num_ctx has room for them."
    )
    passage_tokens: int = Field(default=2000, ge=20, description="A report, a summary or a partial answer is cut to this many tokens.")
    num_predict: int = Field(default=1024, ge=16, description="Maximum length of a reply in tokens, without the reasoning before it.")

"""What single strategies can be told beside what every one can, with their papers' values as defaults."""

from typing import ClassVar, Literal

from pydantic import Field

from ramify.nodes.settings.settings import Settings
from ramify.tools.reader.calibration import TAU as CALIBRATED
from ramify.tools.relevance import NONE

TAU = 0.95
"""The paper's."""
PRIMARY = "0.0"
"""The branch of the primary query of Iterative RAG."""


class TreeSettings(Settings):
    """What every strategy that decomposes can be told."""

    max_depth: int = Field(default=3, ge=0, le=10, description="Levels of the tree below the root.")
    dependent: bool = Field(default=True, description="Allow a second sub-question that needs the answer of the first.")
    tau: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="An answer is accepted when its confidence is above this; not given: "
        f"{TAU:g} as in the paper, for the extractive model what was calibrated for it ({CALIBRATED:g}).",
    )

    @property
    def threshold(self) -> float:
        """Return tau, which is set once a question is planted; before that, and where nothing was calibrated, the paper's."""
        return TAU if self.tau is None else self.tau


class TorSettings(TreeSettings):
    """ToR-RAG: theta and the attempts at a fork (paper §4)."""

    shown_at_last: ClassVar[Literal["tree", "leaves"]] = "leaves"
    mmr: float | None = Field(default=0.75, ge=0, le=1, description="Lambda of maximal marginal relevance; none for relevance alone.")
    temperature: float = Field(default=0.2, ge=0, le=2, description="Sampling temperature of every call.")
    theta: float = Field(default=0.4, ge=0, le=1, description="A fork judged below this is pruned.")
    redecompositions: int = Field(default=1, ge=0, description="How often a weak fork is decomposed again before it is pruned for good.")
    grow_sure: bool = Field(default=False, description="Let answers above tau grow, too, as in the paper.")


class PruneSettings(TreeSettings):
    """PruneRAG: tau and the depth of the tree (counted below the root)."""

    max_depth: int = Field(default=2, ge=0, le=10, description="Levels of the tree below the root.")
    informed: bool = Field(default=True, description="Staged wiring: show what was found for a question to the call that splits it.")
    reconsider: bool | None = Field(
        default=None,
        description="Joint wiring: ask once more, with a hint, where an answer is not above tau; not given: of a language model, "
        "not of the extractive one, which would say the same.",
    )
    final_k: int = Field(default=10, ge=1, description="Passages given to the final call.")
    context_tokens: int = Field(default=3000, ge=50, description="Tokens of passages given to one call.")


class ChainSettings(Settings):
    """Chain of retrieval: its length."""

    max_depth: int = Field(default=4, ge=1, le=20, description="Most sub-questions asked one after another (L).")


class IterativeSettings(Settings):
    """Iterative RAG: the width of the search and when the filter loop stops."""

    top_k: int = Field(default=100, ge=2, description="Passages searched for the primary query; half of it for each sub-query.")
    batch: int = Field(default=20, ge=1, description="Passages read in one round of the filter.")
    rounds: int = Field(default=5, ge=1, description="Most rounds of the filter.")
    enough_facts: int = Field(default=5, ge=1, description="Stop when this many facts have been found.")
    low_relevance: float = Field(default=0.3, ge=0, le=1, description="A round below this is a poor one.")
    patience: int = Field(default=3, ge=1, description="Poor rounds in a row before the suggested query is searched.")
    final_k: int = Field(default=15, ge=1, description="Passages given to the final call.")
    passage_chars: int = Field(default=500, ge=50, description="A passage is cut to this many characters for the final call.")
    final_facts: int = Field(default=10, ge=0, description="Facts given to the final call.")
    context_tokens: int = Field(
        default=6000,
        ge=50,
        le=20_000,
        description="Tokens of passages given to one call, at most 20000; what num_ctx does not hold is read in the next round.",
    )
    num_predict: int = Field(
        default=768,
        ge=16,
        le=4000,
        description="Longest reply in tokens, at most 4000; in a num_ctx of 8192, more would leave a batch of 20 no room.",
    )

    @property
    def reranker(self) -> str:
        """Name nothing: a filter reads what was found, round by round."""
        return NONE

    def passages_for(self, path: str) -> int:
        """Return how many passages a search for the branch at this path hands over: half as many but for the primary query."""
        return self.top_k if path == PRIMARY else self.top_k // 2


class GlobalSettings(Settings):
    """Questions about everything: which reports or summaries are read, and how many in one call (GraphRAG §2)."""

    level: int | Literal["auto"] = Field(
        default="auto", description="Level of the reports or summaries that are read, 0 the root; auto: the deepest within max_batches."
    )
    over: Literal["reports", "passages"] = Field(
        default="reports",
        description="What is read: the reports of a graph or the summaries of a hierarchy, or all passages of any index (the paper's TS).",
    )
    max_batches: int = Field(default=16, ge=1, le=1000, description="Most batches, each of which is a call; auto chooses the level by it.")
    batch_tokens: int | None = Field(
        default=None,
        ge=100,
        description="Tokens of reports or summaries in a batch; not given: what num_ctx leaves beside the prompt and the reply.",
    )
    final_k: int = Field(default=12, ge=1, le=100, description="Passages cited for an answer.")
    context_tokens: int = Field(default=8000, ge=50, description="Tokens of partial answers given to the final call.")
    passage_tokens: int = Field(default=2000, ge=20, description="A report, a summary or a partial answer is cut to this many tokens.")
    num_predict: int = Field(default=1024, ge=16, description="Longest reply in tokens, without a thought before it.")

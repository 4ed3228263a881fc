"""The settings that each strategy adds to those of every one: thresholds, depths and numbers, with the papers' values as defaults."""

from typing import ClassVar, Literal

from pydantic import Field

from ramify.nodes.settings.common import NEVER, TRUST, AskFirst, Judging, Settings, Splitter, Style, Trust
from ramify.tools.search.relevance import NO_RERANKER

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

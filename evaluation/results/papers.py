"""What the papers report: only figures that were read in them or in the source named, each with what makes it another experiment."""

from dataclasses import dataclass

TOR = "ToR-RAG paper, MultiHop-RAG, 2,556 questions, LLaMA 3.1 8B on Ollama, Qwen3-Embedding-0.6B"
PRUNE = (
    "PruneRAG paper, HotpotQA, 2WikiMultihopQA and MuSiQue, Llama-3.1-8B-Instruct or Qwen3-8B, BGE-large-en-v1.5; "
    "of which of these sets a figure is, is not told"
)
RETRIEVERS = "MultiHop-RAG, from secondary sources, top 10 of 256-token chunks"


@dataclass(frozen=True)
class Published:
    """A row of a paper, with the group of ours that does the same."""

    name: str
    figures: tuple[str, ...]
    strategy: str = ""
    variant: str = ""


STRATEGIES = (
    Published("Non-RAG", ("49.06", "50.11"), "closed-book"),
    Published("Native RAG", ("53.83", "55.92"), "naive"),
    Published("CoR-RAG", ("54.26", "55.14"), "chain"),
    Published("ToR-RAG, depth 3", ("60.25", "61.18"), "tor"),
)
"""EM and F1."""
DEPTHS = (
    Published("ToR-RAG, depth 1", ("54.58", "55.52"), "tor", "max_depth=1"),
    Published("ToR-RAG, depth 2", ("56.30", "57.61"), "tor", "max_depth=2"),
    Published("ToR-RAG, depth 3", ("60.25", "61.18"), "tor", "max_depth=3"),
    Published("ToR-RAG, depth 4", ("26.13", "30.13"), "tor", "max_depth=4"),
)
"""EM and F1."""
FORGOTTEN = (Published("with the answer branch", ("23.1",), "prune"), Published("without it", ("48.2",), "prune", "without answer"))
"""EFR."""
SEARCHES = (
    Published("bge-large-en-v1.5", (".4298", ".6718", ".5221")),
    Published("voyage-02 with bge-reranker-large", (".5860", ".7467", ".6625")),
)
"""MRR@10, Hits@10 and Hits@4."""
CLAIMS = (
    ("F1", "+5.45 % on average"),
    ("EFR", "-20.8 %"),
    ("Speed", "4.9 times that of mainstream baselines"),
    ("Threshold", "EM falls sharply for tau below 0.5; best from 0.9 to 0.95"),
    ("Depth", "saturates at 2 to 3"),
)
"""Of PruneRAG, whose tables and curves are not available."""
GUESSES = (
    'On the full MultiHop-RAG set, always saying "Yes" scores about 30.6 EM, and the most frequent answer of each question type about 53.'
)

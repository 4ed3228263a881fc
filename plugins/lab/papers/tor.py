"""ToR-RAG (Yoo and Moon 2025): its tables 3 and 4, and what it leaves open: θ, an ablation of the judge, and a search over trees."""

from ramify.lab.papers.paper import EXACT_SEARCH, PAPER_PRESET, PROMPTS, Paper, PaperRow, PaperTable, paper_run
from ramify.lab.results.measures import EM, F1, MODEL_CALLS, SUPPORT_F1, TREE_DEPTH

COMMON_OPTIONS = {"k": 5, "mmr": 0.75, "hybrid": False, "temperature": 0.2, "passage_tokens": 300, "context_tokens": 1500, "final_k": 5}
"""Table 1 and §IV.1: the same for every method."""
SEARCH_OPTIONS = {"judge": "scores", "splitter": "model", "dependent": False, "expand_sure": True, "informed": False}
"""Those of the paper's preset that the search over trees has, too."""
METHODS_TABLE = PaperTable(
    "Table 3: methods",
    (EM, F1),
    (
        PaperRow("Non-RAG", "closed-book", figures=("49.06", "50.11")),
        PaperRow("Native-RAG", "naive", figures=("53.83", "55.92")),
        PaperRow("CoR-RAG", "chain", figures=("54.26", "55.14")),
        PaperRow("ToR-RAG, depth 3", "tor", figures=("60.25", "61.18")),
    ),
)
DEPTHS_TABLE = PaperTable(
    "Table 4: depth",
    (EM, F1, TREE_DEPTH, MODEL_CALLS),
    (
        PaperRow("ToR-RAG, depth 1", "tor", "max_depth=1", ("54.58", "55.52")),
        PaperRow("ToR-RAG, depth 2", "tor", "max_depth=2", ("56.30", "57.61")),
        PaperRow("ToR-RAG, depth 3", "tor", "max_depth=3", ("60.25", "61.18")),
        PaperRow("ToR-RAG, depth 4", "tor", "max_depth=4", ("26.13", "30.13")),
    ),
    lead="limit",
    note="The paper gives neither the depth that trees reach nor calls. It explains depth 4 by prompts that ran over the window.",
)
THETAS = ("0", "0.2", "0.4", "0.6", "0.8")
JUDGE_TABLE = PaperTable(
    "Left open: θ, without the judge, supporting facts",
    (EM, F1, SUPPORT_F1, TREE_DEPTH, MODEL_CALLS),
    (
        *(PaperRow(f"θ = {theta}", "tor", f"theta={theta}") for theta in THETAS),
        PaperRow("without the judge", "tor", "without judge"),
    ),
    lead="threshold",
    note="The paper names these as further work (§V), and has no such table. θ is 0.4 there.",
)
SEARCH_TABLE = PaperTable(
    "Left open: a choice of branches that is optimized",
    (EM, F1, TREE_DEPTH, MODEL_CALLS),
    (PaperRow("ToR-RAG", "tor"), PaperRow("Monte Carlo tree search", "mcts")),
    note="The paper names it as further work (§V), by learning. Here splits are searched for by the judge's scores, in seven simulations.",
)
TOR_PAPER = Paper(
    name="tor",
    title="ToR-RAG (Yoo and Moon 2025)",
    about="tables 3 (methods) and 4 (depth), and what it leaves open: θ, without the judge, a search over trees",
    source="MultiHop-RAG, 2,556 questions, LLaMA 3.1 8B on Ollama, Qwen3-Embedding-0.6B",
    setup={
        "model": "LLaMA 3.1 8B (Ollama), temperature 0.2",
        "retrieval": "Qwen3-Embedding-0.6B, FAISS (HNSW), MMR λ = 0.75, k = 5",
        "data": "MultiHop-RAG",
        "questions": "2,556",
        "passages": "300 tokens, 1,500 together",
    },
    runs=(
        paper_run("methods", ("closed-book", "naive", "chain"), options=COMMON_OPTIONS, chunk_tokens=300),
        paper_run(
            "tor",
            ("tor",),
            options={**PAPER_PRESET, **COMMON_OPTIONS},
            chunk_tokens=300,
            sweeps={"max_depth": [1, 2, 3, 4], "theta": [float(theta) for theta in THETAS]},
            ablations=("judge",),
        ),
        paper_run("mcts", ("mcts",), options={**COMMON_OPTIONS, **SEARCH_OPTIONS}, chunk_tokens=300),
    ),
    tables=(METHODS_TABLE, DEPTHS_TABLE, JUDGE_TABLE, SEARCH_TABLE),
    main="tor",
    claims=(
        ("EM", "+6.42 over Native-RAG, +11.19 over Non-RAG"),
        ("F1", "+6.04 over CoR-RAG, +11.07 over Non-RAG"),
        ("Depth", "3 is best; 4 falls below everything"),
    ),
    deviations=(
        "θ is compared with the mean of the four criteria over 5: the paper gives θ = 0.4 beside a scale from 0 to 5.",
        "A question that is already simple is not split; the paper keeps a minimal pair there.",
        "A weak fork is decomposed once more before it is pruned (§4 of the paper; its §5 prunes at once: --set redecompositions=0). The "
        "better half and its answer stay, the weaker one is replaced.",
        "A fork that is pruned for good leaves its question as a leaf, which is searched and answered itself.",
        "A pair that the decomposition judge calls invalid counts as a failed fork; the paper does not say what follows.",
        "A sub-question that was asked before is not asked again: its answer is taken over.",
        "Depth counts the levels below the question. Passages are measured in tokens of the embedding.",
        PROMPTS,
        EXACT_SEARCH,
    ),
)

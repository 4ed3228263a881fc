"""PruneRAG (arXiv 2601.11024): methods, ablations, τ, depth, forgotten evidence, speed, wrong look-ups; its tables are not available."""

from ramify.lab.papers.paper import EXACT_SEARCH, PAPER_PRESET, PROMPTS, Paper, PaperRow, PaperTable, paper_run
from ramify.lab.results.measures import EM, F1, FORGETTING, FORGETTING_FOUND, MODEL_CALLS, TREE_DEPTH, WALL_SECONDS

COMMON_OPTIONS = {"k": 5, "hybrid": False, "temperature": 0.0}
"""Top five of dense search, for every method."""
BASELINES = {
    "closed-book": "no retrieval",
    "naive": "retrieve once",
    "chain": "chain of retrieval",
    "iterative": "Iterative RAG",
    "ircot": "IRCoT",
    "self-ask": "Self-Ask",
    "react": "ReAct, as Search-o1 does",
}
NOT_GIVEN = (
    "The source gives no figures of this table. A listing (wizwand.com/paper/696dba56e25ad2fa9d1eca75) has EM 56.6 and 58.4 of PruneRAG on "
    "HotpotQA, and 17.6 on MuSiQue, without the model: they are no figures of a row."
)
METHODS_TABLE = PaperTable(
    "Methods",
    (EM, F1, FORGETTING_FOUND, FORGETTING, MODEL_CALLS, WALL_SECONDS),
    (*(PaperRow(label, name) for name, label in BASELINES.items()), PaperRow("PruneRAG", "prune")),
    note=NOT_GIVEN,
)
TAUS = ("0.1", "0.3", "0.5", "0.7", "0.9", "0.95", "0.99")
THRESHOLD_TABLE = PaperTable(
    "Figure 5: τ",
    (EM, F1, FORGETTING_FOUND, FORGETTING, TREE_DEPTH, MODEL_CALLS),
    tuple(PaperRow(f"τ = {tau}", "prune", f"tau={tau}") for tau in TAUS),
    lead="threshold",
    note="According to the source, EM falls sharply below 0.5, and is best from 0.9 to 0.95.",
)
DEPTH_TABLE = PaperTable(
    "Figure 4: depth",
    (EM, F1, FORGETTING_FOUND, FORGETTING, TREE_DEPTH, MODEL_CALLS),
    tuple(PaperRow(f"{depth + 1} ({depth} below the root)", "prune", f"max_depth={depth}") for depth in range(5)),
    lead="limit",
    note="The source counts the root; according to it, the curve saturates at 2 to 3.",
)
ABLATIONS_TABLE = PaperTable(
    "Table 2: ablations",
    (FORGETTING_FOUND, FORGETTING, EM, F1, MODEL_CALLS),
    (
        PaperRow("PruneRAG", "prune", figures=("23.1",)),
        PaperRow("without adaptive expansion", "prune", "without adaptive"),
        PaperRow("without the answer branch", "prune", "without answer", ("48.2",)),
        PaperRow("without confidence", "prune", "without confidence"),
        PaperRow("without entities", "prune", "without entities"),
    ),
    lead="variant",
    note="Of this table the source gives two figures, and not on which data set.",
)
LOOKUP_SHARES = (0.1, 0.3, 0.5)
LOOKUPS_TABLE = PaperTable(
    "Left open: wrong names looked up",
    (EM, F1, FORGETTING_FOUND, FORGETTING, MODEL_CALLS),
    tuple(PaperRow(f"{share:.0%} wrong", "prune", f"lookups={share:g}") for share in (0.0, *LOOKUP_SHARES)),
    lead="names",
    note="The paper does not report how wrong entities change its results. Here another title of the corpus is looked up instead.",
)
PRUNE_PAPER = Paper(
    name="prune",
    title="PruneRAG (arXiv 2601.11024)",
    about="methods with IRCoT-type baselines, τ, depth, four ablations, wrong look-ups, forgotten evidence, speed",
    source=(
        "HotpotQA, 2WikiMultihopQA and MuSiQue, Llama-3.1-8B-Instruct or Qwen3-8B, BGE-large-en-v1.5; the data set of a figure is not given"
    ),
    setup={
        "model": "Llama-3.1-8B-Instruct or Qwen3-8B",
        "retrieval": "BGE-large-en-v1.5, dense, k = 5",
        "data": "HotpotQA, 2WikiMultihopQA, MuSiQue",
        "questions": "not given",
        "passages": "not given",
    },
    runs=(
        paper_run("methods", BASELINES, options=COMMON_OPTIONS, chunk_tokens=300),
        paper_run(
            "prune",
            ("prune",),
            options={**PAPER_PRESET, **COMMON_OPTIONS},
            chunk_tokens=300,
            sweeps={"tau": [float(tau) for tau in TAUS], "max_depth": [0, 1, 2, 3, 4]},
            ablations=("adaptive", "answer", "confidence", "entities"),
            degrade={"lookups": LOOKUP_SHARES},
        ),
    ),
    tables=(METHODS_TABLE, THRESHOLD_TABLE, DEPTH_TABLE, ABLATIONS_TABLE, LOOKUPS_TABLE),
    main="prune",
    claims=(
        ("F1", "+5.45 % on average"),
        ("EFR", "-20.8 %"),
        ("Speed", "4.9 times that of mainstream baselines"),
        ("Threshold", "EM falls sharply for tau below 0.5; best from 0.9 to 0.95"),
        ("Depth", "saturates at 2 to 3"),
    ),
    deviations=(
        "Evidence counts as found (EFR found) when the gold document was retrieved, as in the paper; EFR alone counts what the model "
        "was shown, a passage for its document when three quarters of its words were, as in the paper's code.",
        "Wiring: staged, with the recursive way up, as the paper describes it; the paper's code asks one call a branch (--set joint=true).",
        "A branch gives up after its own depth limit with the answer it has, marked low.",
        "Depth counts the levels below the root: the paper's limit of 3 is max_depth=2.",
        f"Every search finds {COMMON_OPTIONS['k']} passages, as in the paper; the paper's code finds three in its sweep of τ.",
        "The confidence is that of the answer's tokens. Where the server has no log probabilities, it is what the model states, and marked "
        "so; the embedded model's is that of its reader.",
        "A sub-question that was asked before is not asked again: its answer is taken over.",
        "At most two names of a question are looked up; what they are searched for is summarised, as in the paper.",
        PROMPTS,
        EXACT_SEARCH,
    ),
    left_out=(
        "The baselines Self-RAG, MemoRAG, ConTReGen, RAG-Star and ProbTree, and the sets Bamboogle, GPQA, Natural Questions and TriviaQA.",
    ),
)

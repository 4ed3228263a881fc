"""Iterative RAG: the effect of the number of reading rounds; the source describes settings and has no results."""

from ramify.graphs.strategies import STRATEGIES
from ramify.lab.papers.paper import EXACT_SEARCH, PAPER_PRESET, PROMPTS, Paper, PaperRow, PaperTable, paper_run
from ramify.lab.results.measures import ALL_GOLD, EM, F1, FORGETTING, MODEL_CALLS, PROMPT_TOKENS
from ramify.nodes.iterative import MAX_QUERIES
from ramify.nodes.settings import IterativeSettings

PRESET = STRATEGIES["iterative"].presets["paper"]
TABLE_MEASURES = (EM, F1, ALL_GOLD, FORGETTING, MODEL_CALLS, PROMPT_TOKENS)
ROUNDS = range(1, 6)
SUGGESTED_PASSAGES = IterativeSettings().top_k // 2
NOT_GIVEN = "The source has no results."
METHODS_TABLE = PaperTable(
    "Single search and rounds of reading",
    TABLE_MEASURES,
    (
        PaperRow("no retrieval", "closed-book"),
        PaperRow("single search", "naive"),
        PaperRow("Iterative RAG, 5 rounds at most", "iterative"),
    ),
    note=NOT_GIVEN,
)
ROUNDS_TABLE = PaperTable(
    "Rounds",
    TABLE_MEASURES,
    tuple(PaperRow(str(rounds), "iterative", f"rounds={rounds}") for rounds in ROUNDS),
    lead="rounds at most",
    note=f"{NOT_GIVEN} A loop ends earlier when five facts are found, or the model finds them sufficient.",
)
ITERATIVE_PAPER = Paper(
    name="iterative",
    title="Iterative RAG (plan, search widely, read in rounds, compress)",
    about="rounds of reading, against a single search",
    source="none: the source describes the pipeline and has no results",
    setup={
        "model": "not given",
        "retrieval": "dense, 100 passages for the question, 50 for each sub-query",
        "data": "not given",
        "questions": "not given",
        "passages": "not given; 15 of 500 characters at the end",
    },
    runs=(
        paper_run("methods", ("closed-book", "naive"), options={"hybrid": False}, chunk_tokens=300),
        paper_run("iterative", ("iterative",), options=PAPER_PRESET, chunk_tokens=300, sweeps={"rounds": list(ROUNDS)}),
    ),
    tables=(METHODS_TABLE, ROUNDS_TABLE),
    main="iterative",
    deviations=(
        "The reply has a short answer beside its explanation, so that it can be scored as the others are.",
        f"At most {MAX_QUERIES} queries are planned, the primary one included; the source gives no limit.",
        f"A suggested query finds {SUGGESTED_PASSAGES} passages, as a sub-query does.",
        "Keywords are compared with case and Unicode forms folded, also with the title; the original lost Korean ones.",
        "A promising page counts within its file, not by its number alone.",
        "The relevance of a round is that of its best passage; poor rounds have to follow one another.",
        "A round names at most five facts and three sources, and is not asked for the topics that it found.",
        "Passages of a round that do not fit into the window are read in the next one.",
        "A round whose reply is invalid counts, and its passages are not read again.",
        "In a file of records, no file or page is called promising: it would be all of them.",
        f"The window has {PRESET['num_ctx']:,} tokens; the source limits only passages and replies.",
        PROMPTS,
        EXACT_SEARCH,
    ),
)

"""Iterative RAG: the effect of the number of reading rounds; the source describes settings and has no results."""

from ramify.lab.papers.paper import PAPER_PRESET, Paper, PaperRow, PaperTable, paper_run
from ramify.lab.results.measures import ALL_GOLD, EM, F1, FORGETTING, MODEL_CALLS, PROMPT_TOKENS

TABLE_MEASURES = (EM, F1, ALL_GOLD, FORGETTING, MODEL_CALLS, PROMPT_TOKENS)
ROUNDS = range(1, 6)
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
    deviations=("The reply has a short answer beside its explanation, so that it can be scored as the others are.",),
)

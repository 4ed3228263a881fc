"""Iterative RAG: how many rounds of reading pay; the source is a description with numbers for settings and none for results."""

from ramify.evaluation.papers.paper import PAPER_PRESET, Paper, PaperRow, PaperTable, run
from ramify.evaluation.results.measures import CALLS, EM, F1, FORGETTING, GOLD, PROMPT

MEASURES = (EM, F1, GOLD, FORGETTING, CALLS, PROMPT)
ROUNDS = range(1, 6)
NOT_GIVEN = "The source has no results."
METHODS = PaperTable(
    "Single search and rounds of reading",
    MEASURES,
    (
        PaperRow("no retrieval", "closed-book"),
        PaperRow("single search", "naive"),
        PaperRow("Iterative RAG, 5 rounds at most", "iterative"),
    ),
    note=NOT_GIVEN,
)
BY_ROUNDS = PaperTable(
    "Rounds",
    MEASURES,
    tuple(PaperRow(str(rounds), "iterative", f"rounds={rounds}") for rounds in ROUNDS),
    lead="rounds at most",
    note=f"{NOT_GIVEN} A loop ends earlier when five facts are found, or the model finds them sufficient.",
)
ITERATIVE = Paper(
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
        run("methods", ("closed-book", "naive"), options={"hybrid": False}, chunk_tokens=300),
        run("iterative", ("iterative",), options=PAPER_PRESET, chunk_tokens=300, sweeps={"rounds": list(ROUNDS)}),
    ),
    tables=(METHODS, BY_ROUNDS),
    main="iterative",
    deviations=("The reply has a short answer beside its explanation, so that it can be scored as the others are.",),
)

"""Meta-guided hierarchical RAG: curves for missing and wrong metadata, six systems and ten ablations; the source has no results."""

from ramify.lab.papers.paper import Paper, paper_run

HIERARCHY_PAPER = Paper(
    name="hierarchy",
    title="Meta-guided hierarchical RAG (a design of January 2026)",
    about="six systems on missing and wrong metadata, labels beside them, ten ablations",
    source="none: the design was neither implemented nor measured",
    setup={
        "model": "none: searching alone is measured",
        "retrieval": "dense and words, summaries of groups, a second filter by a cross-encoder",
        "data": "procedures of equipment, not public",
        "questions": "not given",
        "passages": "not given",
    },
    runs=(
        paper_run(
            "curves",
            retrieval_only=True,
            index_kinds=("passages", "hierarchy"),
            degrade={"missing": (0.0, 0.1, 0.3, 0.5), "noise": (0.0, 0.1, 0.3)},
            chunk_tokens=300,
        ),
    ),
    claims=(
        ("Hard filter", "expected to fall steeply with missing and wrong metadata"),
        ("Soft membership", "expected to fall gently"),
        ("Full system", "expected to hold"),
    ),
    deviations=(
        "Labels (metadata in the searched text) are a seventh system, alone and with the hierarchy: they cost nothing.",
        "Similarities are z-scored in each group, where the design leaves the scale open.",
        "No cross-encoder comes with the package, and none reorders what was found.",
    ),
    group_by=("domain",),
)

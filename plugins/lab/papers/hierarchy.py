"""Meta-guided hierarchical RAG: curves for missing and wrong metadata, six systems and ten ablations; the source has no results."""

from ramify.lab.papers.paper import EXACT_SEARCH, Paper, paper_run
from ramify.nodes.settings import Settings
from ramify.tools.reader import READER

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
            options={"rerank": READER},
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
        f"The cross-encoder reorders the first {Settings().rerank_k} passages of every system. It is the packaged reader, which was "
        "trained to answer questions, not to rank; --set rerank=NAME names another one, rerank=none leaves it out.",
        "Metadata and structure are weighed before the cross-encoder, not after it.",
        "A new group is founded where five or more passages without a group form a cluster, not for each of them; a threshold is the "
        "quantile of a group, not .2 to .5.",
        "Suspicious groups are not repaired, and summaries of different groups are not linked: both were measured, and find nothing more.",
        "Summaries are quoted, not written, so that all of their sentences are supported.",
        EXACT_SEARCH,
    ),
    group_by=("domain",),
)

"""Steps, a subject a file; a strategy of `graphs/` wires some of them, in the order of its paper's figure.

* ToR-RAG: init_tree, `decompose` (score_pair), `retrieve`, `answer`, `fill`, `judge`, `prune`, expand, aggregate, `finalize`
* Monte Carlo tree search: those of ToR-RAG, and select and keep_best (in `tree_search`)
* PruneRAG: init_tree, retrieve, `decide` (or answer), prune, decompose, extract_entities, fill, aggregate, finalize
* Iterative RAG: init_tree, the steps of `iterative` and retrieve
* chains: init_tree, a step of `chain`, retrieve, answer (or condense), finalize
* GraphRAG's global search: init_tree, retrieve_reports and map_report (in `reports`), prune, `reduce`
* around any: the steps of a `conversation`

What steps are made of: `step` (what a step is, what it sees), `asking` (the way to the model), `state`, `settings`, `tree`.
"""

__all__ = [
    "answer",
    "chain",
    "conversation",
    "decide",
    "decompose",
    "fill",
    "finalize",
    "init_tree",
    "iterative",
    "judge",
    "prune",
    "reduce",
    "reports",
    "retrieve",
    "settings",
    "state",
    "step",
    "tree",
    "tree_search",
]

"""Steps, one verb a file; a strategy of `graphs/` wires some of them, in the order of its paper's figure.

ToR-RAG: init_tree, decompose (score_pair), retrieve, answer, fill, judge, prune, expand, aggregate, finalize.
PruneRAG: init_tree, retrieve, decide (or answer), prune, decompose, extract_entities, fill, aggregate, finalize.
Iterative RAG: init_tree, plan, retrieve, filter, search_suggested, assign_evidence, compress. Chain of retrieval: init_tree, next_question,
retrieve, answer, finalize; Self-Ask has follow_up for next_question, ReAct search_or_answer, and condense for answer. IRCoT: init_tree,
retrieve, next_thought, finalize. GraphRAG's global search: init_tree, retrieve_reports, map_report, prune, reduce. A conversation around
any: read_input, contextualize or ask_back, append_answer.

What steps are made of: `step` (what a step is, what it sees), `asking` (the way to the model), `state`, `settings`, `tree`.
`building` is what a model is asked while an index is built.
"""

__all__ = [
    "aggregate",
    "answer",
    "append_answer",
    "ask_back",
    "assign_evidence",
    "compress",
    "condense",
    "contextualize",
    "decide",
    "decompose",
    "expand",
    "extract_entities",
    "fill",
    "filter",
    "finalize",
    "follow_up",
    "init_tree",
    "judge",
    "map_report",
    "next_question",
    "next_thought",
    "plan",
    "prune",
    "read_input",
    "reduce",
    "retrieve",
    "retrieve_reports",
    "score_pair",
    "search_or_answer",
    "search_suggested",
    "settings",
    "state",
    "step",
    "tree",
]

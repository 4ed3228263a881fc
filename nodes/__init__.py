"""Steps, one verb a file; a strategy of `graphs/` wires some of them, in the order of its paper's figure.

ToR-RAG: plant, decompose (score_pair), retrieve, answer, fill, judge, prune, expand, aggregate, finalize.
PruneRAG: plant, retrieve, decide (or answer), prune, decompose, extract_entities, fill, aggregate, finalize.
Iterative RAG: plant, plan, retrieve, filter, search_suggested, assign_evidence, compress. Chain of retrieval: plant, next_question,
retrieve, answer, finalize. GraphRAG's global search: plant, retrieve_reports, map_report, prune, reduce. A conversation around any: listen,
contextualize or ask_back, remember.

What steps are made of: `step` (what a step is, what it sees), `asking` (the way to the model), `state`, `citation`, `settings`, `tree`.
`building` is what a model is asked while an index is built.
"""

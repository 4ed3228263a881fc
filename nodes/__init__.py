"""Steps, one verb a file; a strategy of `graphs/` wires some of them, in the order of its paper's figure.

ToR-RAG: plant, decompose, retrieve, answer, fill, judge, prune, expand, finalize.
PruneRAG: plant, retrieve, decide (or answer, decompose and extract_entities), prune, fill, aggregate, finalize.
Iterative RAG: plant, plan, retrieve, filter (and settle), finalize. Chain of retrieval: plant, next_question, retrieve, answer, finalize.
GraphRAG's global search: plant, retrieve_reports, map_report, prune, reduce. A conversation around any: listen, contextualize or
ask_back, remember.

What steps are made of: `step` (what a step is, what it is given), `asking` (the way to the model), `state`, `citation`, `settings`, `tree`.
`building` is what a model is asked while an index is built.
"""

"""plan: what to search for (Iterative RAG, step 1)."""

from ramify.nodes.settings import IterativeSettings
from ramify.nodes.state import Search
from ramify.nodes.step import Context, Update, call_model, state_step
from ramify.nodes.tree import ROOT, new_children
from ramify.prompts import PLAN

MAX_QUERIES = 5
UNPLANNED = "no plan was made, and the question was searched unchanged"


@state_step
async def plan(context: Context[IterativeSettings]) -> Update:
    """Plan the primary query, the sub-queries and the keywords; without a plan the question itself is searched."""
    state = context.state
    root = state["tree"][ROOT]
    reply, update = await call_model(state, PLAN, field="primary", fallback=UNPLANNED, question=root.question)
    wanted = reply.value if reply else None
    queries = [wanted.primary, *wanted.sub_queries] if wanted else []
    distinct = list(dict.fromkeys(text.strip() for text in queries if text.strip()))[:MAX_QUERIES] or [root.question]
    grown = new_children(state["tree"], ROOT, distinct)
    note = "" if wanted else "no plan: searched unchanged"
    memory = Search(keywords=tuple(wanted.keywords), expected=tuple(wanted.expected)) if wanted else Search()
    return {**update, "search": memory, "tree": {b.path: b for b in (root.with_status("split", note=root.with_note(note)), *grown)}}

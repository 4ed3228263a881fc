"""init_tree: begin a tree from a question."""

import asyncio
import math
import time
from typing import Any

from langgraph.types import Overwrite

from ramify.nodes.asking.ask import Answerer, current_model
from ramify.nodes.settings import AUTO, NEVER, TAU, PruneSettings, Settings, TreeSettings
from ramify.nodes.state import State, Usage
from ramify.nodes.step import Context, Update, state_step
from ramify.nodes.step.review import check_checkpointer
from ramify.nodes.tree import ROOT, UNKNOWN, Branch
from ramify.tools.errors import UsageError
from ramify.tools.models.server_info import limited_requests
from ramify.tools.profile import load_profile
from ramify.tools.search.relevance import NO_RERANKER, load_reranker
from ramify.tools.search.searcher import warm_soon
from ramify.tools.user_input import check_text

MAX_QUESTION_CHARS = 20_000


@state_step
async def init_tree(context: Context[Settings]) -> Update:
    """Start a tree with the question and reset the state of an earlier one; load what a search needs, if the graph has one."""
    settings = context.settings
    if settings.reviewed != NEVER:
        check_checkpointer()
    question = validate_question(context.state.get("question"))
    profile = await asyncio.to_thread(load_profile, settings.profile) if settings.profile else None  # errors first
    deadline = math.inf if settings.max_seconds is None else time.time() + settings.max_seconds
    with limited_requests(deadline) as limit:
        model, loading = await asyncio.to_thread(_load_model, settings, "retrieve" in context.steps)
    tau = reconsider = None
    if isinstance(settings, TreeSettings):  # the one that is set, else what was calibrated, else the paper's
        tau = next(tau for tau in (settings.tau, profile and profile.tau, model.tau, TAU) if tau is not None)
    if isinstance(settings, PruneSettings):
        reconsider = model.writes if settings.reconsider is None else settings.reconsider
    return {
        "question": question,
        "tree": Overwrite({ROOT: Branch(path=ROOT, question=question)}),
        "passages": Overwrite({}),
        "shown": Overwrite({}),
        "usage": Overwrite(Usage()),
        "started": Overwrite(time.time() - limit.waited),
        "loading_s": Overwrite(loading),
        "model": model.name,
        "tau": tau,
        "reconsider": reconsider,
        "ask_first": settings.reviewed,
        "index": "",
        "notices": Overwrite([notice for notice in (*model.notices, model.objection(question)) if notice]),
        "answer": UNKNOWN,
        "text": "",
        "sentences": [],
        "quoted": False,
        "confidence": None,
        "confidence_source": None,
        "explanation": "",
        "withheld": "",
        "settled_by": "",
        "citations": [],
        "stopped_by": "finished",
        "error": "",
    }


def _load_model(settings: Settings, searches: bool) -> tuple[Answerer, float]:
    """Return the model with its client, and reader and reranker if needed, loaded; and the seconds of loading."""
    began = time.perf_counter()
    model = current_model(settings)
    loading = min(time.perf_counter() - began, model.connecting_s)  # the rest is for asking the server; nothing where the model was known
    if not searches:
        return model, loading
    warm_soon(settings.index)
    loading += model.load()
    return model, loading if settings.reranker == NO_RERANKER else loading + load_reranker(settings.reranker)


def freeze_model(settings: Settings, state: State) -> Settings:
    """Return settings with the model, tau, reconsider and ask_first that the question was started with.

    "auto" may resolve to another model in between; and whoever resumes a run with a decision need not repeat ask_first.
    """
    frozen: dict[str, Any] = {}
    if isinstance(settings, TreeSettings) and state.get("ask_first"):
        frozen["ask_first"] = state["ask_first"]
    if state.get("model") and settings.model == AUTO:
        frozen["model"] = state["model"]
    for name in ("tau", "reconsider"):
        if name in type(settings).model_fields and getattr(settings, name) is None:
            frozen[name] = state.get(name)
    return settings.model_copy(update=frozen) if frozen else settings


def validate_question(question: object) -> str:
    """Return the question without surrounding space; UsageError if it is empty, no text, or too long."""
    if not isinstance(question, str) or not question.strip():
        raise UsageError(f"the question is empty: {question!r}", "ask something, for example: Who invented the saxophone?")
    if len(question) > MAX_QUESTION_CHARS:
        raise UsageError(f"the question has {len(question):,} characters", f"ask in at most {MAX_QUESTION_CHARS:,}")
    return check_text(question).strip()

"""plant: begin a tree from a question."""

import asyncio
import time
from functools import cache
from typing import Any

from langgraph.types import Overwrite

from ramify.nodes.asking.ask import current_model
from ramify.nodes.settings import TAU, IterativeSettings, PruneSettings, Settings
from ramify.nodes.state import State, Usage
from ramify.nodes.step import Update, Whole
from ramify.nodes.tree import ROOT, UNKNOWN, Branch, Status
from ramify.tools.errors import UsageError
from ramify.tools.index.searcher import warm_soon
from ramify.tools.models import Model
from ramify.tools.relevance import NONE, load
from ramify.tools.typed import readable

LONGEST = 20_000
AUTO = "auto"
PLANT = "plant"
"""The name of the step, which begins anew whatever its state holds."""


@cache
def plant(status: Status, searches: bool = True) -> Whole[Settings]:
    """Make the step that plants the root with a status, and resets all that an earlier question left.

    `searches` tells whether the wiring goes on to search: then what that needs is loaded while the model is asked its first.
    """

    async def plant(state: State, settings: Settings) -> Update:
        """Begin a new tree from the question."""
        question = checked(state.get("question"))
        model, loading = await asyncio.to_thread(_ready, settings, searches)
        tau = None
        if isinstance(settings, PruneSettings):  # the one that is set, else what was calibrated for the model, else the paper's
            tau = next(tau for tau in (settings.tau, model.tau, TAU) if tau is not None)
        return {
            "question": question,
            "tree": Overwrite({ROOT: Branch(path=ROOT, question=question, status=status)}),
            "passages": Overwrite({}),
            "shown": Overwrite({}),
            "usage": Overwrite(Usage()),
            "started": time.time(),
            "loading_s": loading,
            "model": model.name,
            "tau": tau,
            "index": "",
            "notices": [told for told in (*model.notices, model.objection(question)) if told],
            "answer": UNKNOWN,
            "confidence": 0.0,
            "confidence_source": None,
            "explanation": "",
            "settled_by": "",
            "citations": [],
            "closest": [],
            "stopped_by": "finished",
            "error": "",
        }

    return Whole(plant, (), (status,), final=False)


def _ready(settings: Settings, searches: bool) -> tuple[Model, float]:
    """Find the model and load its client, what it reads passages with, and what reranks them; give the seconds of loading."""
    began = time.perf_counter()
    model = current_model(settings)
    loading = min(time.perf_counter() - began, model.client_s)  # the rest is for asking the server; nothing where the model was known
    if not searches:
        return model, loading
    warm_soon(settings.index)
    rerank = NONE if isinstance(settings, IterativeSettings) else settings.rerank  # there a filter reads what was found, round by round
    return model, loading + model.load() + load(rerank)


def pinned(settings: Settings, state: State) -> Settings:
    """Keep to the model and tau that a question was planted with: what "auto" means may change while it is answered."""
    planted: dict[str, Any] = {}
    if state.get("model") and settings.model == AUTO:
        planted["model"] = state["model"]
    if isinstance(settings, PruneSettings) and settings.tau is None:
        planted["tau"] = state.get("tau")
    return settings.model_copy(update=planted) if planted else settings


def checked(question: object) -> str:
    """Give the question without surrounding space; UsageError where there is none or it is no text, or no question's length."""
    if not isinstance(question, str) or not question.strip():
        raise UsageError(f"the question is empty: {question!r}", "ask something, for example: Who invented the saxophone?")
    if len(question) > LONGEST:
        raise UsageError(f"the question has {len(question):,} characters", f"ask in at most {LONGEST:,}")
    return readable(question).strip()

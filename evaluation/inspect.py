"""A strategy as a solver of inspect_ai, the evaluation framework of the UK AI Security Institute (https://inspect.aisi.org.uk)."""

from importlib.util import find_spec
from typing import Any

from ramify.graphs import DEFAULT, Result, ask_async
from ramify.tools.errors import RamifyError

if find_spec("inspect_ai") is None:
    raise RamifyError("inspect_ai is not installed", "pip install 'ramify-rag[inspect]'")

from inspect_ai.model import ChatMessageAssistant, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState
from inspect_ai.solver import solver as registered

__all__ = ["solver"]

KEPT = (
    "strategy",
    "model",
    "answer",
    "text",
    "confidence",
    "confidence_source",
    "citations",
    "tree",
    "usage",
    "stopped_by",
    "notices",
    "error",
)


@registered(name="ramify")
def solver(strategy: str = DEFAULT, **options: Any) -> Solver:
    """Return a solver that answers a sample's input with a strategy; options are its settings, such as `index` and `model`.

    The output is the short answer. Tree, citations, confidence and usage are in the sample's metadata and store, under "ramify".
    The model is the one that the options name, not the one of inspect's `eval`. Where it cannot be asked, RamifyError fails the sample.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        result = await ask_async(state.input_text, strategy, **options)
        if result.error:
            raise RamifyError(result.error, "see that the model answers (`ramify doctor`)")
        told = _told(result)
        state.metadata["ramify"] = told
        state.store.set("ramify", told)
        state.messages.append(ChatMessageAssistant(content=result.answer, model=result.model, source="generate"))
        state.output = ModelOutput.from_content(model=result.model, content=result.answer)
        return state

    return solve


def _told(result: Result) -> dict[str, Any]:
    found = result.to_json()
    return {name: found[name] for name in KEPT}

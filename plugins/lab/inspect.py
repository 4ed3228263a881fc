"""A strategy as a solver of inspect_ai, the evaluation framework of the UK AI Security Institute (https://inspect.aisi.org.uk)."""

from typing import TYPE_CHECKING, Any

from ramify.graphs import ask_async, choose_strategy
from ramify.tools.errors import ModelError, UsageError

if TYPE_CHECKING:
    from inspect_ai.solver import Generate, Solver, TaskState

__all__ = ["solver"]

METADATA_FIELDS = (
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
)


def solver(strategy: str | None = None, **options: Any) -> "Solver":
    """Return a solver that answers a sample's input with a strategy; options are its settings, such as `index` and `model`.

    The output is the short answer. Tree, citations, confidence and usage are in the sample's metadata and store, under "ramify".
    The model is the one that the options name, not the one of inspect's `eval`. If the model fails, ModelError fails the sample;
    UsageError if inspect_ai is not installed.
    """
    try:
        from inspect_ai.model import ChatMessageAssistant, ModelOutput
        from inspect_ai.solver import solver as registered
    except ImportError as error:
        raise UsageError("inspect_ai is not installed", "pip install 'ramify-rag[inspect]'") from error

    @registered(name="ramify")
    def make_solver(strategy: str, **options: Any) -> "Solver":
        async def solve(state: "TaskState", generate: "Generate") -> "TaskState":
            result = await ask_async(state.input_text, strategy, **options)
            if result.error:
                raise ModelError(result.error, "check the model with `ramify doctor`")
            record = result.to_json()
            metadata = {name: record[name] for name in METADATA_FIELDS}
            state.metadata["ramify"] = metadata
            state.store.set("ramify", metadata)
            state.messages.append(ChatMessageAssistant(content=result.answer, model=result.model, source="generate"))
            state.output = ModelOutput.from_content(model=result.model, content=result.answer)
            return state

        return solve

    return make_solver(strategy or choose_strategy(options), **options)

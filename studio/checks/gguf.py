"""What is here to run a language model's file in this process: the engine, where it can compute, and the small model."""

from importlib.metadata import version

from ramify.tools.errors import ModelError
from ramify.tools.models.gguf import INSTALL, gpus, missing
from ramify.tools.models.shipped import SMOLLM2, intact, located


def engine() -> tuple[str, str]:
    """Say which engine is here and on what it computes, and what to do where it is missing."""
    if lacking := missing():
        return f"{' and '.join(lacking)} not installed", INSTALL
    try:
        return f"xllamacpp {version('xllamacpp')} on {', '.join(gpus()) or 'the CPU'}", ""
    except ImportError as error:
        raise ModelError(
            f"xllamacpp cannot be loaded: {error}", "reinstall it: pip install --force-reinstall --no-deps xllamacpp"
        ) from error


def small_model() -> tuple[str, str]:
    """Say whether the small model is here, and what to do where it is not; ModelError where its file is not the released one."""
    try:
        path = located(SMOLLM2.name)
    except ModelError as error:
        return "smollm2 not installed", error.remedy
    intact(path, SMOLLM2)
    return "smollm2 has the released sha256", ""

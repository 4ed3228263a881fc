"""Prompts with sample values of their slots, as they are on record."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ramify.prompts import Prompt, Quote

_SNAPSHOTS = {
    "ramify": "tests/snapshots/prompts",
    "ramify.kinds": "plugins/kinds/tests/snapshots",
    "ramify.lab": "plugins/lab/tests/snapshots",
}
"""Where the snapshots of the core's prompts lie, and those of the plug-ins."""
PROMPTS: dict[str, list[Prompt[Any]]] = {
    folder: [value for value in vars(import_module(f"{package}.prompts")).values() if isinstance(value, Prompt)]
    for package, folder in _SNAPSHOTS.items()
    if find_spec(package)
}
"""The prompts of what is installed, by the folder of their snapshots."""
ALL = [prompt for prompts in PROMPTS.values() for prompt in prompts]
NARROWED = [("decompose", "entities"), ("answer", "decompose", "unknown"), ("decompose",)]
"""The ways that are left in the ablations."""
QUOTE = Quote(title="Ulm", source="ulm.txt", text="Ulm lies on the Danube.")
FINDING: dict[str, Any] = {
    "path": "0.0",
    "kind": "question",
    "question": "Where is Ulm?",
    "answer": "Germany",
    "confidence": 0.9,
    "status": "leaf",
    "sources": ['"Ulm" (ulm.txt)'],
    "together": "earlier",
    "above": [{"path": "0", "question": "Which is older, Ulm or Bonn?", "together": "earlier"}],
}
SAMPLES: dict[str, Any] = {
    "passages": [QUOTE],
    "findings": [FINDING],
    "history": [FINDING],
    "dependent": True,
    "rejected": ["Where? (the weaker of the two)"],
    "facts": ["Ulm is old."],
    "turns": [
        {"asked": "Where is Ulm?", "answer": "Germany", "sure": True},
        {"asked": "Who was born there?", "answer": "Max Planck", "sure": False},
    ],
}


def sample(prompt: Prompt[Any]) -> dict[str, Any]:
    """Fill every slot of a prompt."""
    return {slot: SAMPLES.get(slot, f"some {slot}") for slot in prompt.slots}


def rendered(prompt: Prompt[Any]) -> str:
    """Return the messages of a prompt with a thought and all its examples."""
    messages = prompt.with_options(thought=True, shots=3).render(sample(prompt))
    return "\n\n".join(f"[{message.type}]\n{message.content}" for message in messages) + "\n"

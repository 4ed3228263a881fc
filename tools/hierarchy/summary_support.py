"""Whether the leaves support a summary: by an NLI model, or by its names and numbers and by the nearest sentence of theirs."""

import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.errors import ModelError
from ramify.tools.folded_text import fold
from ramify.tools.hierarchy.summaries import encoded
from ramify.tools.supporting_sentence import statements

SUPPORTED = 0.7
"""Share of the sentences of a summary below which it is asked for again."""
_NEAR = 0.6
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*")
_ENTAILED = "entailment"
_predicting = threading.Lock()


def unsupported(sentences: Sequence[str], texts: Sequence[str], encoder: Encoder, nli: str | None = None) -> list[str]:
    """List the sentences that the texts do not support, and those that repeat one before; ModelError where the NLI model cannot be used."""
    units = tuple(dict.fromkeys(unit for text in texts for unit in statements(text)))
    if not units or not sentences:
        return list(sentences)
    near = encoded(encoder, tuple(sentences)) @ encoded(encoder, units).T
    entailed = _entailed(nli, sentences, [units[int(row.argmax())] for row in near]) if nli else [False] * len(sentences)
    whole = f" {fold(' '.join(texts))} "
    numbers = frozenset(number for text in texts for number in _NUMBER.findall(text))
    held = [
        entails or (float(row.max()) >= _NEAR and _names_are_there(sentence, whole, numbers))
        for sentence, row, entails in zip(sentences, near, entailed, strict=True)
    ]
    return [sentence for sentence, there, again in zip(sentences, held, _repeats(sentences), strict=True) if again or not there]


def _repeats(sentences: Sequence[str]) -> list[bool]:
    """Tell which sentences begin one before, or are it: what a small model writes when it goes in circles, cut off at the end."""
    written = [fold(sentence) for sentence in sentences]
    return [any(before.startswith(one) for before in written[:place]) for place, one in enumerate(written)]


def _names_are_there(sentence: str, whole: str, numbers: frozenset[str]) -> bool:
    names = [fold(name) for name in _NAME.findall(sentence)]
    return all(f" {name} " in whole for name in names if name) and numbers.issuperset(_NUMBER.findall(sentence))


def _entailed(nli: str, sentences: Sequence[str], premises: Sequence[str]) -> list[bool]:
    model, label = load_nli(nli)
    with _predicting:  # fast tokenizers raise "Already borrowed" when two threads change padding at once
        told = model.predict(list(zip(premises, sentences, strict=True)), show_progress_bar=False)
    return [int(row.argmax()) == label for row in told]


@lru_cache(maxsize=2)
def load_nli(name: str) -> tuple[Any, int]:
    """Load an NLI model from a folder or the local cache, never from the network; give it with the place of its "entailment"."""
    from sentence_transformers import CrossEncoder

    try:
        model = CrossEncoder(name, device="cpu", local_files_only=True)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ModelError(
            f"the NLI model {name!r} cannot be loaded: {reason}", "name a folder with a cross-encoder for NLI, or none"
        ) from error
    labels = {str(label).casefold(): int(place) for place, label in model.config.id2label.items()}
    if _ENTAILED not in labels:
        raise ModelError(f"{name!r} is no NLI model: its labels are {', '.join(labels)}", f"name one with the label {_ENTAILED}, or none")
    return model, labels[_ENTAILED]

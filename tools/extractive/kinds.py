"""What kind of answer a question asks for: a phrase, steps, items or an explanation.

A logistic regression over the encoder's vectors of the question and of its first words, which tell its form.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import as_file, files
from typing import Final, Literal, get_args

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.embeddings.minilm import MINILM
from ramify.tools.embeddings.named import load_encoder
from ramify.tools.extractive.questions import reads
from ramify.tools.released_weights import intact

Kind = Literal["", "how to", "list", "explain"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""In the order of the rows of the weights."""
FILE: Final = "kinds.safetensors"
SHA256 = "31cea5ccc57afff7a6c847badfcb4581f12ba178d716df50df787593e6d24c32"
_REMEDY: Final = "reinstall ramify"
SURE: Final = 0.7
"""From this probability of all others together on, a question is not taken for one that a phrase answers."""
_LONGEST: Final = 400
"""Characters of a question that are looked at; what is asked comes last."""
_FIRST: Final = 5
"""Words that a question begins with."""
_KEPT: Final = 4096


def vectors(questions: Sequence[str]) -> Matrix:
    """Return what a question is told by, (questions, 2 x width). Blocking."""
    import numpy as np

    encoder = load_encoder(MINILM)
    begins = [" ".join(question.split()[:_FIRST]) for question in questions]
    return np.hstack([encoder.encode_documents(list(questions)), encoder.encode_documents(begins)])


def open_ended(question: str) -> Kind:
    """Return the kind of a question that no phrase answers; empty for one that asks for a fact, or is not English. Blocking."""
    return _open_ended(" ".join(question.split())[-_LONGEST:]) if reads(question) else ""


@lru_cache(maxsize=_KEPT)
def _open_ended(question: str) -> Kind:
    import numpy as np

    if not question:
        return ""
    weights, bias = _weights()
    scores = weights @ vectors([question])[0] + bias
    likely = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    return KINDS[1 + int(likely[1:].argmax())] if likely[1:].sum() >= SURE else ""


@lru_cache(maxsize=1)
def _weights() -> tuple[Matrix, Matrix]:
    from safetensors.numpy import load_file

    with as_file(files(__package__) / FILE) as path:
        packed = load_file(intact(path, SHA256, "the classifier of questions", _REMEDY))
    return packed["weight"], packed["bias"]

"""Put what a search found into a better order, by how far each passage bears on the question: as the reader or a cross-encoder says."""

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramify.tools.embeddings.sentence_encoder import quiet
from ramify.tools.errors import ModelError
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.reader import large
from ramify.tools.reader.reading import Reading, in_context, load_large, load_network, read_contexts
from ramify.tools.typed import usable

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

READER, NONE = "reader", "none"
_NLI = frozenset({"contradiction", "entailment", "neutral"})
PLACE = 0.15
"""What a place further down in the search's order takes from the reader's word, from 0 to 1: on training sets, recall@5 was best there."""
_BARE = ("Model", "ForMaskedLM")
"""How the architectures end that have no head to score with: one would be made up at random."""
_loaded: dict[str, "CrossEncoder"] = {}
_loading = threading.Lock()
_scoring = threading.Lock()


def width(name: str, k: int, rerank_k: int) -> int:
    """Return how many passages to search for if `name` reranks them and k are wanted."""
    return k if name == NONE else max(k, rerank_k)


def load(name: str) -> float:
    """Load the reranker; return the seconds it took, 0 if it was loaded; blocking. ModelError if there is no such model."""
    if name == NONE:
        return 0.0
    began = time.perf_counter()
    reader = load_large if large.is_chosen() else load_network
    there = reader.cache_info().currsize > 0 if name == READER else _canonical(name) in _loaded
    reader() if name == READER else _scorer(name)
    return 0.0 if there else time.perf_counter() - began


def reranked(query: str, hits: Sequence[Hit], name: str, k: int) -> list[Hit]:
    """Return the k best hits of a query by the reader ("reader"), or by a cross-encoder of that name; "none" leaves the order; blocking.

    Ties keep the order of the search. ModelError if there is no such model.
    """
    if name == NONE or not hits:
        return list(hits[:k])
    contexts = tuple(in_context(hit.document.metadata.get("title"), hit.document.page_content) for hit in hits)
    if name == READER:
        values = [worth(reading, place) for place, reading in enumerate(read_contexts(query, contexts))]
    else:
        values = scores(name, query, contexts)
    order = sorted(range(len(hits)), key=lambda place: -values[place])
    return [hits[place] for place in order[:k]]


def worth(reading: Reading, place: int) -> float:
    """Weigh what the reader says of a passage, that it bears on the question and that it holds an answer, with its place in the search."""
    return (reading.relevance + max(reading.span, reading.yes, reading.no)) / 2 - PLACE * place


def cross_encoder(name: str) -> "CrossEncoder":
    """Return the model of a name or folder, the same object each time; ModelError where it is not on this machine, or does not score."""
    name = _canonical(name)
    with _loading:
        if name not in _loaded:
            _loaded[name] = _load(name)
        return _loaded[name]


def scores(name: str, query: str, texts: Sequence[str]) -> list[float]:
    """Score texts by how far they bear on a query, the more the higher; blocking. ModelError where the model gives more than one score."""
    model = _scorer(name)
    with _scoring:  # fast tokenizers raise "Already borrowed" when two threads change padding at once
        return [float(score) for score in model.predict([(query, text) for text in texts], show_progress_bar=False)]


def entailment(name: str, claim: str, texts: Sequence[str]) -> list[float]:
    """Return the probability, from 0 to 1, that each text says what a claim says; blocking.

    Of three labels one must be called entailment (NLI: the text first, then the claim); of a single score, for which the claim is the
    query, the logistic function is taken. ModelError where the model gives neither.
    """
    from torch.nn import Sigmoid, Softmax

    model = cross_encoder(name)
    named = model.config.id2label if model.config is not None else None
    labels = {str(label).casefold(): number for number, label in (named or {}).items()}
    if nli := labels.keys() == _NLI:
        pairs = [(text, claim) for text in texts]
    else:
        _scorer(name)
        pairs = [(claim, text) for text in texts]
    with _scoring:
        found = model.predict(pairs, activation_fn=Softmax(dim=-1) if nli else Sigmoid(), show_progress_bar=False)
    return [float(row[labels["entailment"]] if nli else row) for row in found]


def _scorer(name: str) -> "CrossEncoder":
    """Return a cross-encoder that gives one score; ModelError for another."""
    model = cross_encoder(name)
    if model.num_labels != 1:
        raise _unfit(name, f"gives {model.num_labels} scores, not one")
    return model


def _canonical(name: str) -> str:
    path = usable(name)
    return str(path.resolve()) if path.is_dir() else name.strip()


def _load(name: str) -> "CrossEncoder":
    import torch
    from sentence_transformers import CrossEncoder
    from transformers import AutoConfig

    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        with quiet():
            architectures = AutoConfig.from_pretrained(name, local_files_only=True).architectures or ["none"]
            if architectures[0].endswith(_BARE):
                raise _unfit(name, f"is no cross-encoder ({architectures[0]})")
            model: CrossEncoder = CrossEncoder(name, device=device, local_files_only=True)
    except OSError as error:
        remedy = f"download it once with `hf download {name}`, or name reader, none or a folder with a model"
        raise ModelError(f"the reranker {name!r} is not on this machine", remedy) from error
    except (ValueError, ImportError, KeyError, RuntimeError) as error:
        if isinstance(error, ModelError):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise _unfit(name, f"cannot be loaded: {reason}") from error
    return model


def _unfit(name: str, why: str) -> ModelError:
    return ModelError(f"the reranker {name!r} {why}", "name reader, none, or a cross-encoder that sentence-transformers can load")

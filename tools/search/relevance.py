"""Rerank search results by their relevance to a question: with the reader or the server of a plug-in, or a cross-encoder."""

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ramify.tools import plugins
from ramify.tools.embeddings.local_encoders import best_device, without_progress_bar
from ramify.tools.errors import ModelError
from ramify.tools.passage import Passage
from ramify.tools.reader import READER, Reader, find_reader
from ramify.tools.user_input import expand_path

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

NO_RERANKER, MODEL = "none", "model"
_NLI = frozenset({"contradiction", "entailment", "neutral"})
_HEADLESS = ("Model", "ForMaskedLM")
"""Suffixes of architectures without a classification head, which would be initialized randomly."""
_models: dict[str, "CrossEncoder"] = {}
_loading = threading.Lock()
_scoring = threading.Lock()


class Ranker(Protocol):
    """A reranker of a plug-in; both functions block."""

    def load(self) -> float:
        """Load it, or try it; return the seconds taken, 0 if it was loaded. ModelError if it cannot be used."""

    def rank_values(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the values by which texts found for a query are ranked, the highest first; the texts are in the order of the search."""


def search_width(name: str, k: int, rerank_k: int) -> int:
    """Return the number of passages to search for, if `name` reranks them and k are wanted."""
    return k if name == NO_RERANKER else max(k, rerank_k)


def load_reranker(name: str) -> float:
    """Load the reranker; return the seconds taken, 0 if it was loaded; blocking. ModelError if there is no such model."""
    if name == NO_RERANKER:
        return 0.0
    if ranker := _plugged(name):
        return ranker.load()
    began, is_loaded = time.perf_counter(), _canonical(name) in _models
    _scorer(name)
    return 0.0 if is_loaded else time.perf_counter() - began


def rerank_passages(query: str, passages: Sequence[Passage], name: str, k: int) -> list[Passage]:
    """Return the k best passages for a query, reranked by the model of this name; "none" keeps the order; blocking.

    Ties keep the order of the search. ModelError if there is no such model, or its server does not rank them.
    """
    if name == NO_RERANKER or not passages:
        return list(passages[:k])
    titled = ((passage.metadata.get("title"), passage.text) for passage in passages)
    texts = [f"{title}: {text}" if title else text for title, text in titled]
    ranker = _plugged(name)
    values = ranker.rank_values(query, texts) if ranker else cross_encoder_scores(name, query, texts)
    order = sorted(range(len(passages)), key=lambda place: -values[place])
    return [passages[place] for place in order[:k]]


def is_address(name: str) -> bool:
    """Return whether the name of a reranker is the address of a server, also with a model before it: `MODEL@http://…`."""
    return "://" in name


def _plugged(name: str) -> Ranker | None:
    """Return the reranker of a plug-in, None for a cross-encoder; PluginError if none is installed for an address."""
    if name == READER:
        return _require_reader()
    if not is_address(name):
        return None
    scheme = name.partition("://")[0].rpartition("@")[2].strip()
    ranker: Ranker = plugins.load("ramify.rerankers", scheme)(name)
    return ranker


def _require_reader() -> Reader:
    if (reader := find_reader()) is None:
        raise ModelError(f"the reranker {READER!r} is not installed", "use none or a cross-encoder, or reinstall ramify-rag, which has it")
    return reader


def cross_encoder(name: str) -> "CrossEncoder":
    """Return the cached model of a name or folder; ModelError if it is not installed or not a cross-encoder."""
    name = _canonical(name)
    with _loading:
        if name not in _models:
            _models[name] = _load(name)
        return _models[name]


def cross_encoder_scores(name: str, query: str, texts: Sequence[str]) -> list[float]:
    """Return relevance scores of texts for a query, higher is better; blocking. ModelError if the model has several outputs."""
    model = _scorer(name)
    with _scoring:  # fast tokenizers raise "Already borrowed" when two threads change padding at once
        return [float(score) for score in model.predict([(query, text) for text in texts], show_progress_bar=False)]


def entailment_probabilities(name: str, claim: str, texts: Sequence[str]) -> list[float]:
    """Return the probability, from 0 to 1, that each text entails a claim; blocking.

    An NLI model has three labels, one of them "entailment" (premise: the text, hypothesis: the claim); for a model with one output the
    claim is the query, and the logistic function is applied. ModelError for other models.
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
        scores = model.predict(pairs, activation_fn=Softmax(dim=-1) if nli else Sigmoid(), show_progress_bar=False)
    return [float(row[labels["entailment"]] if nli else row) for row in scores]


def _scorer(name: str) -> "CrossEncoder":
    """Return a cross-encoder with one output; ModelError for other models."""
    model = cross_encoder(name)
    if model.num_labels != 1:
        raise _unsuitable_error(name, f"gives {model.num_labels} scores, not one")
    return model


def _canonical(name: str) -> str:
    path = expand_path(name)
    return str(path.resolve()) if path.is_dir() else name.strip()


def _load(name: str) -> "CrossEncoder":
    from sentence_transformers import CrossEncoder
    from transformers import AutoConfig

    device, _ = best_device()
    try:
        with without_progress_bar():
            architectures = AutoConfig.from_pretrained(name, local_files_only=True).architectures or ["none"]
            if architectures[0].endswith(_HEADLESS):
                raise _unsuitable_error(name, f"is not a cross-encoder ({architectures[0]})")
            model: CrossEncoder = CrossEncoder(name, device=str(device), local_files_only=True)
    except OSError as error:
        remedy = f"download it once with `hf download {name}`, or use reader, none or a folder with a model"
        raise ModelError(f"the reranker {name!r} is not on this machine", remedy) from error
    except (ValueError, ImportError, KeyError, RuntimeError) as error:
        if isinstance(error, ModelError):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise _unsuitable_error(name, f"cannot be loaded: {reason}") from error
    return model


def _unsuitable_error(name: str, why: str) -> ModelError:
    return ModelError(f"the reranker {name!r} {why}", "use reader, none, or a cross-encoder that sentence-transformers can load")

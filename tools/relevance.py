"""Reranking and verification with the reader or a cross-encoder.

Search results are reranked by their relevance to a question. A sentence is verified against its cited passages by entailment or relevance;
its names and numbers have to occur there, too.
"""

import re
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramify.tools.embeddings.local_encoders import best_device, without_progress_bar
from ramify.tools.english import content_stems, find_names, fold
from ramify.tools.errors import ModelError
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.languages import ENGLISH, detect_language
from ramify.tools.reader import large
from ramify.tools.reader.reading import LARGE, SMALL, PassageReading, add_title, read_context, read_contexts
from ramify.tools.user_input import expand_path

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

READER, NO_RERANKER, MODEL = "reader", "none", "model"
_NLI = frozenset({"contradiction", "entailment", "neutral"})
POSITION_PENALTY = 0.15
"""Penalty for each rank in the search's order, subtracted from the reader's score from 0 to 1; tuned for recall@5 on training sets."""
_HEADLESS = ("Model", "ForMaskedLM")
"""Suffixes of architectures without a classification head, which would be initialized randomly."""
_models: dict[str, "CrossEncoder"] = {}
_loading = threading.Lock()
_scoring = threading.Lock()


def search_width(name: str, k: int, rerank_k: int) -> int:
    """Return the number of passages to search for, if `name` reranks them and k are wanted."""
    return k if name == NO_RERANKER else max(k, rerank_k)


def load_reranker(name: str) -> float:
    """Load the reranker; return the seconds taken, 0 if it was loaded; blocking. ModelError if there is no such model."""
    if name == NO_RERANKER:
        return 0.0
    began = time.perf_counter()
    reader = LARGE if large.SELECTED.get() else SMALL
    loaded = reader.loaded if name == READER else _canonical(name) in _models
    reader.load() if name == READER else _scorer(name)
    return 0.0 if loaded else time.perf_counter() - began


def rerank_hits(query: str, hits: Sequence[Hit], name: str, k: int) -> list[Hit]:
    """Return the k best hits of a query, reranked by "reader" or a cross-encoder; "none" keeps the order; blocking.

    Ties keep the order of the search. ModelError if there is no such model.
    """
    if name == NO_RERANKER or not hits:
        return list(hits[:k])
    contexts = tuple(add_title(hit.document.metadata.get("title"), hit.document.page_content) for hit in hits)
    if name == READER:
        values = [relevance_value(reading, place) for place, reading in enumerate(read_contexts(query, contexts))]
    else:
        values = cross_encoder_scores(name, query, contexts)
    order = sorted(range(len(hits)), key=lambda place: -values[place])
    return [hits[place] for place in order[:k]]


def relevance_value(reading: PassageReading, place: int) -> float:
    """Return the reader's score of a passage: the mean of relevance and answer probability, minus the penalty of its rank."""
    return (reading.relevance + max(reading.span, reading.yes, reading.no)) / 2 - POSITION_PENALTY * place


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
        found = model.predict(pairs, activation_fn=Softmax(dim=-1) if nli else Sigmoid(), show_progress_bar=False)
    return [float(row[labels["entailment"]] if nli else row) for row in found]


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


_MIN_WORD_SHARE = 0.6
"""Share of a sentence's words in the passages from which it counts as supported without a model."""
_MIN_RELEVANCE = 0.3
"""Minimum relevance, from 0 to 1, of a passage that supports a sentence (`benchmarks/support.py`)."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_MONTHS = frozenset(
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
)
"""Names of months, which numeric dates lack."""
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_LETTER = re.compile(r"[^\W\d_]")


def missing_facts(sentence: str, texts: Sequence[str]) -> list[str]:
    """Return the numbers, and in English the names, of a sentence that occur in none of the texts."""
    text = " ".join(texts)
    numbers = set(_numbers(text))
    missing = [number for number in map(_normalize_number, _NUMBER.findall(sentence)) if number not in numbers]
    if not _is_latin(text) or detect_language(sentence) not in (ENGLISH, None):  # other languages have other capitalization rules
        return missing
    words = set(fold(text).split()) | _MONTHS
    first = fold(sentence).split()[:1]
    names = [name for name in find_names(sentence) if fold(name).split() != first]  # the first word is always capitalized
    return [*(name for name in names if not words.issuperset(word for word in fold(name).split() if not word.isdigit())), *missing]


def is_supported(sentence: str, texts: Sequence[str], by: str = READER, language: str | None = None) -> bool:
    """Return whether one of the texts supports a sentence, judged by "reader" or a cross-encoder; blocking.

    language: of the sentence, used if it is too short for detection. A text in another language is compared only by names and numbers, one
    in another script by numbers. ModelError if there is no such model.
    """
    if not texts or missing_facts(sentence, texts):
        return False
    sentence_language, text_languages = detect_language(sentence) or language, {detect_language(text) for text in texts}
    if not (_is_latin(sentence) and all(map(_is_latin, texts))) or (
        sentence_language and None not in text_languages and sentence_language not in text_languages
    ):
        return True
    words = content_stems(sentence)
    if words and len(words & content_stems(" ".join(texts))) >= _MIN_WORD_SHARE * len(words) and by == READER:
        return True
    if by == READER:
        return max(read_context(sentence, text).relevance for text in texts) >= _MIN_RELEVANCE
    return max(entailment_probabilities(by, sentence, texts)) >= 0.5


def _normalize_number(number: str) -> str:
    return _THOUSANDS.sub("", number).lstrip("0") or "0"


def _numbers(text: str) -> list[str]:
    """Return the numbers of a text, whole and by their parts, as in the date 1852.03.03."""
    found = [_THOUSANDS.sub("", number) for number in _NUMBER.findall(text)]
    return [part.lstrip("0") or "0" for number in found for part in dict.fromkeys((number, *re.split(r"[.,]", number)))]


def _is_latin(text: str) -> bool:
    letters = _LETTER.findall(text)
    return 2 * sum(_LATIN.match(letter) is not None for letter in letters) >= len(letters)

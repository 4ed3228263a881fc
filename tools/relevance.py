"""What the reader or a cross-encoder says of a passage: how far it bears on a question, and whether it says what a sentence says.

By the first what a search found is put into a better order, by the second a sentence is checked against what it cites: its names and
numbers have to stand there, too.
"""

import re
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramify.tools.embeddings.local_encoders import best_device, quiet
from ramify.tools.english import content_stems, find_names, fold
from ramify.tools.errors import ModelError
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.languages import ENGLISH, detect_language
from ramify.tools.reader import large
from ramify.tools.reader.reading import LARGE, SMALL, PassageReading, add_title, read_context, read_contexts
from ramify.tools.user_input import expand_path

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

READER, NONE, MODEL = "reader", "none", "model"
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
    reader = LARGE if large.SELECTED.get() else SMALL
    there = reader.loaded if name == READER else _canonical(name) in _loaded
    reader.load() if name == READER else _scorer(name)
    return 0.0 if there else time.perf_counter() - began


def reranked(query: str, hits: Sequence[Hit], name: str, k: int) -> list[Hit]:
    """Return the k best hits of a query by the reader ("reader"), or by a cross-encoder of that name; "none" leaves the order; blocking.

    Ties keep the order of the search. ModelError if there is no such model.
    """
    if name == NONE or not hits:
        return list(hits[:k])
    contexts = tuple(add_title(hit.document.metadata.get("title"), hit.document.page_content) for hit in hits)
    if name == READER:
        values = [worth(reading, place) for place, reading in enumerate(read_contexts(query, contexts))]
    else:
        values = scores(name, query, contexts)
    order = sorted(range(len(hits)), key=lambda place: -values[place])
    return [hits[place] for place in order[:k]]


def worth(reading: PassageReading, place: int) -> float:
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
    path = expand_path(name)
    return str(path.resolve()) if path.is_dir() else name.strip()


def _load(name: str) -> "CrossEncoder":
    from sentence_transformers import CrossEncoder
    from transformers import AutoConfig

    device, _ = best_device()
    try:
        with quiet():
            architectures = AutoConfig.from_pretrained(name, local_files_only=True).architectures or ["none"]
            if architectures[0].endswith(_BARE):
                raise _unfit(name, f"is no cross-encoder ({architectures[0]})")
            model: CrossEncoder = CrossEncoder(name, device=str(device), local_files_only=True)
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


_SHARE = 0.6
"""Share of a sentence's words in a passage from which on no model is asked."""
_RELEVANT = 0.3
"""The least relevance, from 0 to 1, that the reader gives to a passage that supports a sentence (`benchmarks/support.py`)."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_MONTHS = frozenset(
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
)
"""Names that a date may lack where it is written in figures."""
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_LETTER = re.compile(r"[^\W\d_]")


def missing_facts(sentence: str, texts: Sequence[str]) -> list[str]:
    """List the numbers, and of English the names, of a sentence that none of the texts has."""
    there = " ".join(texts)
    numbers = set(_numbers(there))
    missing = [number for number in map(_plain, _NUMBER.findall(sentence)) if number not in numbers]
    if not _is_latin(there) or detect_language(sentence) not in (ENGLISH, None):  # others capitalise otherwise
        return missing
    words = set(fold(there).split()) | _MONTHS
    first = fold(sentence).split()[:1]
    names = [name for name in find_names(sentence) if fold(name).split() != first]  # any word is capitalised there
    return [*(name for name in names if not words.issuperset(word for word in fold(name).split() if not word.isdigit())), *missing]


def supported(sentence: str, texts: Sequence[str], by: str = READER, language: str | None = None) -> bool:
    """Tell whether one of the texts says what a sentence says, as `by` finds: reader, or a cross-encoder by name or path; blocking.

    language: that of the sentence, where it is too short to tell.

    ModelError where there is no such model. A text in another language than the sentence is compared by names and numbers alone, one in
    other letters by numbers.
    """
    if not texts or missing_facts(sentence, texts):
        return False
    own, theirs = detect_language(sentence) or language, {detect_language(text) for text in texts}
    if not (_is_latin(sentence) and all(map(_is_latin, texts))) or (own and None not in theirs and own not in theirs):
        return True
    words = content_stems(sentence)
    if words and len(words & content_stems(" ".join(texts))) >= _SHARE * len(words) and by == READER:
        return True
    if by == READER:
        return max(read_context(sentence, text).relevance for text in texts) >= _RELEVANT
    return max(entailment(by, sentence, texts)) >= 0.5


def _plain(number: str) -> str:
    return _THOUSANDS.sub("", number).lstrip("0") or "0"


def _numbers(text: str) -> list[str]:
    """List the numbers of a text, each by itself and by its parts, as a date may be written: 1852.03.03."""
    found = [_THOUSANDS.sub("", number) for number in _NUMBER.findall(text)]
    return [part.lstrip("0") or "0" for number in found for part in dict.fromkeys((number, *re.split(r"[.,]", number)))]


def _is_latin(text: str) -> bool:
    letters = _LETTER.findall(text)
    return 2 * sum(_LATIN.match(letter) is not None for letter in letters) >= len(letters)

"""Reranking and verification with the reader or a cross-encoder.

Search results are reranked by their relevance to a question. A sentence is verified against its cited passages: its names and numbers
have to stand together there (`claims`); entailment or relevance decides about the rest.
"""

import re
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramify.embedded.reader import large
from ramify.embedded.reader.reading import LARGE, SMALL, PassageReading, add_title, read_context, read_contexts
from ramify.tools import claims
from ramify.tools.embeddings.local_encoders import best_device, without_progress_bar
from ramify.tools.english import content_stems, person_probabilities
from ramify.tools.errors import ModelError
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.languages import ENGLISH, detect_language
from ramify.tools.statements import Material
from ramify.tools.supporting_sentence import QuestionAnswer
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
"""Share of a sentence's words in a statement that says it."""
_MIN_RELEVANCE = 0.3
"""Minimum relevance, from 0 to 1, of a passage that supports a sentence (`plugins/lab/benchmarks/support.py`)."""
_MIN_FOREIGN_WORDS = 4
"""Words of a sentence, all of them in no passage, from which it is looked at a second time."""
_MIN_STRANGER = 0.9
"""Probability from which the first word of a sentence names a person."""
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_LETTER = re.compile(r"[^\W\d_]")


def missing_facts(sentence: str, texts: Sequence[str]) -> list[str]:
    """Return the numbers, and in English the names, of a sentence that occur in none of the texts."""
    return claims.missing_facts(sentence, texts, _has_names(sentence, texts))


def is_supported(sentence: str, texts: Sequence[str], by: str = READER, language: str | None = None) -> bool:
    """Return whether the texts support a sentence; blocking. See `check_support`."""
    return bool(texts) and check_support(sentence, [Material("", text) for text in texts], by=by, language=language) is True


def check_support(
    sentence: str, materials: Sequence[Material], asked: Sequence[QuestionAnswer] = (), by: str = READER, language: str | None = None
) -> bool | None:
    """Return whether passages support a sentence, judged by "reader" or a cross-encoder; None for a conclusion; blocking.

    asked: the question and its answer, then those of its parts; a conclusion says nothing else, or nothing that a passage could say.
    language: of the sentence, used if it is too short for detection. A text in another language is compared only by names and numbers, one
    in another script by numbers. ModelError if there is no such model.
    """
    texts = [material.text for material in materials]
    if _is_foreign(sentence, texts, language):
        return not claims.missing_facts(sentence, [f"{one.subject} {one.text}" for one in materials], _has_names(sentence, texts))
    if claims.find_fault(sentence, materials, asked, _has_names(sentence, texts)):
        return False
    is_said = claims.best_share(sentence, materials) >= _MIN_WORD_SHARE
    if claims.repeats(sentence, asked):
        return True if is_said else None
    if by != READER:
        return bool(texts) and max(entailment_probabilities(by, sentence, [f"{one.subject}: {one.text}" for one in materials])) >= 0.5
    if is_said or (texts and claims.has_figures(sentence)):
        return True
    known = content_stems(" ".join([*texts, *(f"{one.question} {one.answer}" for one in asked)]))
    words = content_stems(sentence)
    if any(read_context(sentence, add_title(one.subject, one.text)).relevance >= _MIN_RELEVANCE for one in materials):
        return True
    is_invented = len(words) >= _MIN_FOREIGN_WORDS and not words & known
    return False if is_invented or (materials and _begins_with_stranger(sentence, known)) else None


def _begins_with_stranger(sentence: str, known: frozenset[str]) -> bool:
    """Return whether a sentence begins with the name of a person who is in none of the words; its capital letter alone tells nothing."""
    first = sentence.split(" ")[0]
    return first.istitle() and not content_stems(first) & known and person_probabilities([first])[0] >= _MIN_STRANGER


def find_source(sentence: str, materials: Sequence[Material], asked: Sequence[QuestionAnswer] = ()) -> int | None:
    """Return the number, from 0, of the passage that says a sentence; None if none does."""
    texts = [material.text for material in materials]
    named = _has_names(sentence, texts)
    shares = [claims.best_share(sentence, [material]) for material in materials]
    for place in sorted(range(len(materials)), key=lambda place: -shares[place]):
        if shares[place] >= _MIN_WORD_SHARE and not claims.find_fault(sentence, [materials[place]], asked, named):
            return place
    return None


def _has_names(sentence: str, texts: Sequence[str]) -> bool:
    """Return whether capital letters mark the names of a sentence; other languages than English have other rules."""
    return _is_latin(" ".join(texts)) and detect_language(sentence) in (ENGLISH, None)


def _is_foreign(sentence: str, texts: Sequence[str], language: str | None) -> bool:
    """Return whether a sentence is in another language or script than the texts."""
    sentence_language, text_languages = detect_language(sentence) or language, {detect_language(text) for text in texts}
    return not (_is_latin(sentence) and all(map(_is_latin, texts))) or bool(
        sentence_language and texts and None not in text_languages and sentence_language not in text_languages
    )


def _is_latin(text: str) -> bool:
    letters = _LETTER.findall(text)
    return 2 * sum(_LATIN.match(letter) is not None for letter in letters) >= len(letters)

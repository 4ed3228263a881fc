"""Extractive summaries, quoted from the leaves nearest the cluster's centre; and checking whether leaves support a written summary."""

import re
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from ramify.kinds.hierarchy.leaves import Summary, SummarySentence
from ramify.kinds.knowledge.elements import is_prose
from ramify.tools.embeddings.encoder import Encoder, Matrix, Prefixes, unit_rows
from ramify.tools.embeddings.named import LANGCHAIN_SCHEME
from ramify.tools.english import content_stems, fold
from ramify.tools.errors import ModelError
from ramify.tools.names import contains_name
from ramify.tools.reader import find_reader
from ramify.tools.supporting_sentence import split_statements

EXTRACTIVE = "extractive"
_MIN_SENTENCES, _MAX_SENTENCES, _LARGE_CLUSTER = 3, 5, 30
"""Minimum and maximum of sentences in a summary; a cluster of 30 leaves gets one more, one of 60 two more."""
_NEAREST_TEXTS, _SENTENCES_PER_TEXT = 6, 5
"""Texts nearest the centre whose sentences are candidates, and candidates from each."""
MAX_ENCODED_SENTENCES = 10
"""Sentences encoded for each cluster; encoding dominates the build time, and more do not improve the summary."""
_MIN_SENTENCE_CHARS, _MAX_SENTENCE_CHARS = 30, 400
"""Length of a candidate sentence in characters."""
_MIN_WORDS = 8
_TRAILING_ITEM = re.compile(r"(?<=[.;:])\s+\(?(?:[a-z]|\d{1,2})[.)]$")
"""The letter or number of the next list item at the end of a wrapped line."""
_DUPLICATE_COSINE = 0.95
"""Cosine from which two sentences count as duplicates."""
_CACHE_SIZE = 200_000
"""Sentences whose vectors are cached in memory."""
_vector_cache: dict[tuple[str, Prefixes], dict[str, Matrix]] = {}
_foreign_cache: WeakKeyDictionary[Encoder, dict[str, Matrix]] = WeakKeyDictionary()
"""By encoder object, for a program's own embeddings, whose names do not identify them."""
MIN_SUPPORTED_SHARE = 0.7
"""Share of supported sentences below which a summary is requested again."""
_MIN_SUPPORT_COSINE = 0.6
_MAX_PREMISES = 3
"""Statements shown to an NLI model for each sentence."""
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*")
_ENTAILMENT_LABEL = "entailment"
_predicting = threading.Lock()


class ClusterText(NamedTuple):
    """A text of a cluster: a leaf's text or a sentence of a lower summary, with the number of its leaf and its vector."""

    text: str
    leaf: int
    vector: Matrix
    headings: tuple[str, ...] = ()


class SummaryMaterial(NamedTuple):
    """The material of a summary: the texts of a cluster, its number of leaves, and its title."""

    texts: tuple[ClusterText, ...]
    leaves: int
    title: str

    @property
    def centre(self) -> Matrix:
        """Return the normalized mean of the vectors, shape (dimension,)."""
        vectors = np.array([source.vector for source in self.texts])
        centre: Matrix = unit_rows(vectors.mean(axis=0, keepdims=True), vectors.shape[1])[0]
        return centre

    @property
    def nearest(self) -> list[ClusterText]:
        """Return the texts by descending cosine to the centre."""
        similarities = np.array([source.vector for source in self.texts]) @ self.centre
        return [self.texts[place] for place in np.argsort(-similarities, kind="stable")]


class Summarizer(Protocol):
    """Writes summaries, extractively or with a language model."""

    @property
    def made_by(self) -> str:
        """Return the name of the model that writes the summaries, or "extractive"."""
        ...

    async def summarize(self, material: SummaryMaterial) -> Summary:
        """Return the summary of a cluster."""
        ...


class ExtractiveSummarizer:
    """Summarizes by quoting sentences."""

    made_by = EXTRACTIVE

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    async def summarize(self, material: SummaryMaterial) -> Summary:
        """Return a summary of three to five distinct sentences nearest the centre, quoted from the leaves."""
        candidates = _candidate_sentences(material)
        if not candidates:
            return Summary((), EXTRACTIVE)
        vectors = encode_cached(self._encoder, tuple(sentence.text for sentence in candidates))
        similarities = vectors @ material.centre
        most = min(_MAX_SENTENCES, _MIN_SENTENCES + (material.leaves >= _LARGE_CLUSTER) + (material.leaves >= 2 * _LARGE_CLUSTER))
        chosen: list[int] = []
        for place in np.argsort(-similarities, kind="stable").tolist():
            if len(chosen) < most and not any(float(vectors[place] @ vectors[other]) >= _DUPLICATE_COSINE for other in chosen):
                chosen.append(place)
        return Summary(tuple(candidates[place] for place in sorted(chosen)), EXTRACTIVE)


def _candidate_sentences(material: SummaryMaterial) -> list[SummarySentence]:
    """Return the sentences of the nearest leaves that share most words with the cluster."""
    nearest = material.nearest[: max(_NEAREST_TEXTS, len(material.texts) if material.texts[0].headings == () else _NEAREST_TEXTS)]
    counts: dict[str, int] = {}
    for source in nearest:
        for word in content_stems(source.text):
            counts[word] = counts.get(word, 0) + 1
    candidates: dict[str, SummarySentence] = {}
    for source in nearest:
        sentences = [_TRAILING_ITEM.sub("", unit) for unit in split_statements(source.text, source.headings)]
        units = [unit for unit in sentences if is_prose(unit) and _MIN_SENTENCE_CHARS <= len(unit) <= _MAX_SENTENCE_CHARS]
        units = units or [unit[:_MAX_SENTENCE_CHARS] for unit in sentences[:1]]
        chosen = sorted(sorted(units, key=lambda unit: -_shared_word_score(unit, counts))[:_SENTENCES_PER_TEXT], key=units.index)
        for unit in chosen:
            candidates.setdefault(unit, SummarySentence(unit, source.leaf))
    best = sorted(candidates, key=lambda unit: -_shared_word_score(unit, counts))[:MAX_ENCODED_SENTENCES]
    return [sentence for unit, sentence in candidates.items() if unit in best]


def _shared_word_score(unit: str, counts: Mapping[str, int]) -> float:
    """Return the mean number of texts that contain a word of the sentence, counting at least `_MIN_WORDS` words."""
    words = content_stems(unit)
    return sum(counts.get(word, 0) for word in words) / max(_MIN_WORDS, len(words))


def encode_cached(encoder: Encoder, texts: tuple[str, ...]) -> Matrix:
    """Return the vectors of sentences, shape (texts, dimension), from a cache shared by all builds of the process."""
    foreign = encoder.name.startswith(LANGCHAIN_SCHEME)
    known = _foreign_cache.setdefault(encoder, {}) if foreign else _vector_cache.setdefault((encoder.name, encoder.prefixes), {})
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    if len(known) + len(missing) > _CACHE_SIZE:
        known.clear()
        missing = list(dict.fromkeys(texts))
    if missing:
        known.update(zip(missing, encoder.encode_documents(missing), strict=True))
    return np.array([known[text] for text in texts])


def find_unsupported(sentences: Sequence[str], texts: Sequence[str], encoder: Encoder, nli: str | None = None) -> list[str]:
    """Return the sentences that the texts do not support or that repeat an earlier one; ModelError if the NLI model cannot be used.

    An NLI model decides alone. Without one, a sentence is supported if it is similar to a statement of the texts, its names and numbers
    stand there, and it does not contradict the statement that has most of its words (where a reader is installed).
    """
    units = tuple(dict.fromkeys(unit for text in texts for unit in split_statements(text)))
    if not units or not sentences:
        return list(sentences)
    similarities = encode_cached(encoder, tuple(sentences)) @ encode_cached(encoder, units).T
    if nli:
        supported = _predict_entailed(nli, sentences, [_nearest_statements(units, row) for row in similarities])
    else:
        whole, reader = " ".join(texts), find_reader()
        supported = [
            float(row.max()) >= _MIN_SUPPORT_COSINE
            and _names_occur(sentence, whole)
            and not (reader and reader.is_contradicted(sentence, units, row))
            for sentence, row in zip(sentences, similarities, strict=True)
        ]
    return [
        sentence
        for sentence, is_supported, again in zip(sentences, supported, _are_repetitions(sentences), strict=True)
        if again or not is_supported
    ]


def _nearest_statements(units: Sequence[str], similarities: Matrix) -> str:
    """Return the statements most similar to a sentence, in their order, since it may sum up several."""
    return " ".join(units[place] for place in sorted(np.argsort(-similarities, kind="stable")[:_MAX_PREMISES].tolist()))


def _are_repetitions(sentences: Sequence[str]) -> list[bool]:
    """Return for each sentence whether an earlier one is equal or begins with it, as when a small model loops and is cut off."""
    written = [fold(sentence) for sentence in sentences]
    return [any(before.startswith(text) for before in written[:place]) for place, text in enumerate(written)]


def _names_occur(sentence: str, whole: str) -> bool:
    return all(contains_name(whole, name) for name in _NAME.findall(sentence))


def _predict_entailed(nli: str, sentences: Sequence[str], premises: Sequence[str]) -> list[bool]:
    model, label = load_nli(nli)
    with _predicting:  # fast tokenizers raise "Already borrowed" when two threads change padding at once
        predictions = model.predict(list(zip(premises, sentences, strict=True)), show_progress_bar=False)
    return [int(row.argmax()) == label for row in predictions]


@lru_cache(maxsize=2)
def load_nli(name: str) -> tuple[Any, int]:
    """Load an NLI model from a folder or the local cache, never from the network; return it with the index of its label "entailment"."""
    from sentence_transformers import CrossEncoder

    try:
        model = CrossEncoder(name, device="cpu", local_files_only=True)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ModelError(
            f"the NLI model {name!r} cannot be loaded: {reason}", "give a folder with a cross-encoder for NLI, or none"
        ) from error
    labels = {str(label).casefold(): int(place) for place, label in model.config.id2label.items()}
    if _ENTAILMENT_LABEL not in labels:
        raise ModelError(
            f"{name!r} is not an NLI model: its labels are {', '.join(labels)}", f"give one with the label {_ENTAILMENT_LABEL!r}, or none"
        )
    return model, labels[_ENTAILMENT_LABEL]

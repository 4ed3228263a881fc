"""Summaries without a model, quoted from the leaves nearest the centre of their cluster; and whether leaves support a written one."""

import re
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from ramify.tools.embeddings.encoder import Encoder, Matrix, Prefixes, unit_rows
from ramify.tools.embeddings.named import FOREIGN
from ramify.tools.english import content_stems, fold
from ramify.tools.errors import ModelError
from ramify.tools.hierarchy.leaves import Said, Summary
from ramify.tools.knowledge.elements import is_prose
from ramify.tools.supporting_sentence import split_statements

QUOTED = "extractive"
_LEAST, _MOST, _LARGE = 3, 5, 30
"""Sentences of a summary, and leaves of a cluster from which on it has one more, and twice that one more again."""
_NEAREST, _OF_EACH = 6, 5
"""Leaves nearest the centre whose sentences are looked at, and sentences of each."""
WEIGHED = 10
"""Sentences of a cluster whose nearness to the centre is computed: more bring nothing, and encoding is what a build takes."""
_SHORT, _LONG = 30, 400
"""Characters of a sentence that says something by itself."""
_WORDS = 8
_NEXT = re.compile(r"(?<=[.;:])\s+\(?(?:[a-z]|\d{1,2})[.)]$")
"""The letter or number of the next item, which a line that was broken to fit a page ends with."""
_SAME = 0.95
"""From this cosine on, two sentences say the same."""
_REMEMBERED = 200_000
"""Sentences whose vectors are kept in memory."""
_known: dict[tuple[str, Prefixes], dict[str, Matrix]] = {}
_known_to: WeakKeyDictionary[Encoder, dict[str, Matrix]] = WeakKeyDictionary()
"""By encoder, where its name does not say what it does: a program's own embeddings."""
SUPPORTED = 0.7
"""Share of the sentences of a summary below which it is asked for again."""
_NEAR = 0.6
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*")
_ENTAILED = "entailment"
_predicting = threading.Lock()


class Source(NamedTuple):
    """A text of a cluster: a leaf's, or a sentence of a summary below, with the number of its leaf and its vector."""

    text: str
    leaf: int
    vector: Matrix
    headings: tuple[str, ...] = ()


class Material(NamedTuple):
    """What a summary is made from: the texts of a cluster, and how many leaves are in it."""

    sources: tuple[Source, ...]
    leaves: int
    title: str

    @property
    def centre(self) -> Matrix:
        """Give the normalised mean of the vectors."""
        vectors = np.array([source.vector for source in self.sources])
        centre: Matrix = unit_rows(vectors.mean(axis=0, keepdims=True), vectors.shape[1])[0]
        return centre

    @property
    def nearest(self) -> list[Source]:
        """List the texts, those nearest the centre first."""
        near = np.array([source.vector for source in self.sources]) @ self.centre
        return [self.sources[place] for place in np.argsort(-near, kind="stable")]


class Summarizer(Protocol):
    """Makes summaries: by quoting, or with a language model."""

    @property
    def made_by(self) -> str:
        """Name who writes the summaries."""
        ...

    async def summarize(self, material: Material) -> Summary:
        """Sum up a cluster."""
        ...


class Quoting:
    """Sum up by quoting sentences."""

    made_by = QUOTED

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    async def summarize(self, material: Material) -> Summary:
        """Quote three to five sentences nearest the centre of a cluster, each once; every one is supported, being a leaf's own."""
        found = _candidates(material)
        if not found:
            return Summary((), QUOTED)
        vectors = encoded(self._encoder, tuple(one.text for one in found))
        near = vectors @ material.centre
        most = min(_MOST, _LEAST + (material.leaves >= _LARGE) + (material.leaves >= 2 * _LARGE))
        chosen: list[int] = []
        for place in np.argsort(-near, kind="stable").tolist():
            if len(chosen) < most and not any(float(vectors[place] @ vectors[other]) >= _SAME for other in chosen):
                chosen.append(place)
        return Summary(tuple(found[place] for place in sorted(chosen)), QUOTED)


def _candidates(material: Material) -> list[Said]:
    """List sentences of the leaves nearest the centre: those with most of the words that the cluster shares."""
    nearest = material.nearest[: max(_NEAREST, len(material.sources) if material.sources[0].headings == () else _NEAREST)]
    counts: dict[str, int] = {}
    for source in nearest:
        for word in content_stems(source.text):
            counts[word] = counts.get(word, 0) + 1
    found: dict[str, Said] = {}
    for source in nearest:
        said = [_NEXT.sub("", unit) for unit in split_statements(source.text, source.headings)]
        units = [unit for unit in said if is_prose(unit) and _SHORT <= len(unit) <= _LONG]
        units = units or [unit[:_LONG] for unit in said[:1]]
        kept = sorted(sorted(units, key=lambda unit: -_shared(unit, counts))[:_OF_EACH], key=units.index)
        for unit in kept:
            found.setdefault(unit, Said(unit, source.leaf))
    best = sorted(found, key=lambda unit: -_shared(unit, counts))[:WEIGHED]
    return [one for unit, one in found.items() if unit in best]


def _shared(unit: str, counts: Mapping[str, int]) -> float:
    """Weigh a sentence by how many texts have its words; a short one gains nothing by being short."""
    words = content_stems(unit)
    return sum(counts.get(word, 0) for word in words) / max(_WORDS, len(words))


def encoded(encoder: Encoder, texts: tuple[str, ...]) -> Matrix:
    """Encode sentences; those met before, in this build or another, are not encoded again."""
    foreign = encoder.name.startswith(FOREIGN)
    known = _known_to.setdefault(encoder, {}) if foreign else _known.setdefault((encoder.name, encoder.prefixes), {})
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    if len(known) + len(missing) > _REMEMBERED:
        known.clear()
        missing = list(dict.fromkeys(texts))
    if missing:
        known.update(zip(missing, encoder.encode_documents(missing), strict=True))
    return np.array([known[text] for text in texts])


def unsupported(sentences: Sequence[str], texts: Sequence[str], encoder: Encoder, nli: str | None = None) -> list[str]:
    """List the sentences that the texts do not support, and those that repeat one before; ModelError where the NLI model cannot be used."""
    units = tuple(dict.fromkeys(unit for text in texts for unit in split_statements(text)))
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

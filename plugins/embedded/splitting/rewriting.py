"""Complete follow-up questions with the trained writer, and compare that with leaving them unchanged; results are cached."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ramify.embedded.splitting.writing import (
    BEGIN,
    COMPUTE_LOCK,
    END,
    MAX_QUESTION_CHARS,
    MAX_REPLY_WORDS,
    REWRITE,
    SourceText,
    Splitter,
    Vocabulary,
    encode_words,
    load_splitter,
    split_words,
    tokenize_source,
)

if TYPE_CHECKING:
    from ramify.embedded.splitting.network import EncodedSource

_CACHE_SIZE = 4096
_ABSENT_WORD = -12.0
"""Log probability of a word that the writer can neither copy nor write."""


@dataclass(frozen=True)
class Rewriting:
    """A follow-up question as the writer completes it, and how likely it finds that."""

    question: str
    """Empty if the writer did not finish."""
    fluency: float
    """Mean log probability of its words."""
    unchanged: float
    """Log probability of the question as it was asked: near 0 if it needs no completion."""


@lru_cache(maxsize=_CACHE_SIZE)
def rewrite_follow_up(question: str, before: str) -> Rewriting:
    """Rewrite a follow-up question so that it can be understood without the lines before it. Blocking."""
    question = question[-MAX_QUESTION_CHARS:]
    with COMPUTE_LOCK:
        reply = load_splitter().rewrite(question, before)
    (unchanged,) = log_probabilities(question, before, [question])
    return Rewriting(reply.questions[0] if reply.questions else "", reply.fluency, unchanged)


def log_probabilities(question: str, before: str, texts: Sequence[str]) -> list[float]:
    """Return for each text the log probability that the writer rewrites a follow-up question as this text. Blocking."""
    import torch

    from ramify.embedded.splitting.network import SOURCE_LAYERS

    source = tokenize_source(question[-MAX_QUESTION_CHARS:], before)
    with COMPUTE_LOCK, torch.inference_mode():
        splitter = load_splitter()
        states = encode_words([source], splitter.encoder, SOURCE_LAYERS)[0][None]
        mask = torch.ones(1, len(source.words), dtype=torch.bool)
        encoded = splitter.writer.encode_source(states, torch.tensor([source.parts]), mask)
        return [_log_probability(splitter, source, encoded, text) for text in texts]


def _log_probability(splitter: Splitter, source: SourceText, encoded: "EncodedSource", text: str) -> float:
    import torch

    numbers = splitter.vocabulary.numbers
    choices = [_tokens_of(word.key, source, splitter.vocabulary) for word in split_words(text)[:MAX_REPLY_WORDS]]
    tokens = [numbers[BEGIN], splitter.vocabulary.kinds[REWRITE]]
    for choice in choices:
        following = tokens[-1] + 1  # a copy that continues the one before, else the last: the question is behind its history
        tokens.append(following if following in choice else choice[-1] if choice else numbers[END])
    scores = splitter.writer(torch.tensor([tokens]), encoded)[0][0].log_softmax(-1)
    expected = [*choices, [numbers[END]]]
    return sum(float(row[choice].logsumexp(-1)) if choice else _ABSENT_WORD for row, choice in zip(scores[1:], expected, strict=True))


def _tokens_of(word: str, source: SourceText, vocabulary: Vocabulary) -> list[int]:
    """Return the tokens that write a word: its number in the vocabulary, and its places in the source."""
    written = [vocabulary.numbers[word]] if word in vocabulary.numbers else []
    return written + [len(vocabulary) + place for place, other in enumerate(source.words) if other.key == word]

"""Count tokens: by a model's tokenizer, by an upper estimate, or by a count learned from a server's reports (Ollama).

A learned count is the lower of two bounds: the careful estimate, and for ordinary text in English letters the tokens of the embedded
encoder. Each is multiplied by the highest observed ratio of reported tokens to it, at least 1, so no prompt that was reported whole is
counted lower than it was. Code, tables, chemistry and German take fewer tokens of a language model for each of the encoder's than English
prose does (measured with the tokenizers of LLaMA 3, Mistral 7B and Mistral Nemo), so a ratio learned from prose is a bound for them, too.
Text in another script has no second bound, and nothing learned from English lowers its estimate. Until a prompt was reported there is no
second bound at all: the careful estimate stands, which is about two thirds too high for English.

Some servers under-count a cached prompt, and none over-counts it: hence the highest ratio is used, and reports below `MIN_REPORTED_SHARE`
of the encoder's tokens are ignored.
"""

import json
import math
import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from langchain_core.language_models import BaseChatModel

from ramify.tools.errors import InputError
from ramify.tools.models.server_info import find_tokenizer
from ramify.tools.new_files import cache_folder, write_atomically

TokenCounter = Callable[[str], int]

WORD_PATTERN = re.compile(r"\S+")
LETTERS_PATTERN = re.compile(r"[^\S\r\n]?[^\W\d_]+")
PIECE_PATTERN = re.compile(r"\d{1,3}|\s*[\r\n]+|\s+|[^\w\s]+|_+")
BYTES_PER_TOKEN = 3
"""A LLaMA 3 token covers more than four bytes of ordinary English, about four and a half of Korean."""
MAX_KNOWN_WORD_CHARS = 64
"""The encoder's tokenizer counts much longer words, and those in unknown letters, as a single token."""
MAX_UNKNOWN_SHARE = 0.1
"""Largest share of such words for which the encoder's count is used."""


def create_counter(chat: BaseChatModel, otherwise: TokenCounter | None = None) -> TokenCounter:
    """Return a model's token counter, `otherwise` without a tokenizer. It may call a server: use it outside the event loop.

    Nothing is downloaded: LangChain's own count (another model's tokenizer, from a hub) is never used.
    """
    if chat.custom_get_token_ids is not None:
        own = chat.custom_get_token_ids
        return lru_cache(maxsize=4096)(lambda text: len(own(text)))
    tokenizer = find_tokenizer(chat)
    if tokenizer is None:
        return otherwise or estimate_tokens

    @lru_cache(maxsize=4096)
    def count(text: str) -> int:
        counted = tokenizer.count(text)
        # If the server has stopped, the next model call reports it; until then use the upper estimate.
        return estimate_tokens(text) if counted is None else counted

    return count


@lru_cache(maxsize=4096)
def estimate_tokens(text: str) -> int:
    """Return an upper estimate of the tokens of a LLaMA-3-like tokenizer: words by their bytes, digits and punctuation by pieces.

    It is about two thirds too high on English prose: suitable to check a window, not to truncate a passage.
    """
    words = sum(max(1.0, len(word.encode()) / BYTES_PER_TOKEN) for word in LETTERS_PATTERN.findall(text))
    between = (piece for part in LETTERS_PATTERN.split(text) for piece in PIECE_PATTERN.findall(part))
    return math.ceil(words) + sum(math.ceil(len(piece.encode()) / BYTES_PER_TOKEN) for piece in between)


@lru_cache(maxsize=4096)
def encoder_tokens(text: str) -> int | None:
    """Return the tokens of the embedded encoder, plus those of white space, which it ignores; None for text in another script.

    Words unknown to it are estimated.
    """
    from ramify.tools.embeddings import load_encoder
    from ramify.tools.embeddings.pretrained import MINILM

    unknown = " ".join(word for word in WORD_PATTERN.findall(text) if not _is_known(word))
    estimated = estimate_tokens(unknown)
    if estimated > MAX_UNKNOWN_SHARE * estimate_tokens(text):
        return None
    space = sum(math.ceil(len(piece) / BYTES_PER_TOKEN) for part in LETTERS_PATTERN.split(text) for piece in re.findall(r"\s+", part))
    known = WORD_PATTERN.sub(lambda word: word[0] if _is_known(word[0]) else " ", text)
    return load_encoder(MINILM).count_tokens(known) + estimated + space


def _is_known(word: str) -> bool:
    return word.isascii() and len(word) <= MAX_KNOWN_WORD_CHARS


@lru_cache(maxsize=4096)
def passage_length(text: str) -> int:
    """Return a passage's length in tokens of the embedded encoder, as an index measures it: no passage that fits there is truncated later.

    It is independent of the model, since with other vocabularies the end of some passages would be truncated.
    """
    from ramify.tools.embeddings import load_encoder
    from ramify.tools.embeddings.pretrained import MINILM

    return load_encoder(MINILM).count_tokens(text)


def truncate_to_tokens(text: str, tokens: int, count: TokenCounter) -> str:
    """Truncate a text to at most `tokens` tokens, at the end of a word if one fits."""
    if count(text) <= tokens:
        return text
    ends = [match.end() for match in WORD_PATTERN.finditer(text)]
    fitting = _fitting_prefix(text, ends, tokens, count)
    return fitting or _fitting_prefix(text, range(1, (ends or [0])[0] + 1), tokens, count)


def _fitting_prefix(text: str, ends: "list[int] | range", tokens: int, count: TokenCounter) -> str:
    """Return the longest prefix that fits; since a longer text may have fewer tokens, it steps back from the bisected position."""
    last = bisect_right(ends, tokens, key=lambda end: count(text[:end]))
    while last and count(text[: ends[last - 1]]) > tokens:
        last -= 1
    return text[: ends[last - 1]] if last else ""


MIN_PROMPT_TOKENS = 1000
"""Least estimated tokens of a prompt to learn from; in shorter ones the chat template's tokens dominate."""
MAX_TEMPLATE_TOKENS = 512
"""Most tokens that a server's template adds to a prompt, which has no more tokens than bytes."""
MIN_REPORTED_SHARE = 0.75
"""A report with a lower ratio to the encoder's tokens does not count the whole prompt."""
RATIO_STEPS = 50
"""Ratios are rounded up to a multiple of 1 / RATIO_STEPS, so that they settle after a few prompts."""
MAX_MODELS = 64
"""Models whose ratios are stored, the latest ones."""
MAX_RATIO = 4.0
"""The highest possible ratio: the estimate has a token for three bytes, and a token has at least one byte."""


class Ratios(NamedTuple):
    """The highest observed ratios of reported tokens to those counted here."""

    estimate: float = 1.0
    """To the careful estimate, not below 1."""
    encoder: float | None = None
    """To the embedded encoder's tokens of ordinary English text, not below 1; None where nothing was learned."""

    def combined(self, other: "Ratios") -> "Ratios":
        """Return the higher of each."""
        known = [ratio for ratio in (self.encoder, other.encoder) if ratio is not None]
        return Ratios(max(self.estimate, other.estimate), max(known, default=None))


KNOWN_AT_START: ContextVar[Mapping[str, Ratios] | None] = ContextVar("ramify_known_at_start", default=None)
"""The ratios at the start of a reproducible run (`ramify eval`): ratios learned meanwhile may raise a count, never lower it."""


class LearnedCount:
    """The learned token counter of one model, shared by all callers at the same server."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._learned = stored_ratios().get(name, Ratios())
        self._lock = threading.Lock()

    @property
    def ratios(self) -> Ratios:
        """Return the ratios in effect."""
        known = KNOWN_AT_START.get()
        if known is None:
            return self._learned
        first = known.get(self._name, Ratios())
        return first.combined(self._learned if first.encoder is not None else self._learned._replace(encoder=None))

    def __call__(self, text: str) -> int:
        """Return an upper estimate of the model's tokens, by its server's reports so far."""
        ratios = self.ratios
        careful = math.ceil(estimate_tokens(text) * ratios.estimate)
        known = None if ratios.encoder is None else encoder_tokens(text)
        return careful if known is None or ratios.encoder is None else min(careful, math.ceil(known * ratios.encoder))

    def learn(self, texts: Sequence[str], reported: int, filled: bool) -> None:
        """Update the ratios from the reported tokens of a prompt; `filled`: whether they reach the window. Blocking."""
        careful = sum(map(estimate_tokens, texts))
        if not careful or reported > sum(len(text.encode("utf-8", "replace")) for text in texts) + MAX_TEMPLATE_TOKENS:
            return  # the report counts something else
        if filled and sum(map(self, texts)) < reported:
            reported = max(reported, careful)  # the true number is unknown, and may be higher
        elif filled or careful < MIN_PROMPT_TOKENS:
            return
        ratios = Ratios(_round_up(reported / careful))
        by_script = [(encoder_tokens(text), estimate_tokens(text)) for text in texts]
        foreign = sum(length for known, length in by_script if known is None)
        known = foreign + sum(known for known, _ in by_script if known is not None)
        if foreign <= MAX_UNKNOWN_SHARE * careful and reported >= MIN_REPORTED_SHARE * known:
            ratios = ratios._replace(encoder=_round_up(reported / known))
        with self._lock:
            combined = self._learned.combined(ratios)
            if combined != self._learned:
                self._learned = combined
                _store_ratios(self._name, combined)


def stored_ratios() -> dict[str, Ratios]:
    """Return the stored ratios of each model, by its name and address; empty if the file cannot be read."""
    try:
        return read_ratios(json.loads(ratios_path().read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}


def read_ratios(value: object) -> dict[str, Ratios]:
    """Return ratios parsed from JSON, by the model's name and address; invalid ones are skipped."""
    entries = value.items() if isinstance(value, dict) else ()
    return {name: Ratios(**ratios) for name, ratios in entries if isinstance(ratios, dict) and _is_valid(ratios)}


def ratios_path() -> Path:
    """Return the file of stored ratios."""
    return cache_folder() / "tokens.json"


def _store_ratios(name: str, ratios: Ratios) -> None:
    stored = stored_ratios()
    latest = {**stored, name: stored.pop(name, Ratios()).combined(ratios)}
    text = json.dumps({model: latest[model]._asdict() for model in list(latest)[-MAX_MODELS:]}, indent=1)
    # Without a writable folder, each process learns by itself.
    with suppress(OSError, InputError):
        ratios_path().parent.mkdir(parents=True, exist_ok=True)
        write_atomically(text, ratios_path())


def _is_valid(ratios: Mapping[str, object]) -> bool:
    values = [value for name, value in ratios.items() if (name, value) != ("encoder", None)]
    return ratios.keys() == set(Ratios._fields) and all(isinstance(value, int | float) and 1 <= value <= MAX_RATIO for value in values)


def _round_up(ratio: float) -> float:
    return min(max(1.0, math.ceil(ratio * RATIO_STEPS) / RATIO_STEPS), MAX_RATIO)

"""Counting tokens: a window is guarded by the model's own count or a careful estimate, a passage is measured as the index measures it."""

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

from ramify.tools.atomic_file import write_whole
from ramify.tools.cache_folder import cache_folder
from ramify.tools.errors import InputError
from ramify.tools.models.server_info import tokenizer_of

Count = Callable[[str], int]

WORDS = re.compile(r"\S+")
LETTERS = re.compile(r"[^\S\r\n]?[^\W\d_]+")
PIECES = re.compile(r"\d{1,3}|\s*[\r\n]+|\s+|[^\w\s]+|_+")
BYTES_PER_TOKEN = 3
"""Of ordinary English a LLaMA 3 token covers more than four bytes, of Korean about four and a half."""
LONGEST_WORD = 64
"""The encoder's tokenizer takes a word that is much longer, and one in letters that it does not know, for a single token."""
ORDINARY = 0.1
"""Share of such words in a text that the encoder can still count."""


def counter(chat: BaseChatModel, otherwise: Count | None = None) -> Count:
    """Choose how to count a model's tokens, `otherwise` where nobody tells. The count may ask the model's server: call it outside the loop.

    Nothing is fetched from a hub, and LangChain's own count (another model's tokenizer, downloaded) is never used.
    """
    if chat.custom_get_token_ids is not None:
        own = chat.custom_get_token_ids
        return lru_cache(maxsize=4096)(lambda text: len(own(text)))
    tokenizer = tokenizer_of(chat)
    if tokenizer is None:
        return otherwise or estimate

    @lru_cache(maxsize=4096)
    def count(text: str) -> int:
        told = tokenizer.count(text)
        # A server that stopped answering is reported by the call that follows; until then the estimate errs on the safe side.
        return estimate(text) if told is None else told

    return count


@lru_cache(maxsize=4096)
def estimate(text: str) -> int:
    """Count no less than a LLaMA-3-like tokenizer would on ordinary text: words by their bytes, digits and signs by pieces.

    About two thirds too much on English prose: good to guard a window, too much to cut a passage by.
    """
    words = sum(max(1.0, len(word.encode()) / BYTES_PER_TOKEN) for word in LETTERS.findall(text))
    between = (piece for part in LETTERS.split(text) for piece in PIECES.findall(part))
    return math.ceil(words) + sum(math.ceil(len(piece.encode()) / BYTES_PER_TOKEN) for piece in between)


@lru_cache(maxsize=4096)
def by_encoder(text: str) -> int | None:
    """Count ordinary text by the embedded encoder's tokenizer, and the white space it passes over; None for text in another script.

    Single words that it does not know are estimated.
    """
    from ramify.tools.embeddings import load_encoder
    from ramify.tools.embeddings.sentence_encoder import MINILM

    unknown = " ".join(word for word in WORDS.findall(text) if not _known(word))
    estimated = estimate(unknown)
    if estimated > ORDINARY * estimate(text):
        return None
    space = sum(math.ceil(len(piece) / BYTES_PER_TOKEN) for part in LETTERS.split(text) for piece in re.findall(r"\s+", part))
    known = WORDS.sub(lambda word: word[0] if _known(word[0]) else " ", text)
    return load_encoder(MINILM).count_tokens(known) + estimated + space


def _known(word: str) -> bool:
    return word.isascii() and len(word) <= LONGEST_WORD


@lru_cache(maxsize=4096)
def passage_length(text: str) -> int:
    """Count the tokens of a passage with the embedded encoder's tokenizer, as an index does: no passage that fitted there is cut later.

    Whichever model reads it: other vocabularies count some passages longer, and would cut the end of what the index holds.
    """
    from ramify.tools.embeddings import load_encoder
    from ramify.tools.embeddings.sentence_encoder import MINILM

    return load_encoder(MINILM).count_tokens(text)


def cut(text: str, tokens: int, count: Count) -> str:
    """Trim a text to at most so many tokens, at the end of a word where a word fits."""
    if count(text) <= tokens:
        return text
    ends = [match.end() for match in WORDS.finditer(text)]
    fitting = _prefix(text, ends, tokens, count)
    return fitting or _prefix(text, range(1, (ends or [0])[0] + 1), tokens, count)


def _prefix(text: str, ends: "list[int] | range", tokens: int, count: Count) -> str:
    """Find the longest prefix that fits; a tokenizer may count a longer text lower, hence the steps back."""
    last = bisect_right(ends, tokens, key=lambda end: count(text[:end]))
    while last and count(text[: ends[last - 1]]) > tokens:
        last -= 1
    return text[: ends[last - 1]] if last else ""


LEAST = 1000
"""Estimated tokens of a prompt that is learned from: in a shorter one the chat template's own tokens weigh too much."""
TEMPLATE = 512
"""Tokens that a server's template may add; a prompt has no more tokens than bytes and these."""
PROOF = 0.75
"""A model with fewer tokens than so many for one of the encoder's did not read the whole prompt."""
STEPS = 50
"""Ratios are rounded up to such a part of one, so that they settle after a few prompts."""
MOST = 64
"""Models that are remembered, the latest ones."""
HIGHEST = 4.0
"""No ratio is higher: the estimate has a token for three bytes, and a token has one byte or more."""


class Ratios(NamedTuple):
    """The highest ratios of reported tokens to those counted here."""

    estimate: float = 1.0
    """To the careful estimate, not below 1."""
    encoder: float | None = None
    """To the embedded encoder's tokens of ordinary English text, not below 1; None where nothing was learned."""

    def raised(self, other: "Ratios") -> "Ratios":
        """Give the higher of each."""
        known = [ratio for ratio in (self.encoder, other.encoder) if ratio is not None]
        return Ratios(max(self.estimate, other.estimate), max(known, default=None))


KNOWN_AT_START: ContextVar[Mapping[str, Ratios] | None] = ContextVar("ramify_known_at_start", default=None)
"""What a run that is to be repeatable goes by (`ramify eval`): meanwhile what is learned may raise a count, and does not lower it."""


class LearnedCount:
    """Count the tokens of one model's texts; shared by all who call it at the same server."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._learned = kept_ratios().get(name, Ratios())
        self._lock = threading.Lock()

    @property
    def ratios(self) -> Ratios:
        """Give what counts now."""
        known = KNOWN_AT_START.get()
        if known is None:
            return self._learned
        first = known.get(self._name, Ratios())
        return first.raised(self._learned if first.encoder is not None else self._learned._replace(encoder=None))

    def __call__(self, text: str) -> int:
        """Count no less than the model's tokens, as far as its server's reports have shown."""
        ratios = self.ratios
        careful = math.ceil(estimate(text) * ratios.estimate)
        known = None if ratios.encoder is None else by_encoder(text)
        return careful if known is None or ratios.encoder is None else min(careful, math.ceil(known * ratios.encoder))

    def learn(self, texts: Sequence[str], reported: int, filled: bool) -> None:
        """Learn from the reported tokens of a prompt; `filled`: they reach its window. Blocking."""
        careful = sum(map(estimate, texts))
        if not careful or reported > sum(len(text.encode("utf-8", "replace")) for text in texts) + TEMPLATE:
            return  # it counts something else
        if filled and sum(map(self, texts)) < reported:
            reported = max(reported, careful)  # how many more it has is not known: nothing is saved on such a prompt
        elif filled or careful < LEAST:
            return
        ratios = Ratios(_rounded(reported / careful))
        by_script = [(by_encoder(text), estimate(text)) for text in texts]
        foreign = sum(length for known, length in by_script if known is None)
        known = foreign + sum(known for known, _ in by_script if known is not None)
        if foreign <= ORDINARY * careful and reported >= PROOF * known:
            ratios = ratios._replace(encoder=_rounded(reported / known))
        with self._lock:
            raised = self._learned.raised(ratios)
            if raised != self._learned:
                self._learned = raised
                _keep(self._name, raised)


def kept_ratios() -> dict[str, Ratios]:
    """Read what was learned of each model, by its name and address; a file that cannot be read holds nothing."""
    try:
        return read_ratios(json.loads(kept_in().read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}


def read_ratios(told: object) -> dict[str, Ratios]:
    """Read ratios as JSON has them, each a dictionary by the model's name and address; what is no such is left out."""
    entries = told.items() if isinstance(told, dict) else ()
    return {name: Ratios(**ratios) for name, ratios in entries if isinstance(ratios, dict) and _valid(ratios)}


def kept_in() -> Path:
    """Name the file of what was learned."""
    return cache_folder() / "tokens.json"


def _keep(name: str, ratios: Ratios) -> None:
    kept = kept_ratios()
    latest = {**kept, name: kept.pop(name, Ratios()).raised(ratios)}
    text = json.dumps({one: latest[one]._asdict() for one in list(latest)[-MOST:]}, indent=1)
    # Without a folder that can be written to, each process learns anew.
    with suppress(OSError, InputError):
        kept_in().parent.mkdir(parents=True, exist_ok=True)
        write_whole(text, kept_in())


def _valid(ratios: Mapping[str, object]) -> bool:
    sound = {name for name, value in ratios.items() if isinstance(value, int | float) and 1 <= value <= HIGHEST}
    absent = {name for name, value in ratios.items() if name == "encoder" and value is None}
    return ratios.keys() == set(Ratios._fields) == sound | absent


def _rounded(ratio: float) -> float:
    return min(max(1.0, math.ceil(ratio * STEPS) / STEPS), HIGHEST)

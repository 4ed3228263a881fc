"""How many tokens a model makes of a text, learned from the counts that its server reports, where there is no tokenizer to ask (Ollama).

A text is bounded twice: by the careful estimate, and, ordinary text in English letters, by the tokens of the embedded encoder. Each bound
is multiplied by the highest ratio of reported tokens to it that was seen, but at least by 1; of the two results the lower one counts. So
no prompt that was reported whole is counted lower than it was. Code, tables, chemistry and German take fewer tokens of a language model for
each of the encoder's than English prose does (measured with the tokenizers of LLaMA 3, Mistral 7B and Mistral Nemo), so a ratio learned
from prose is a bound for them, too. Text in another script has no second bound, and nothing learned from English lowers its estimate. Until
a prompt was reported there is no second bound at all: the careful estimate stands, which is about two thirds too high for English.

A cached prompt is under-counted by some servers, and never over-counted: hence the highest ratio, and hence a report below `PROOF` of the
encoder's tokens proves nothing.
"""

import json
import math
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from ramify.tools.atomic_file import write_whole
from ramify.tools.cache_folder import cache_folder
from ramify.tools.errors import InputError
from ramify.tools.models.tokens import ORDINARY, by_encoder, estimate

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

"""A profile: below which confidence answers are withheld, for a risk that was promised, and how confidences are fitted.

`ramify calibrate` writes one as a small JSON file; whoever asks with it (`profile`) has both applied to the result.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from ramify.tools.errors import InputError
from ramify.tools.quoting import brief, one_line
from ramify.tools.typed import usable

LARGEST = 2**20
"""Bytes of a file that is read: any profile is smaller."""
_QUOTED = 60
REMEDY = "make one with `ramify calibrate RUN --risk 0.1`"
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Name = Annotated[str, Field(max_length=500)]
Curve = tuple[tuple[float, float], ...]
"""Points from a confidence to the share of right answers, straight between them."""


def fitted(curve: Curve, confidence: float) -> float:
    """Return a confidence as the curve fits it; as it is without one."""
    import numpy as np

    return float(np.interp(confidence, [x for x, _ in curve], [y for _, y in curve])) if curve else confidence


def _never_falls(curve: Curve) -> Curve:
    if any(after[0] <= before[0] or after[1] < before[1] for before, after in pairwise(curve)):
        raise ValueError("a curve goes to the right and never falls")
    return curve


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Origin(_Part):
    """What a profile was made of."""

    run: Name
    """The name of the run's folder."""
    strategy: Name
    variant: Name = ""
    model: Name
    settings: dict[Name, JsonValue] = {}
    """Those that answers depend on, as the run had them."""
    data: dict[Name, Name] = {}
    """The sha256 of each data set, its questions and documents together."""
    indexes: tuple[Name, ...] = ()
    """The digests of what was searched; empty where the run does not tell."""
    type: Name = ""
    """The only type of questions that it was calibrated on; empty for all."""


class Profile(_Part):
    """A threshold on confidence with what it promises, and a curve from confidence to how often such an answer is right."""

    version: Literal[1] = 1
    made_of: Origin
    bound: Literal["asked", "answered"]
    """Whether wrong answers are counted among all questions asked, in expectation, or among those answered, with probability 1 - delta."""
    risk: Share
    delta: Share
    seed: int
    split: Share
    """The share of the questions that it was calibrated on; the others checked it."""
    questions: int = Field(ge=1)
    threshold: Share
    """An answer is given where its confidence, before it is fitted, is above this."""
    tau: Share | None = None
    """The tau that a sweep recommends, for questions that set none."""
    fit: Literal["isotonic", "platt", "none"] = "none"
    curve: Annotated[tuple[tuple[Share, Share], ...], Field(max_length=20_000), AfterValidator(_never_falls)] = ()
    types: dict[Name, Share | None] = {}
    """The threshold of each type of question; None where none keeps the bound."""
    figures: dict[Name, float | None] = {}
    """What was measured, on the questions calibrated on and on the others."""

    @property
    def promise(self) -> str:
        """Say what the threshold promises."""
        share = f"at most {100 * self.risk:g} % of"
        if self.bound == "asked":
            return f"{share} all questions asked are answered wrongly, in expectation"
        return f"{share} the answers given are wrong, with a probability of {100 * (1 - self.delta):g} %"

    def withholds(self, confidence: float) -> bool:
        """Return whether an answer of this confidence, before it is fitted, is withheld."""
        return confidence <= self.threshold

    def fitted(self, confidence: float) -> float:
        """Return how often an answer of this confidence is right, by the curve; the confidence as it is without one."""
        return fitted(self.curve, confidence)

    def differences(self, strategy: str, model: str, index: str | None, settings: Mapping[str, Any]) -> list[str]:
        """List in what a question differs from those calibrated on; an empty strategy, and an index of None, are not compared."""
        made = self.made_of
        told: list[tuple[str, Any, Any]] = [("strategy", made.strategy, strategy or made.strategy), ("model", made.model, model)]
        told += [(name, value, settings[name]) for name, value in made.settings.items() if name in settings]
        found = [f"{name} {_brief(now)}, not {_brief(was)}" for name, was, now in told if now != was]
        return [*found, "another index"] if index is not None and made.indexes and index not in made.indexes else found

    @classmethod
    def read(cls, content: bytes) -> Self:
        """Return the profile in a file's content; ValueError where it is none."""
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(brief(one_line(f"{place}: {first['msg']}" if place else first["msg"]), 2 * _QUOTED)) from None


def _brief(value: object) -> str:
    return brief(one_line(value), _QUOTED)


def load_profile(given: str | Path | Profile) -> Profile:
    """Return a profile, from its file where it is given by a path; InputError where that cannot be read, or is none."""
    if isinstance(given, Profile):
        return given
    path = usable(given)
    try:
        state = path.stat()
        if not path.is_file() or state.st_size > LARGEST:
            raise ValueError("it is no file" if not path.is_file() else "it is larger than any profile")
        return _loaded(path.absolute(), state.st_mtime_ns, state.st_size)
    except OSError as error:
        raise InputError(f"the profile {str(path)!r} cannot be read ({error.strerror or error})", REMEDY) from error
    except ValueError as error:
        raise InputError(f"{str(path)!r} is no profile ({error})", REMEDY) from error


@lru_cache(maxsize=16)
def _loaded(path: Path, changed: int, size: int) -> Profile:
    """Read a file once after each change."""
    return Profile.read(path.read_bytes())

"""A calibration profile: the confidence below which answers are withheld for a guaranteed risk, and a curve that calibrates confidences.

`ramify calibrate` writes one as a small JSON file; the setting `profile` applies it to results.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, JsonValue, ValidationError

from ramify.tools.errors import InputError
from ramify.tools.quoting import one_line, truncate_line
from ramify.tools.user_input import expand_path

MAX_PROFILE_BYTES = 2**20
"""Larger files are rejected."""
_MAX_QUOTED_CHARS = 60
PROFILE_REMEDY = "make one with `ramify calibrate RUN --risk 0.1`"
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
ShortText = Annotated[str, Field(max_length=500)]
Curve = tuple[tuple[float, float], ...]
"""Points (confidence, share of right answers), interpolated linearly."""


def apply_curve(curve: Curve, confidence: float) -> float:
    """Return a confidence calibrated by a curve; unchanged if the curve is empty."""
    import numpy as np

    return float(np.interp(confidence, [x for x, _ in curve], [y for _, y in curve])) if curve else confidence


def _check_monotonic(curve: Curve) -> Curve:
    if any(after[0] <= before[0] or after[1] < before[1] for before, after in pairwise(curve)):
        raise ValueError("the points of a curve must increase in confidence and never decrease in value")
    return curve


class _FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Origin(_FrozenModel):
    """The run that a profile was calibrated on."""

    run: ShortText
    """The name of the run's folder."""
    strategy: ShortText
    variant: ShortText = ""
    model: ShortText
    settings: dict[ShortText, JsonValue] = {}
    """The settings of the run that answers depend on."""
    data: dict[ShortText, ShortText] = {}
    """The sha256 of each data set, its questions and documents together."""
    indexes: tuple[ShortText, ...] = ()
    """The digests of the indexes searched; empty if the run did not record them."""
    type: ShortText = ""
    """The type of questions that it was calibrated on; empty for all."""


class Profile(_FrozenModel):
    """A threshold on confidence with its guarantee, and a curve from confidence to the probability of a right answer."""

    version: Literal[1] = 1
    made_of: Origin
    bound: Literal["asked", "answered"]
    """Whether wrong answers are counted among all questions asked, in expectation, or among those answered, with probability 1 - delta."""
    risk: Fraction
    delta: Fraction
    seed: int
    split: Fraction
    """The share of questions used for calibration; the others validated it."""
    questions: int = Field(ge=1)
    threshold: Fraction
    """Answers are given if their confidence, before the curve is applied, is above this."""
    tau: Fraction | None = None
    """The tau recommended by a sweep, used where none is set."""
    fit: Literal["isotonic", "platt", "none"] = "none"
    curve: Annotated[tuple[tuple[Fraction, Fraction], ...], Field(max_length=20_000), AfterValidator(_check_monotonic)] = ()
    types: dict[ShortText, Fraction | None] = {}
    """The threshold of each type of question; None if no threshold satisfies the bound."""
    figures: dict[ShortText, FiniteFloat | None] = {}
    """Measurements on the questions used for calibration and on the others."""

    @property
    def promise(self) -> str:
        """Return the guarantee of the threshold as a sentence."""
        share = f"at most {100 * self.risk:g} % of"
        if self.bound == "asked":
            return f"{share} all questions asked are answered wrongly, in expectation"
        return f"{share} the answers given are wrong, with a probability of {100 * (1 - self.delta):g} %"

    def withholds(self, confidence: float) -> bool:
        """Return whether an answer of this confidence, before the curve is applied, is withheld."""
        return confidence <= self.threshold

    def fitted(self, confidence: float) -> float:
        """Return the calibrated confidence; unchanged without a curve."""
        return apply_curve(self.curve, confidence)

    def differences(self, strategy: str, model: str, index: str | None, settings: Mapping[str, Any]) -> list[str]:
        """List the differences from the calibrated run; an empty strategy and an index of None are not compared."""
        made = self.made_of
        values: list[tuple[str, Any, Any]] = [("strategy", made.strategy, strategy or made.strategy), ("model", made.model, model)]
        values += [(name, value, settings[name]) for name, value in made.settings.items() if name in settings]
        differences = [f"{name} {_truncated(now)}, not {_truncated(was)}" for name, was, now in values if now != was]
        return [*differences, "another index"] if index is not None and made.indexes and index not in made.indexes else differences

    @classmethod
    def read(cls, content: bytes) -> Self:
        """Return the profile in a file's content; ValueError if it is not valid."""
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            location = ".".join(map(str, first["loc"]))
            raise ValueError(
                truncate_line(one_line(f"{location}: {first['msg']}" if location else first["msg"]), 2 * _MAX_QUOTED_CHARS)
            ) from None


def _truncated(value: object) -> str:
    return truncate_line(one_line(value), _MAX_QUOTED_CHARS)


def load_profile(given: str | Path | Profile) -> Profile:
    """Return a profile, read from its file if a path is given; InputError if that cannot be read or is not valid."""
    if isinstance(given, Profile):
        return given
    path = expand_path(given)
    try:
        state = path.stat()
        if not path.is_file() or state.st_size > MAX_PROFILE_BYTES:
            raise ValueError("it is not a file" if not path.is_file() else f"it is larger than {MAX_PROFILE_BYTES:,} bytes")
        return _load_cached(path.absolute(), state.st_mtime_ns, state.st_size)
    except OSError as error:
        raise InputError(f"the profile {str(path)!r} cannot be read ({error.strerror or error})", PROFILE_REMEDY) from error
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not a valid profile ({error})", PROFILE_REMEDY) from error


@lru_cache(maxsize=16)
def _load_cached(path: Path, changed: int, size: int) -> Profile:
    """Read a file once after each change."""
    return Profile.read(path.read_bytes())

"""The large reader: the same heads on all-mpnet-base-v2, whose upper layers are changed by matrices of low rank (Hu et al. 2021).

The encoder is downloaded; the changes and the heads ship with the package. It reads where it is chosen, and only English.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from ramify.tools.reader.calibration import CalibrationWeights

if TYPE_CHECKING:
    from torch import Tensor

LARGE_WEIGHTS_FILE: Final = "large.safetensors"
LARGE_WEIGHTS_SHA256 = "803c6e39ccd6fcc1d3e6061770f7180421e454690e05a3bd05706861ce70799a"
LARGE_SPAN_WEIGHTS: Final[CalibrationWeights] = (0.314, 0.972, -0.265, 0.011, -0.807)
"""As in `calibration`, fitted to this reader."""
LARGE_YES_NO_WEIGHTS: Final[CalibrationWeights] = (0.145, 0.228, -0.263, 0.029, 0.251)
DOWN_SUFFIX, UP_SUFFIX = ".down", ".up"
"""Ends of the names of the two thin matrices whose product, up times down, changes a layer's weight."""
_SELECTED: ContextVar[bool] = ContextVar("ramify_large_reader", default=False)


def is_large_selected() -> bool:
    """Return whether to read with it."""
    return _SELECTED.get()


@contextmanager
def select_large(selected: bool) -> Iterator[None]:
    """Read with it meanwhile, or with the small one."""
    token = _SELECTED.set(selected)
    try:
        yield
    finally:
        _SELECTED.reset(token)


def apply_low_rank(weights: "Mapping[str, Tensor]", changes: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """Return the weights that are changed, by name, in the numbers that they are in."""
    found = {}
    for name, down in changes.items():
        if name.endswith(DOWN_SUFFIX):
            layer = name.removesuffix(DOWN_SUFFIX)
            weight = weights[f"{layer}.weight"]
            found[f"{layer}.weight"] = (weight.float() + changes[layer + UP_SUFFIX].float() @ down.float()).to(weight.dtype)
    return found

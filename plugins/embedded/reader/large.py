"""The large reader: the same heads on all-mpnet-base-v2, whose upper layers have low-rank updates (LoRA, Hu et al. 2021).

The encoder is downloaded; the updates and the heads are installed with the package. It reads English only, if it is selected.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ramify.embedded.reader.calibration import CalibrationWeights

if TYPE_CHECKING:
    from torch import Tensor

LARGE_WEIGHTS_FILE: Final = "large.safetensors"
LARGE_WEIGHTS_SHA256 = "803c6e39ccd6fcc1d3e6061770f7180421e454690e05a3bd05706861ce70799a"
LARGE_SPAN_WEIGHTS: Final[CalibrationWeights] = (0.314, 0.972, -0.265, 0.011, -0.807)
"""Calibration weights fitted to this reader, as in `calibration`."""
LARGE_YES_NO_WEIGHTS: Final[CalibrationWeights] = (0.145, 0.228, -0.263, 0.029, 0.251)
DOWN_SUFFIX, UP_SUFFIX = ".down", ".up"
"""Suffixes of the names of the two low-rank matrices whose product, up @ down, is added to a layer's weight."""


def apply_low_rank(weights: "Mapping[str, Tensor]", changes: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """Return the updated weights, by name, in their own dtype."""
    updated = {}
    for name, down in changes.items():
        if name.endswith(DOWN_SUFFIX):
            layer = name.removesuffix(DOWN_SUFFIX)
            weight = weights[f"{layer}.weight"]
            updated[f"{layer}.weight"] = (weight.float() + changes[layer + UP_SUFFIX].float() @ down.float()).to(weight.dtype)
    return updated

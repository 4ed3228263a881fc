"""The strategy where none is named: `prune`, and `split` for a small language model."""

from collections.abc import Mapping
from typing import Any

from ramify.graphs.strategies import DEFAULT, configure
from ramify.nodes.asking.ask import answerer_class, is_small
from ramify.nodes.settings import EMBEDDED
from ramify.tools.errors import ModelError, UsageError

FOR_SMALL = "split"


def choose_strategy(options: Mapping[str, Any]) -> str:
    """Return the strategy for a question without a named one, by the model and settings in its options; blocking.

    A small language model seldom splits a question, or splits it wrongly: it reads better what the embedded model's writer splits.
    """
    try:
        small = is_small(configure(FOR_SMALL, options)[1])
    except (UsageError, ModelError):  # which the question itself will report
        return DEFAULT
    return FOR_SMALL if small and answerer_class(EMBEDDED).splits else DEFAULT

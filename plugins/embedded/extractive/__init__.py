"""The embedded model, with no language model in it: an encoder, small trained networks and arithmetic.

`model` maps each prompt's name to the function that replies to it: in `answers`, `questions`, `follow_ups` (with the rules of
`references`), `findings` and `overviews`. `questions` also detects questions that cannot be read or that no phrase answers; `quotations`
returns lines to show instead.
"""

from collections.abc import Mapping
from typing import Any

__all__: list[str] = []


Slots = Mapping[str, Any]
"""The values of a prompt's slots."""
ReplyFields = dict[str, Any]
"""The values of a reply's fields."""

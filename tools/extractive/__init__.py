"""The embedded model, with no language model in it: an encoder, small trained networks and arithmetic.

`model` maps each prompt's name to the function that replies to it: in `answers`, `questions`, `chains`, `findings` and `quotations`;
`listed` quotes steps, lists and explanations. `questions` also detects questions that cannot be read, `kinds` those that no phrase answers.
"""

from collections.abc import Mapping
from typing import Any

__all__: list[str] = []


Slots = Mapping[str, Any]
"""The values a prompt is filled with, by slot."""
Reply = dict[str, Any]
"""The values of a reply, by field."""

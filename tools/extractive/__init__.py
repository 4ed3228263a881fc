"""A chat model with no language model in it: an encoder, small trained networks and arithmetic.

* `model` finds the function that answers a prompt; `prompt_messages` are read and written, `question_kinds` told apart
* replies: `answering`, `asking`, `weighing`, `finalize` from `findings`, `overview`, `building`
* `closest` gives the sentences that come nearest, where there is no answer
"""

from ramify.tools.extractive.model import Extractive
from ramify.tools.extractive.question_kinds import objection

__all__ = ["Extractive", "objection"]

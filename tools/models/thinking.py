"""Models that think before they answer: how one is asked not to, and by which way it is asked on where that does not help.

The prompts ask for a short thought of their own. One beside it takes tokens from the reply, which is then cut off.
"""

from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from ramify.tools.models.reply_parsing import Structured

SHARE = 4
"""A thought may take one token of so many in the window."""
MOST = 4096


@dataclass(frozen=True)
class Way:
    """One way of asking a model that may think."""

    think: bool | str | None = None
    """What Ollama is told of thinking; None for nothing."""
    thinks: bool = False
    """Whether a thought is to be expected, and room to be left for it."""
    in_form: bool = True
    """Whether the server is asked to hold the reply to its form."""
    notice: str = ""
    """What the result says of it."""


PLAIN = Way()
OFF = Way(False)
IN_WORDS = Way(
    False, in_form=False, notice="{name} does not hold its replies to their form while its thinking is off: they are read from its text"
)
ANYWAY = Way(True, thinks=True, notice="{name} thinks although it was asked not to: {more}")
LET = Way(True, thinks=True, notice="{name} does not reply in JSON while its thinking is off: it is let think, and {more}")
LITTLE = Way("low", thinks=True, notice="{name} cannot be asked not to think: it is asked to think little, and {more}")
UNTOLD = Way(thinks=True, notice="{name} cannot be told whether to think: {more}")
SEEN = Way(thinks=True, notice="{name} thinks before it replies: {more}")

REFUSED = {OFF: LITTLE, IN_WORDS: LITTLE, ANYWAY: LITTLE, LET: LITTLE, LITTLE: UNTOLD}
"""How to go on where a server refuses what it is told of thinking."""


LONGEST = ("num_predict", "max_tokens", "max_output_tokens")
"""What the clients call the bound of a reply."""


def asking(chat: BaseChatModel, way: Way, longest: int) -> BaseChatModel:
    """Give the model as it is asked by a way, for a reply of at most so many tokens."""
    wanted = dict.fromkeys(LONGEST, longest) | ({} if way.think is None else {"reasoning": way.think})
    return chat.model_copy(update={name: value for name, value in wanted.items() if name in type(chat).model_fields})


def following(way: Way, asked: Structured) -> Way:
    """Tell by which way to ask next, after what a reply has shown."""
    if way is PLAIN:
        return SEEN if asked.thought and asked.cut_off else PLAIN
    if way not in (OFF, IN_WORDS):
        return way
    if asked.thought:
        return ANYWAY
    if asked.parsed is None and not (asked.cut_off and asked.bare):  # whole and held to its form, it could have been read
        return LET
    return way if asked.bare else IN_WORDS


def allowance(window: int | None) -> int:
    """Tell how many tokens a thought may take in a window."""
    return min((window or 0) // SHARE, MOST)

"""Whether a question asks for more than a phrase: how something is done, or all of something."""

import re
from typing import Literal

Kind = Literal["how to", "list", ""]

_PERSON = r"(?:i|you|we|one|someone|somebody|people|users?|an? \w+)"
_HOW_TO = re.compile(
    rf"(?:and |so |then )?(?:how (?:do|can|could|should|would|may|might|must|does|shall) {_PERSON}\b|how (?:best )?to\b"
    r"|what (?:is|are|would be|'s) (?:the|a) (?:\w+ )?(?:way|ways|steps?|procedure) (?:to|of|for)\b"
    r"|(?:explain|describe|tell me|show me) how\b)",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"(?:please )?(?:list|enumerate)\b"
    r"|(?:please )?(?:name|give|tell|show|find)(?: me| us)? (?:all|every|each|a list|the list|the names of all)\b"
    r"|(?:what|which) are (?:all|the (?:available|different|possible|supported|valid|various|permitted|allowed))\b"
    r"|(?:what|which) (?:[\w-]+ ){1,6}?(?:are there|are (?:available|supported|possible|allowed))\b",
    re.IGNORECASE,
)


def open_ended(question: str) -> Kind:
    """Say what kind of question it is that no phrase answers; nothing for one that asks for a fact."""
    text = " ".join(question.split())
    if _HOW_TO.match(text):
        return "how to"
    return "list" if _LIST.match(text) else ""

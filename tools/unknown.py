"""Whether an answer says that it is not known, in any of the ways in which models write that."""

import re

UNKNOWN = "Unknown"

_DOCUMENTS = r"(?:passages?|documents?|texts?|articles?|sources?|contexts?|excerpts?|evidence|findings|information|corpus|question)"
_THE = r"(?:(?:any|all|none|of|the|these|those|this|given|provided|available|retrieved|above|supplied|search) )*"
_THEY = rf"{_THE}{_DOCUMENTS}"
_WITHIN = rf"(?: (?:in|by|from|within|based on|according to) {_THEY}(?: (?:provided|given|above|alone))?)?"
_PLAINLY = r"(?:(?:explicitly|directly|clearly|specifically) )?"
_TOLD = (
    r"(?:mentioned|specified|stated|given|provided|found|known|available|indicated|disclosed|reported|listed|included|described|discussed|"
    r"addressed|answered|determined|present|contained|clear|said|revealed|named|identified|applicable)"
)
_SAY = r"(?:say|state|mention|specify|tell|indicate|answer|reveal|disclose|name|identify)s?"
_HOLD = r"(?:contain|provide|give|include|have|offer)s?"
_NONE = r"(?:insufficient|not enough|no|no relevant|no sufficient|no specific)"
_MATTER = r"(?:answers?|information|details?|evidence|data|facts?|context|mention)"
_TAIL = r"(?:(?: (?!but\b|however\b|though\b|although\b|yet\b))[^\s;]+)*"
"""What may follow, unless it takes back what was said."""
_ON = rf"(?: (?:to|about|on|regarding|for|as to|of){_TAIL})?"

_WAYS = (
    r"|(?:(?:it|this|that|the answer) is )?(?:unknown|unspecified|undetermined|unanswerable)|n/a",
    rf"(?:there (?:is|was) )?{_NONE} {_MATTER}(?: (?:is|was|are|were))?(?: {_TOLD})?(?:{_WITHIN}|{_ON}{_WITHIN})",
    rf"none (?:is )?{_TOLD}{_WITHIN}",
    rf"(?:(?:it|this|that|(?:the )?answer|{_THEY}) )?(?:is |was |are )?not {_PLAINLY}{_TOLD}{_WITHIN}",
    rf"{_THEY} (?:do|does|did)(?: not|n't) {_PLAINLY}{_SAY}{_TAIL}",
    rf"none of {_THEY} {_SAY}{_TAIL}",
    rf"{_THEY} (?:do|does|did)(?: not|n't) {_PLAINLY}{_HOLD} (?:(?:the|any|an|enough|sufficient|relevant|specific|such) )*{_MATTER}{_TAIL}",
    rf"(?:(?:it|this|that|(?:the |this )?(?:answer|question)) )?(?:can ?not|can't|could not|couldn't) be {_PLAINLY}{_TOLD}{_WITHIN}",
    rf"(?:i )?(?:do not|don't) know(?: {_MATTER}| the answer)?",
    r"(?:i )?(?:do not|don't) have (?:(?:any|enough|sufficient) )?" + _MATTER + _TAIL,
    rf"(?:(?:i am |i'm )?unable to|i (?:can ?not|can't|could not|couldn't)) (?:answer|determine|find|say|tell|identify)"
    rf"(?: (?:the|this|that|it|who|what|when|where|which|how|whether|from|based){_TAIL})?",
)
_SAYS_SO = re.compile("|".join(f"(?:{way})" for way in _WAYS))
_PARTS = re.compile(r"[.,;:()\[\]]+(?:\s|$)|\s[(\[]|\s[-–—]+\s")


def is_unknown(answer: str) -> bool:
    """Tell whether an answer as a whole says that it is not known; a name that has such words in it does not."""
    text = " ".join(answer.casefold().replace("’", "'").split())
    parts = [part.strip(" .!") for part in _PARTS.split(text)]
    return _says_so(text.strip(" .!")) or all(_says_so(part) for part in parts)


def _says_so(text: str) -> bool:
    return _SAYS_SO.fullmatch(text) is not None

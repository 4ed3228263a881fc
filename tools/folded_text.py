"""Text as it is compared: in lower case, without accents and punctuation."""

import re
import unicodedata
from functools import lru_cache

WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


@lru_cache(maxsize=16384)
def fold(text: str) -> str:
    """Bring a text to lower case without accents and punctuation, for comparing names."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return " ".join(WORD.findall(bare.casefold().replace("’s", "").replace("'s", "").replace(".", " ")))

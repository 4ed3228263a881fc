"""Queries of the full-text search: the words of a question, any of which may match."""

import re

_WORD = re.compile(r"[^\W_]+")

_STOP_WORDS = """
a about after all also although am an and any are as at be because been before being between both but by can could did do does
doing during each either for from further had has have having he her here hers him his how i if in into is it its itself just me
more most my no nor not of off on once one only or other our out over own same she should so some such than that the their them
then there these they this those through to too under until up very was we were what when where whether which while who whom whose
why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def query_words(query: str) -> list[str]:
    """Return the words of a question, each once, without stop words unless there is nothing else."""
    words = list(dict.fromkeys(_WORD.findall(query.lower())))
    return [word for word in words if word not in STOP_WORDS] or words


def match_any(query: str) -> str:
    """Write an FTS5 expression that any word of the question satisfies; every word is quoted, so none is an operator."""
    return " OR ".join(f'"{word}"' for word in query_words(query))


def names(query: str, heading: str) -> bool:
    """Tell whether a question has all words of a section's own heading, the last of "A > B"."""
    return set(query_words(heading.rpartition(" > ")[2])) <= set(query_words(query))

"""What an answer rests on: as a value, and how it is made of passages (`citing`)."""

from ramify.nodes.citation.citation import MOST_ALSO, NOT_CITED, Citation, Source

__all__ = ["MOST_ALSO", "NOT_CITED", "Citation", "Source"]

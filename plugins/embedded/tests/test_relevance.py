"""The reader's values by which search results are ranked."""

from ramify.embedded.reader.reading import PassageReading
from ramify.embedded.relevance import relevance_value


def test_the_search_decides_between_what_is_equally_relevant() -> None:
    certain, uncertain = PassageReading(0.9, 0.0, 0.0, (), relevance=0.9), PassageReading(0.1, 0.0, 0.0, (), relevance=0.1)
    assert relevance_value(uncertain, 0) > relevance_value(uncertain, 1)
    assert relevance_value(certain, 3) > relevance_value(uncertain, 0)
    assert relevance_value(certain, 9) < relevance_value(uncertain, 0), "what the search holds for far-fetched stays behind"
    verdict = PassageReading(0.0, 0.1, 0.8, (), relevance=0.9)
    assert relevance_value(verdict, 0) > relevance_value(uncertain, 0), "a yes or no is an answer, too"

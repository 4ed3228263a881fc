"""Questions that rules make from passages: cloze, relations that a paragraph states, claims, agreements of two paragraphs."""

import re

import pytest

from plugins.embedded.training.cloze import cloze_examples
from plugins.embedded.training.example import Example
from plugins.embedded.training.relations import WORDINGS, agreement_examples, claim_examples, find_stated, relation_examples
from plugins.embedded.training.source import Document
from ramify.embedded.reader.reading import add_title
from ramify.tools.english import fold

STATED = [
    ("X (born 1 May 1950) is a French actor.", "date of birth", "1 May 1950"),
    ("X (born 1 May 1950) is a French actor.", "year of birth", "1950"),
    ("X (born 1 May 1950) is a French actor.", "country of citizenship", "French"),
    ("X (born 1 May 1950) is a French actor.", "occupation", "actor"),
    ("X (1 May 1902 – 4 July 1977) was a painter.", "date of birth", "1 May 1902"),
    ("X (1 May 1902 – 4 July 1977) was a painter.", "date of death", "4 July 1977"),
    ("X (1 May 1902 – 4 July 1977) was a painter.", "year of death", "1977"),
    ("X was born in Lyon, France.", "place of birth", "Lyon, France"),
    ("X, who died in Bremen, painted ships.", "place of death", "Bremen"),
    ("X is a 1961 film directed by Odile Marchetti.", "director", "Odile Marchetti"),
    ("X is a 1961 film written and directed by Odile Marchetti. It was long.", "director", "Odile Marchetti"),
    ("X is a 1961 film starring Bruno Tessaly.", "cast member", "Bruno Tessaly"),
    ("X is a 1961 film starring Bruno Tessaly.", "publication date", "1961"),
    ("X is a French drama film.", "country of origin", "French"),
    ("X is a novel by Irena Kolar.", "author", "Irena Kolar"),
    ("X is a company founded by Henk Varga in 1987.", "founded by", "Henk Varga"),
    ("X was founded in 1987.", "inception", "1987"),
    ("X was the son of Tomas Brandl.", "father", "Tomas Brandl"),
    ("X was married to Irena Kolar.", "spouse", "Irena Kolar"),
    ("X studied at Ostrel University.", "educated at", "Ostrel University"),
    ("X was designed by Mirela Okonjo.", "architect", "Mirela Okonjo"),
    ("X was invented by Mirela Okonjo in 1901.", "inventor", "Mirela Okonjo"),
]
UNSTATED = [
    ("X is a bridge over the Ostrel.", "director"),
    ("X was directed by two brothers.", "director"),
    ("X is a harbour.", "date of birth"),
    ("X is a large machine.", "occupation"),
]
TITLES = ("Salt Road", "Glass Ferry", "Paper Harbour", "Iron Orchard", "Tin Lantern", "Clay Harp")
DIRECTORS = ("Odile Marchetti", "Henk Varga", "Tomas Brandl", "Irena Kolar", "Bruno Tessaly", "Odile Marchetti")
NATIONS = ("French", "Hungarian", "German", "Polish", "Italian", "French")
FILMS = [
    Document(
        f"film-{number}", title, f"{title} is a {nation} drama film directed by {director}. It was shown in {1950 + number} in Ostrel."
    )
    for number, (title, director, nation) in enumerate(zip(TITLES, DIRECTORS, NATIONS, strict=True))
]
TOLD = {document.title or "": (director, nation) for document, director, nation in zip(FILMS, DIRECTORS, NATIONS, strict=True)}
ASKS = re.compile(r"\b(?:who|what|which|whom|when|where|how many|year|date|number)\b", re.IGNORECASE)


def said(example: Example) -> list[str]:
    return [example.context[start:end] for start, end in example.spans]


@pytest.mark.parametrize(("text", "relation", "answer"), STATED)
def test_a_relation_is_found_in_a_plain_paragraph(text: str, relation: str, answer: str) -> None:
    start, end = find_stated(Document("x", "X", text))[relation]
    assert text[start:end] == answer


@pytest.mark.parametrize(("text", "relation"), UNSTATED)
def test_a_relation_that_is_not_stated_is_not_found(text: str, relation: str) -> None:
    assert relation not in find_stated(Document("x", "X", text))


def test_what_a_paragraph_states_is_asked_of_it_by_its_title() -> None:
    spans = [example for example in relation_examples(FILMS, "relation", wordings=2) if example.source == "relation"]
    directors = [example for example in spans if example.question in wordings("director", TITLES)]
    assert len(directors) == 2 * len(FILMS)
    assert all(said(example) == [told(example)[0]] for example in directors)
    assert all(example.context.partition(":")[0] in example.question for example in spans)


def test_the_other_end_of_a_relation_is_what_the_article_is_about() -> None:
    turned = [example for example in relation_examples(FILMS, "relation", wordings=8) if example.source == "relation_reversed"]
    assert turned
    assert all(said(example) == [example.context.partition(":")[0]] for example in turned)
    assert all(told(example)[0] in example.question for example in turned)


def test_unstated_relations_have_no_answer() -> None:
    untold = [example for example in relation_examples(FILMS, "relation") if example.source == "relation_untold"]
    assert len(untold) == len(FILMS)
    stated_ones = wordings("director", TITLES) | wordings("country of origin", TITLES) | wordings("publication date", TITLES)
    assert all(example.kind == "none" and example.question not in stated_ones for example in untold)


def test_a_claim_is_true_or_false_as_the_paragraph_has_it() -> None:
    examples = [example for example in claim_examples(FILMS, "claim") if "direct" in example.question]
    assert {example.kind for example in examples} == {"yes", "no"}
    for example in examples:
        assert (told(example)[0] in example.question) == (example.kind == "yes")


def test_two_paragraphs_agree_or_not() -> None:
    examples = [example for example in agreement_examples(FILMS, "agreement") if "direct" in example.question]
    assert examples
    for example in examples:
        one, other = (TOLD[title][0] for title in TITLES if title in example.question)
        assert example.kind == ("yes" if one == other else "no")
        assert all(f"{title}: {title} is" in example.context for title in TITLES if title in example.question)


def test_a_word_that_asks_stands_where_the_answer_stood() -> None:
    made = [example for example in cloze_examples(FILMS, "cloze", a_document=8) if example.kind == "span"]
    assert len(made) > 2 * len(FILMS)
    for example in made:
        (answer,) = said(example)
        title = example.context.partition(":")[0]
        assert fold(answer) not in fold(example.question)
        if answer != title:
            assert ASKS.search(example.question)


def test_a_cloze_names_what_its_sentence_only_points_to() -> None:
    made = [example for example in cloze_examples(FILMS, "cloze", a_document=8) if said(example) == ["Ostrel"]]
    assert made
    assert all(example.context.partition(":")[0] in example.question for example in made)


def test_a_cloze_asked_elsewhere_has_no_answer_there() -> None:
    made = list(cloze_examples(FILMS, "cloze", a_document=8))
    right = {example.question: said(example) for example in made if example.kind == "span"}
    others = [example for example in made if example.source == "cloze_other"]
    assert others
    for other in others:
        assert other.kind == "none"
        assert not any(answer.casefold() in other.context.casefold() for answer in right[other.question])


def wordings(relation: str, subjects: tuple[str, ...]) -> set[str]:
    return {wording.format(s=subject) for wording in WORDINGS[relation] for subject in subjects}


def told(example: Example) -> tuple[str, str]:
    """Give director and nation of the film that an example is read from."""
    document = next(document for document in FILMS if add_title(document.title, document.text) == example.context)
    return TOLD[document.title or ""]

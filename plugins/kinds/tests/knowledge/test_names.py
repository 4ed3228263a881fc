"""Names by their form: what is a name, resolution of surnames, and malicious text."""

import pytest

from ramify.kinds.knowledge.elements import Knowledge, Piece, merge_elements, title_key
from ramify.kinds.knowledge.rule_builder import (
    MAX_NAME_CHARS,
    MAX_NAMES_PER_SENTENCE,
    count_words,
    extract_by_rules,
    name_titles,
    names_in_sentence,
)
from ramify.tools.english import sentences


def named(text: str, *others: str, titles: tuple[str, ...] = ()) -> list[str]:
    """Return the names found in a text, in a corpus with other texts and titles."""
    known = count_words([text, *others])
    written = name_titles({title_key(title): title for title in titles}, known)
    return [name for sentence in sentences(text) for name in names_in_sentence(sentence, known, written).values()]


def knowledge(*texts: str, title: str = "") -> Knowledge:
    """Sum up what passages say, each its own document."""
    return merge_elements(
        extract_by_rules([Piece(f"{n}.txt", f"{n}.txt", text, (title,) if title else ()) for n, text in enumerate(texts)])
    )


class TestRuns:
    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("The bridge was drawn by Ada Lantz for the Oskel Company.", ["Ada Lantz", "Oskel Company"]),
            ("She saw the Bay of Marrow and the Duke of the Lower Oskel.", ["Bay of Marrow", "Duke of the Lower Oskel"]),
            ("He met Piet van der Corrow in Drumlow.", ["Piet van der Corrow", "Drumlow"]),
            ("The bells of St. Aldhelm ring at noon.", ["St. Aldhelm"]),
            ("It was written by J. R. Merrin and read by A. Finch.", ["J. R. Merrin", "A. Finch"]),
            ("The ship Lapwing 2 followed.", ["Lapwing 2"]),
            ("The plans are Ada Lantz's own.", ["Ada Lantz"]),
            ("They sang in Évora and in Åmot.", ["Évora", "Åmot"]),
        ],
    )
    def test_capitalised_words_are_one_name_with_the_small_ones_within(self, text: str, names: list[str]) -> None:
        assert named(text) == names

    def test_each_has_its_sentence(self) -> None:
        [read] = extract_by_rules([Piece("1", "1", "It lies on the Oskel. The town is Vane.")])
        assert [(mention.key, mention.description) for mention in read.mentions] == [
            ("oskel", "It lies on the Oskel."),
            ("vane", "The town is Vane."),
        ]

    def test_nothing_in_small_letters_is_one(self) -> None:
        assert named("the river flows past the town and into the sea") == []


class TestOpeners:
    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("However, the market closed.", []),
            ("In Vane the market closed.", ["Vane"]),
            ("After Ada Lantz came others.", ["Ada Lantz"]),
            ("In 1852 Lantz drew the bridge.", ["Lantz"]),
            ("Bridges were built. Bridges fell. She loved the bridges.", []),
        ],
    )
    def test_the_first_word_of_a_sentence_is_no_name_for_its_capital(self, text: str, names: list[str]) -> None:
        assert named(text, "She came after the others, however late, in the night, to see bridges.") == names

    def test_a_word_capitalized_elsewhere_is_a_name(self) -> None:
        assert named("Marrow sleeps.", "The road leads to Marrow.") == ["Marrow"]

    def test_a_mostly_lowercase_word_is_no_name_anywhere(self) -> None:
        assert named("She lost the Note on tides.", "A note is short.", "This note is long.") == []

    def test_a_line_of_capitals_is_a_heading_and_tells_nothing(self) -> None:
        assert named("Notes On The Early Years Of Coastal Trade") == []


class TestNoNames:
    @pytest.mark.parametrize("text", ["The fair is in May 1852.", "They met on Monday.", "It opened on 3 November."])
    def test_months_and_days_are_none(self, text: str) -> None:
        assert named(text) == []

    def test_a_people_is_no_name_if_it_mostly_modifies(self) -> None:
        others = [f"The Tolvian {thing} was old." for thing in ("bridge", "market", "harbour", "mine", "song", "hall")]
        assert named("A Tolvian sailor came to Vane.", *others) == ["Vane"]

    def test_words_mostly_beside_numbers_are_no_names(self) -> None:
        others = [f"It says so in Section {number} of the book." for number in range(6)]
        assert named("This is told in Section 12 and by Orla Finch.", *others) == ["Orla Finch"]

    @pytest.mark.parametrize("text", ["He asked the Dr. about it.", "It was Mr. who came.", "She wrote the letter C on the wall."])
    def test_an_abbreviation_or_a_single_letter_is_no_name(self, text: str) -> None:
        assert named(text) == []


class TestTitles:
    def test_are_names_as_they_are_written(self) -> None:
        text = "Play A Day at the Mill and then the rest."
        assert "A Day at the Mill" in named(text, titles=("A Day at the Mill",))

    @pytest.mark.parametrize(("file", "written"), [("korvalen", "Korvalen"), ("mount brannoch", "Mount Brannoch"), ("trout", "trout")])
    def test_that_are_files_names_are_written_as_in_the_texts(self, file: str, written: str) -> None:
        known = count_words(["They came to Korvalen, and saw Mount Brannoch. Trout are fish. We like trout."])
        assert name_titles({file: file}, known).written.get(file, "trout") == written

    def test_with_signs_in_them_are_names_in_small_letters(self) -> None:
        assert named("first run git-rebase, then pg_dump", titles=("git-rebase", "pg_dump")) == ["git-rebase", "pg_dump"]

    def test_of_small_words_are_none_in_the_middle_of_a_sentence(self) -> None:
        assert named("the water table is low", titles=("Water Table",)) == []

    def test_of_one_common_word_are_none(self) -> None:
        assert named("The water is low and Water is cold.", "the water, the water", titles=("Water",)) == []

    def test_connect_passages_titled_with_them(self) -> None:
        extracted = knowledge("The keeper was Nell Garvey.", "It was lit by Piet Corrow.", title="Skerry Light")
        assert set(extracted.relations) == {("nell garvey", "skerry light"), ("piet corrow", "skerry light")}

    def test_that_head_parts_of_many_files_are_none(self) -> None:
        texts = {"a.html#1": "Nell Garvey kept it.", "b.html#1": "Piet Corrow rang.", "c.html#1": "Ada Lantz drew."}
        pieces = [Piece(id, id, text, ("Module Contents",)) for id, text in texts.items()]
        assert "module contents" not in merge_elements(extract_by_rules(pieces)).entities
        assert "module contents" in merge_elements(extract_by_rules(pieces[:2])).entities

    @pytest.mark.parametrize(
        ("heading", "names"),
        [("9.8. Bay Lights", False), ("E.19.4. Bay Lights", False), ("3) Bay Lights", False), ("12 Bay Lights", True)],
    )
    def test_of_numbered_sections_are_none(self, heading: str, names: bool) -> None:
        extracted = knowledge("The keeper was Nell Garvey.", title=heading)
        assert (title_key(heading) in extracted.entities) == names

    def test_lose_what_tells_two_articles_apart(self) -> None:
        assert title_key("Lapwing (ship)") == "lapwing"


class TestSurnames:
    def test_join_the_only_longer_name_of_the_document(self) -> None:
        extracted = knowledge("The plans are by Ada Lantz. The town thanked Lantz. A hall near Vane is named after Lantz.")
        assert set(extracted.entities) == {"ada lantz", "vane"}
        assert extracted.entities["ada lantz"].name == "Ada Lantz"
        assert set(extracted.relations) == {("ada lantz", "vane")}

    def test_stay_alone_where_two_longer_names_end_so(self) -> None:
        extracted = knowledge("The mine of Ivor Kells went to Thea Kells. In the end it was Kells who sold it.")
        assert set(extracted.entities) == {"ivor kells", "thea kells", "kells"}

    def test_do_not_join_names_of_other_documents(self) -> None:
        assert set(knowledge("The plans are by Ada Lantz.", "The town thanked Lantz.").entities) == {"ada lantz", "lantz"}


class TestHostileText:
    def test_a_very_long_run_is_no_name(self) -> None:
        run = " ".join(["Tolvey"] * 40)
        assert named(f"She wrote {run} on the wall of Lisk Hall.") == ["Lisk Hall"]

    def test_no_name_is_longer_than_the_bound(self) -> None:
        words = " ".join(f"Word{number}" for number in range(14))
        assert all(len(name) <= MAX_NAME_CHARS for name in named(f"they said {words} and {'X' * 5_000} and {'Y' * MAX_NAME_CHARS}."))

    def test_markup_is_no_name(self) -> None:
        text = "See <script>alert('Vane')</script> and <img src=x onerror=Alert> near Lisk Hall."
        assert all(not set("<>=") & set(name) for name in named(text))
        assert "Lisk Hall" in named(text)

    @pytest.mark.parametrize("text", ["", " ", "\n\n", "....", "A" * 100_000, "A " * 20_000, "É́" * 3_000, "’s ’s", "A.A.A." * 5_000])
    def test_nothing_breaks_it(self, text: str) -> None:
        assert all(len(name) <= MAX_NAME_CHARS for name in named(text))

    def test_a_list_of_names_connects_no_more_than_the_first(self) -> None:
        letters = [one + other for one in "abcdefgh" for other in "iklmnopq"]
        extracted = knowledge(f"they are {', '.join(f'Nam{letter}' for letter in letters)}.")
        assert len(extracted.relations) == MAX_NAMES_PER_SENTENCE * (MAX_NAMES_PER_SENTENCE - 1) // 2


def test_names_that_differ_in_case_accents_and_points_are_one() -> None:
    extracted = knowledge(
        "He saw Mont-Évora there.", "It is near MONT-EVORA now.", "We like Mont-Evora best.", "The Mont-Evora lies by Vane."
    )
    assert set(extracted.entities) == {"mont-evora", "vane"}
    assert extracted.entities["mont-evora"].name == "Mont-Evora"

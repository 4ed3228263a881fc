from collections.abc import Iterator

import pytest

from ramify.tools.extractive.compare import combined, quantity, same, when
from ramify.tools.extractive.decompose import decompose
from ramify.tools.extractive.language import reads
from ramify.tools.extractive.questions import expected
from ramify.tools.extractive.read import read, reading_with
from ramify.tools.extractive.split import Split
from ramify.tools.extractive.text import Quote, sentences


@pytest.fixture(autouse=True)
def _read_by_rules() -> Iterator[None]:
    with reading_with("rules"):
        yield


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("Who is the mother of the director of Ugetsu?", "Who is the director of Ugetsu?", "Who is the mother of {1}?"),
        ("Where was the director of film Ronnie Rocket born?", "Who is the director of film Ronnie Rocket?", "Where was {1} born?"),
        ("Who is the maternal grandfather of Ada Lovelace?", "Who is the mother of Ada Lovelace?", "Who is the father of {1}?"),
        ("Who is Ada Lovelace's father-in-law?", "Who is the spouse of Ada Lovelace?", "Who is the father of {1}?"),
        ("When did Ada Lovelace's father die?", "Who is Ada Lovelace's father?", "When did {1} die?"),
        ("Who founded the company that acquired Pixar?", "Which company acquired Pixar?", "Who founded {1}?"),
        (
            "On which mountain does the river below Wawel Castle rise?",
            "What is the river below Wawel Castle?",
            "On which mountain does {1} rise?",
        ),
        (
            "In which country was the physicist born with whom Otto Hahn worked?",
            "With which physicist did Otto Hahn work?",
            "In which country was {1} born?",
        ),
        (
            "Where was the actor who plays Rick in Casablanca born?",
            "Which actor plays Rick in Casablanca?",
            "Where was {1} born?",
        ),
        (
            "The actor who plays Rick in Casablanca is buried in which cemetery?",
            "Which actor plays Rick in Casablanca?",
            "{1} is buried in which cemetery?",
        ),
    ],
)
def test_a_bridge_is_split_at_its_innermost_description(question: str, first: str, second: str) -> None:
    split = decompose(question)
    assert split is not None
    assert (split.first, split.second, split.how) == (first, second, "bridge")


@pytest.mark.parametrize(
    ("question", "first", "second", "how"),
    [
        ("Who was born first, Tesla or Edison?", "When was Tesla born?", "When was Edison born?", "earlier"),
        ("Which film came out more recently, Alien or Jaws?", "When did Alien come out?", "When did Jaws come out?", "later"),
        ("Which river is longer, the Po or the Ebro?", "How long is the Po?", "How long is the Ebro?", "more"),
        ("Who lived longer, Bach or Haydn?", "How long did Bach live?", "How long did Haydn live?", "more"),
        ("Which album has fewer songs, Low or Lodger?", "How many songs does Low have?", "How many songs does Lodger have?", "less"),
        (
            "Which film has the director born later, Jaws or Alien?",
            "When was the director of the film Jaws born?",
            "When was the director of the film Alien born?",
            "later",
        ),
        (
            "Who received a Nobel Prize earlier, Bohr or Rutherford?",
            "When did Bohr receive a Nobel Prize?",
            "When did Rutherford receive a Nobel Prize?",
            "earlier",
        ),
        ("Were Bach and Haydn born in the same country?", "In which country was Bach born?", "In which country was Haydn born?", "same"),
        ("Are both Bach and Haydn composers?", "Is Bach a composer?", "Is Haydn a composer?", "both"),
        (
            "Do the films Jaws and Alien have directors of the same nationality?",
            "What is the nationality of the director of the film Jaws?",
            "What is the nationality of the director of the film Alien?",
            "same",
        ),
        (
            "Were Jaws and Alien made by the same director?",
            "Who is the director of Jaws?",
            "Who is the director of Alien?",
            "same",
        ),
    ],
)
def test_a_comparison_asks_the_same_of_both(question: str, first: str, second: str, how: str) -> None:
    split = decompose(question)
    assert split is not None
    assert (split.first, split.second, split.how) == (first, second, how)


@pytest.mark.parametrize(
    "question",
    [
        "Who is the director of Ugetsu?",
        "Where was Kenji Mizoguchi born?",
        "What is the capital of France?",
        "What is the birthplace of Kenji Mizoguchi?",
        "Which river flows through Basel?",
        "What is the film with Natascha McElhone as Rheya?",
        "What is the city where Fritz Haber died?",
        "Who wrote Andrei Tarkovsky's Solaris?",
        "How long is the Po?",
        "",
        "?",
    ],
)
def test_a_question_about_one_fact_is_simple(question: str) -> None:
    assert decompose(question) is None


def test_a_nested_question_is_peeled_level_by_level() -> None:
    question, steps = "What is the symbol of the element named after the river that flows through the city where Haber died?", []
    for answer in ("Basel", "Rhine", "Rhenium"):
        split = decompose(question)
        assert split is not None
        steps.append(split.first)
        question = split.filled(answer)
    assert steps == ["In which city did Haber die?", "Which river flows through Basel?", "What is the element named after Rhine?"]
    assert question == "What is the symbol of Rhenium?"
    assert decompose(question) is None


def test_without_dependent_questions_a_bridge_is_simple() -> None:
    assert decompose("Who is the mother of the director of Ugetsu?", dependent=False) is None


def test_a_rejected_pair_is_not_proposed_again() -> None:
    question = "Who was born first, Tesla or Edison?"
    assert decompose(question, rejected=["When was Tesla born? / When was Edison born?"]) is None


@pytest.mark.parametrize(
    ("question", "kind", "noun"),
    [
        ("Which river runs past Milan, Ohio?", "place", "river"),
        ("When did Bohr die?", "date", ""),
        ("How many members does Queen have?", "number", ""),
        ("Who directed Jaws?", "person", ""),
        ("Is Bach a composer?", "yes_no", ""),
        ("What is the name of the wife of Rudolf Diesel?", "person", "wife"),
        ("Which breed is larger, Leonberger or Basset?", "choice", ""),
        ("In which year was Bohr born?", "date", "year"),
    ],
)
def test_the_kind_of_answer_is_told_from_the_question(question: str, kind: str, noun: str) -> None:
    assert (expected(question).kind, expected(question).noun) == (kind, noun)


def test_dates_are_ordered_by_what_both_of_them_tell() -> None:
    earlier = Split("", "", "earlier", ("Tesla", "Thomson"))
    assert combined(earlier, "10 July 1856", "18 December 1856") == "Tesla"
    assert combined(earlier, "18 December 1856", "July 10, 1856") == "Thomson"
    assert combined(earlier, "1857", "18 December 1856") == "Thomson"
    assert combined(earlier, "1856", "18 December 1856") == ""
    assert combined(earlier, "unknown", "1856") == ""
    assert when("44 BC") is None or when("144 BC") == (-144, 0, 0)


def test_quantities_are_compared_in_one_unit() -> None:
    more = Split("", "", "more", ("Po", "Ebro"))
    assert combined(more, "652 km", "930 km") == "Ebro"
    assert combined(more, "500 miles", "652 km") == "Po"
    assert quantity("1.2 million") == 1_200_000
    assert quantity("7 November 1867 – 4 July 1934") == pytest.approx(66.66, abs=0.05)


def test_countries_are_the_same_under_any_of_their_names() -> None:
    assert same("American", "United States", "country")
    assert same("Munich, Germany", "German", "country")
    assert same("Ulm, Germany", "Paris, France", "country") is False
    assert same("Neustadt", "Altdorf", "country") is None


def test_sentences_do_not_end_at_initials_and_titles() -> None:
    assert sentences("J. J. Thomson met Dr. Smith. He left.") == ("J. J. Thomson met Dr. Smith.", "He left.")


def test_it_says_which_questions_it_reads() -> None:
    assert reads("Where was Skłodowska born?")
    assert not reads("마리 퀴리는 어디에서 태어났습니까?")


@pytest.mark.parametrize(
    ("question", "how", "first", "second"),
    [
        ("Was Alan Turing born before Alonzo Church?", "earlier", "When was Alan Turing born?", "When was Alonzo Church born?"),
        ("Was hafnium discovered after rhenium?", "later", "When was hafnium discovered?", "When was rhenium discovered?"),
        ("Is the Po longer than the Rhine?", "more", "How long is the Po?", "How long is the Rhine?"),
    ],
)
def test_a_claimed_order_is_split_and_answered_yes_or_no(question: str, how: str, first: str, second: str) -> None:
    split = decompose(question)
    assert split is not None
    assert (split.how, split.first, split.second) == (how, first, second)
    assert {combined(split, "1903", "1912"), combined(split, "1912", "1903")} == {"Yes", "No"}


def test_a_claim_about_a_time_and_not_a_second_thing_is_simple() -> None:
    assert decompose("Did Alan Turing work in Manchester before the war?") is None


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("Who designed a hall where Fritz Haber was born?", "Where was Fritz Haber born?", "Who designed a hall in {1}?"),
        (
            "How many children did the inventor of the saxophone have?",
            "Who is the inventor of the saxophone?",
            "How many children did {1} have?",
        ),
        ("How long is the river on which Basel stands?", "What is the river on which Basel stands?", "How long is {1}?"),
    ],
)
def test_a_description_ends_where_the_question_goes_on(question: str, first: str, second: str) -> None:
    split = decompose(question)
    assert split is not None
    assert (split.first, split.second) == (first, second)


def test_two_things_named_before_the_question_are_compared() -> None:
    split = decompose("Of Lise Meitner and Otto Hahn, who died later?")
    assert split is not None
    assert (split.how, split.labels) == ("later", ("Lise Meitner", "Otto Hahn"))


def test_a_name_is_read_whole_after_words_that_describe_it() -> None:
    passages = [Quote(title="Rubik's Cube", source="cube", text="Rubik's Cube was invented in 1974 by the Hungarian architect Ernő Rubik.")]
    assert read("Who is the inventor of Rubik's Cube?", passages).answer == "Ernő Rubik"


def test_a_year_is_cut_out_of_a_date() -> None:
    passages = [Quote(title="Alonzo Church", source="church", text="Alonzo Church died in Hudson, Ohio, on 11 August 1995.")]
    assert read("In which year did Alonzo Church die?", passages).answer == "1995"


def test_a_person_s_own_article_does_not_speak_against_the_person() -> None:
    company = Quote(title="Halvorn Works", source="a", text="Halvorn Works makes turbines. It was founded in 1987 by Mirela Okonjo.")
    person = Quote(title="Mirela Okonjo", source="b", text="Mirela Okonjo is an engineer and writer. She likes the sea.")
    place = Quote(title="Mirela Okonjo", source="b", text="Mirela Okonjo is a harbour town. It has a lighthouse.")
    question = "Who founded Halvorn Works?"
    assert read(question, [company, person]).answer == "Mirela Okonjo"
    assert read(question, [company, person]).confidence > 0.5
    assert read(question, [company, place]).confidence < 0.5

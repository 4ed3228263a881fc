"""Follow-ups made self-contained by rules: what refers back is named, what does not stays as it is."""

import pytest

from ramify.tools.extractive.followup import contextualize

PAINTER = ("Who painted Guernica?", "Pablo Picasso")
BORN = ("Where was Ada Lovelace born?", "London")
FILM = ("Who directed Solaris?", "Andrei Tarkovsky")
PEN = ("In which city was the inventor of the ballpoint pen born?", "Budapest")
RIVER = ("Which river runs through Paris?", "Seine")


@pytest.mark.parametrize(
    ("turn", "question", "understood"),
    [
        (PAINTER, "and when was he born?", "When was Pablo Picasso born?"),
        (BORN, "and who was her father?", "Who was Ada Lovelace's father?"),
        (BORN, "Which river runs through it?", "Which river runs through London?"),
        (BORN, "Who else lived there?", "Who else lived in London?"),
        (FILM, "when was it released", "When was Solaris released?"),
        (FILM, "what about his wife?", "Who is Andrei Tarkovsky's wife?"),
        (FILM, "In which city was that director born?", "In which city was Andrei Tarkovsky born?"),
        (PEN, "and where did he die?", "Where did the inventor of the ballpoint pen die?"),
        (RIVER, "what about Rome?", "Which river runs through Rome?"),
        (RIVER, "And Rome?", "Which river runs through Rome?"),
        (RIVER, "Who is the mayor of Prague?", "Who is the mayor of Prague?"),
        (RIVER, "Is there a bridge in Prague?", "Is there a bridge in Prague?"),
        (PEN, "How do I sharpen it?", "How do I sharpen the ballpoint pen?"),
        (BORN, "Which river runs through there?", "Which river runs through London?"),
        (BORN, "Wo wurde ihr Vater geboren?", "Wo wurde ihr Vater geboren?"),
        (PEN, "Who was his father?", "Who was the father of the inventor of the ballpoint pen?"),
        (PEN, "and when?", "When was the inventor of the ballpoint pen born?"),
        (("Where was Solaris filmed?", "Moscow"), "Who directed it?", "Who directed Solaris?"),
        (("Where was Solaris filmed?", "Moscow"), "and why?", "Why was Solaris filmed?"),
        (("Was Albert Einstein born in Ulm?", "Yes"), "in which year?", "In which year was Albert Einstein born in Ulm?"),
        (("Who was Ada Lovelace?", "a mathematician"), "When was she born?", "When was Ada Lovelace born?"),
        (("Who invented the ballpoint pen?", "László Bíró"), "and the pencil?", "Who invented the pencil?"),
        (PAINTER, "and when?", "Who painted Guernica, and when?"),
        (RIVER, "How long is it?", "How long is Seine?"),
    ],
)
def test_a_follow_up_is_made_self_contained(turn: tuple[str, str], question: str, understood: str) -> None:
    asked, answer = turn
    assert contextualize({"question": question, "turns": [{"asked": asked, "answer": answer, "sure": True}]}) == {"question": understood}


@pytest.mark.parametrize(
    ("turn", "question", "understood"),
    [
        (PEN, "and when?", "When was the inventor of the ballpoint pen born?"),
        (PEN, "How do I sharpen it?", "How do I sharpen the ballpoint pen?"),
        (PEN, "Who else lived there?", "Who else lived in the city in which the inventor of the ballpoint pen was born?"),
        (PAINTER, "and when was he born?", "When was the person who painted Guernica born?"),
        (RIVER, "How long is it?", "How long is the river that runs through Paris?"),
        (FILM, "what about his wife?", "Who is the wife of the person who directed Solaris?"),
        (("What is the capital of France?", "Lyon"), "Who was born there?", "Who was born in the capital of France?"),
    ],
)
def test_an_answer_that_was_not_sure_is_nobody_s_topic(turn: tuple[str, str], question: str, understood: str) -> None:
    asked, answer = turn
    assert contextualize({"question": question, "turns": [{"asked": asked, "answer": answer, "sure": False}]}) == {"question": understood}


def test_the_topic_lasts_for_several_turns() -> None:
    asked = (PEN[0], "When was the inventor of the ballpoint pen born?", "How do I sharpen the ballpoint pen?")
    turns = [{"asked": one, "answer": "Unknown", "sure": False} for one in asked]
    understood = contextualize({"question": "Where was he born?", "turns": turns})["question"]
    assert understood == "Where was the inventor of the ballpoint pen born?"


def test_an_unknown_answer_is_nobody() -> None:
    turns = [
        {"asked": "Who is Nikola Tesla?", "answer": "an inventor", "sure": True},
        {"asked": "Who is his best friend?", "answer": "Unknown", "sure": True},
    ]
    assert "Unknown" not in contextualize({"question": "Where did he die?", "turns": turns})["question"]


def test_a_name_with_signs_of_a_pattern_is_written_in_as_it_is() -> None:
    turns = [{"asked": "Who made it?", "answer": r"A\1 (B) & Co", "sure": True}]
    assert r"A\1 (B) & Co" in contextualize({"question": "When was he born?", "turns": turns})["question"]

"""Follow-ups over whole conversations: what lacks its subject is completed from the last turn that has one, what is complete stays.

The conversations are in `follow_ups.toml`; each is held with the embedded model, and with a language model whose replies are scripted.
"""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

import ramify.graphs as graphs
from ramify.embedded.extractive.follow_ups import contextualize
from ramify.studio.drawing.phrases import unknown_reason
from ramify.tools.english import find_names
from tests.fakes import FakeModel, library
from tests.river import but

TEXTS = (
    "The Kestrel 16 is a cordless drill. The Kestrel 16 weighs 1.4 kg and costs 129 euros. Its warranty is three years. "
    "The Kestrel 16 is supplied by Halberd Tools.",
    "The Osprey 17 is a cordless drill. The Osprey 17 weighs 2.1 kg and costs 189 euros. Its warranty is two years. "
    "The Osprey 17 is supplied by Marrow Works.",
    "Halberd Tools is a supplier in Leeds. Halberd Tools gives a discount of 5 percent. Ines Moll is the account manager of Halberd Tools. "
    "The extension of Ines Moll is 4417.",
    "Marrow Works is a supplier in Bergen. Marrow Works gives a discount of 8 percent. Jonas Weil is the account manager of Marrow Works. "
    "The extension of Jonas Weil is 4420.",
)
FERRIES = (
    "The Merganser is a ferry of the Skarland Line. The Merganser carries 240 passengers and was built in 1998. Its captain is Ruth Osei.",
    "The Cormorant is a ferry of the Skarland Line. The Cormorant carries 410 passengers and was built in 2011. Its captain is Pavel Hron.",
    "The Skarland Line is a shipping company in Tolvik. The Skarland Line was founded by Edda Brekke in 1931. Its director is Samir Lund.",
)
INDEXES = {"tools": TEXTS, "ferries": FERRIES}
CONVERSATIONS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("follow_ups.toml").read_text(encoding="utf-8"))["conversation"]
ASKED_BACK = "?"
each_conversation = pytest.mark.parametrize("conversation", CONVERSATIONS, ids=[one["about"] for one in CONVERSATIONS])


def index_of(conversation: Mapping[str, Any]) -> dict[str, Any]:
    texts = INDEXES.get(conversation["index"])
    return {"index": library(*texts)} if texts else {}


def test_the_table_has_turns_of_each_kind() -> None:
    turns = [turn for conversation in CONVERSATIONS for turn in conversation["turns"]]
    assert len(turns) >= 40
    assert sum(understood == "" for _, understood, _ in turns) >= 20, "complete questions"
    assert sum(understood not in ("", ASKED_BACK) for _, understood, _ in turns) >= 20, "questions that lack something"


@each_conversation
def test_the_embedded_model_completes_what_lacks_its_subject_and_nothing_else(conversation: Mapping[str, Any]) -> None:
    talk = graphs.Conversation()
    for question, understood, answer in conversation["turns"]:
        result = talk.ask(question, model="extractive", **index_of(conversation))
        if understood == ASKED_BACK:
            assert result.asked_back
        else:
            assert (result.question, result.asked_back) == (understood or question, "")
        assert answer in result.answer


@each_conversation
def test_a_language_model_is_asked_and_what_it_understands_is_asked(conversation: Mapping[str, Any]) -> None:
    talk = graphs.Conversation()
    meant = {question: understood or question for question, understood, _ in conversation["turns"]}
    answers = {meant[question]: answer or "It is 7" for question, _, answer in conversation["turns"]}

    def understand(slots: Mapping[str, Any]) -> Mapping[str, Any]:
        understood = meant.get(slots["question"], slots["question"])
        return {"question": slots["question"] if understood == ASKED_BACK else understood}

    model = but(
        answer=lambda slots: {"answer": answers.get(slots["question"], "7"), "confidence": 0.9, "citations": [1]}, contextualize=understand
    )
    answered = 0
    for question, understood, _ in conversation["turns"]:
        result = talk.ask(question, "naive", model=model, index=library(*TEXTS))
        assert len(model.asked("contextualize")) == max(0, answered), question
        answered += answered > 0 or not result.asked_back
        if understood == ASKED_BACK:
            assert result.asked_back
        else:
            assert (result.question, result.asked_back) == (understood or question, "")


COMPLETE = list(
    dict.fromkeys(question for one in CONVERSATIONS for question, understood, _ in one["turns"] if not understood and find_names(question))
)
SUBJECTS = {
    "the Heron 3": "How heavy is the Heron 3?",
    "supplier": "Which supplier gives the largest discount?",
    "Ada Byron": "Who is Ada Byron?",
}


def put_first(question: str, subject: str) -> str:
    first, _, rest = question.partition(" ")
    return f"{first} {subject} {rest}"


def put_inside(question: str, subject: str) -> str:
    *before, last = question.split(" ")
    return " ".join([*before, subject, last])


def put_instead(question: str, subject: str) -> str:
    return question.replace(find_names(question)[0], subject)


@pytest.mark.parametrize("insert", [put_first, put_inside, put_instead])
@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("question", COMPLETE)
def test_a_complete_question_is_not_rewritten_by_a_language_model(question: str, subject: str, insert: Callable[[str, str], str]) -> None:
    assert understood_by_a_model(question, insert(question, subject), before=SUBJECTS[subject]) == question


@pytest.mark.parametrize(
    ("question", "rewritten"),
    [
        ("Is Lyon bigger?", "Is Lyon bigger than Paris?"),
        ("And does Halberd Tools?", "Does Halberd Tools supply the Heron 3?"),
        ("Which one does Marrow Works supply?", "Which drill does Marrow Works supply?"),
        ("How many did Halberd Tools sell?", "How many drills did Halberd Tools sell?"),
        ("Is the drill heavier than the Osprey 17?", "Is the Heron 3 heavier than the Osprey 17?"),
        ("Does the supplier have a shop in Bergen?", "Does Marrow Works have a shop in Bergen?"),
        ("Does it cost more than the Osprey 17?", "Does the Heron 3 cost more than the Osprey 17?"),
        ("And the Osprey 17?", "How heavy is the Osprey 17?"),
    ],
)
def test_a_question_that_lacks_something_is_what_the_language_model_makes_of_it(question: str, rewritten: str) -> None:
    assert understood_by_a_model(question, rewritten, before="How heavy is the Heron 3?") == rewritten


def understood_by_a_model(question: str, rewritten: str, *, before: str) -> str:
    """Ask a question after another, with a language model that rewrites it; return how it was understood."""
    talk = graphs.Conversation()
    talk.messages = heard(before, "Marrow Works")
    return talk.ask(question, "naive", model=but(contextualize={"question": rewritten}), index=library(*TEXTS)).question


ASKED = "Who invented the ballpoint pen?"
FOLLOW_UP = "And when did he die?"
EDITED = {
    "as it was": "László Bíró\n\nConfidence: 0.47 of 1",
    "only the answer": "László Bíró",
    "reworded": "László Bíró invented it.",
    "a sentence": "The ballpoint pen was invented by László Bíró.",
}


def heard(*texts: str) -> list[AnyMessage]:
    """Make messages as clients send them back, without the data of the answers."""
    return [(AIMessage if number % 2 else HumanMessage)(text) for number, text in enumerate(texts)]


@pytest.mark.parametrize("answer", EDITED.values(), ids=EDITED)
def test_the_person_is_known_from_an_edited_answer(answer: str) -> None:
    talk = graphs.Conversation()
    talk.messages = heard(ASKED, answer)
    result = talk.ask(FOLLOW_UP, model="extractive")
    assert (result.question, result.answer) == ("When did László Bíró die?", "1985")


@pytest.mark.parametrize("answer", EDITED.values(), ids=EDITED)
@pytest.mark.parametrize("rewritten", ["When did László Bíró die?", FOLLOW_UP])
def test_a_language_model_is_asked_after_an_edited_answer(answer: str, rewritten: str) -> None:
    talk, model = graphs.Conversation(), but(contextualize={"question": rewritten})
    talk.messages = heard(ASKED, answer)
    result = talk.ask(FOLLOW_UP, "naive", model=model, index=library(*TEXTS))
    assert len(model.asked("contextualize")) == 1
    assert "László Bíró die?" in result.question
    assert result.asked_back == ""


@pytest.mark.parametrize(
    ("asked", "answer", "question", "understood"),
    [
        ("Which is heavier, the Kelda 30 or the Skua 45?", "Skua 45", "Who makes it?", "Who makes the Skua 45?"),
        ("Which is heavier, the Kelda 30 or the Skua 45?", "Kelda 30", "Who makes it?", "Who makes the Kelda 30?"),
        ("Who was born first, Nikola Tesla or J. J. Thomson?", "J. J. Thomson", "Where was he born?", "Where was J. J. Thomson born?"),
        ("Is Oslo or Bergen larger?", "Bergen", "Who is its mayor?", "Who is the mayor of Bergen?"),
        ("Which bridge is longer, Hollin Bridge or Vane Bridge?", "Vane Bridge", "Who designed it?", "Who designed Vane Bridge?"),
    ],
)
def test_a_pronoun_means_what_was_chosen(asked: str, answer: str, question: str, understood: str) -> None:
    turns = [{"asked": asked, "answer": answer, "sure": True}]
    assert contextualize({"question": question, "turns": turns})["question"] == understood


def test_a_clarifying_question_is_known_without_its_data() -> None:
    talk = graphs.Conversation()
    first = talk.ask("When did he die?", model="extractive")
    talk.messages = heard("When did he die?", first.asked_back)
    assert talk.ask("Nikola Tesla", model="extractive").answer == "7 January 1943"


def test_a_name_that_the_language_model_lost_is_not_lost() -> None:
    talk = graphs.Conversation()
    model: FakeModel = but(contextualize={"question": "Which supplier is heavier?"})
    talk.messages = heard("Which supplier gives the largest discount?", "Marrow Works")
    question = "Which is heavier, the Kestrel 16 or the Osprey 17?"
    assert talk.ask(question, "naive", model=model, index=library(*TEXTS)).question == question


@pytest.mark.parametrize(
    "question", ["When did he die?", "How long is it?", "What is her phone number?", "And when was that?", "Who founded them?"]
)
def test_a_question_about_a_pronoun_alone_has_no_answer_and_says_why(question: str) -> None:
    result = graphs.ask(question, model="extractive")
    assert (result.answer, result.confidence) == ("Unknown", None)
    assert "stands for" in unknown_reason(result)
    assert not any(citation.cited for citation in result.citations)

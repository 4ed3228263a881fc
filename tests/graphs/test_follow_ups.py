"""Follow-ups over whole conversations: what lacks its subject is completed from the last turn that has one, what is complete stays.

The conversations are in `follow_ups.toml`; each is held with the embedded model, and with a language model whose replies are scripted.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

import ramify.graphs as graphs
from ramify.studio.drawing.phrases import unknown_reason
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
CONVERSATIONS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("follow_ups.toml").read_text(encoding="utf-8"))["conversation"]
ASKED_BACK = "?"
each_conversation = pytest.mark.parametrize("conversation", CONVERSATIONS, ids=[one["about"] for one in CONVERSATIONS])


def index_of(conversation: Mapping[str, Any]) -> dict[str, Any]:
    return {"index": library(*TEXTS)} if conversation["index"] == "tools" else {}


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
        understood = meant[slots["question"]] if slots["question"] in meant else slots["question"]
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
        elif understood in meant.values() and question in meant:
            assert (result.question, result.asked_back) == (understood or question, "")


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

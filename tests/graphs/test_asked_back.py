"""Whom a pronoun means: a person is never a thing, and where none is known a conversation asks back; a tool and a plain question do not."""

from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from tests.fakes import FakeModel, library
from tests.river import but

TEXTS = (
    "The ThermoCup 300 costs 19 euros. Its support line is 555-0100.",
    "Maria Lopez is the head of sales at Acme. Her phone number is 555-0142.",
    "Acme sells cups.",
)
PHONE = "What is her phone number?"


def clerk(rewritten: str = "", head: Mapping[str, Any] | None = None) -> FakeModel:
    """Make a model that knows the price and the head of sales, and makes a follow-up what it is told to."""

    def answer(slots: Mapping[str, Any]) -> Mapping[str, Any]:
        known = {"ThermoCup": "19 euros", "head of sales": "Maria Lopez"}
        told = next((told for words, told in known.items() if words in slots["question"]), "555-0142")
        return {"answer": told, "confidence": 0.97, "citations": [1], **((head or {}) if "head of sales" in slots["question"] else {})}

    return but(
        answer=answer,
        contextualize=lambda slots: {"question": rewritten if rewritten and slots["question"] == PHONE else slots["question"]},
    )


def ask(talk: graphs.Conversation, question: str, model: FakeModel) -> graphs.Result:
    return talk.ask(question, "naive", model=model, index=library(*TEXTS))


def test_where_only_a_thing_was_spoken_of_the_model_is_asked_and_then_it_asks_back() -> None:
    talk, model = graphs.Conversation(), clerk("What is the ThermoCup 300's phone number?")
    ask(talk, "How much does the ThermoCup 300 cost?", model)
    calls = len(model.calls)
    result = ask(talk, PHONE, model)
    assert "'her'" in result.asked_back
    assert "\n" not in result.asked_back
    assert (result.answer, result.citations, result.usage.llm_calls, len(model.calls)) == ("Unknown", [], 1, calls + 1)
    assert len(model.asked("contextualize")) == 1
    assert result.tree["0"].status == "leaf"
    assert talk.messages[-1].text == result.asked_back
    assert talk.messages[-1].additional_kwargs["ramify"]["asked_back"] == result.asked_back
    assert talk.turns == 1


@pytest.mark.parametrize("reply", ["Maria Lopez", "Maria Lopez, the head of sales", "I mean Maria Lopez."])
def test_the_reply_completes_the_question(reply: str) -> None:
    talk, model = graphs.Conversation(), clerk()
    assert ask(talk, PHONE, model).asked_back
    result = ask(talk, reply, model)
    assert (result.question, result.answer, result.asked_back) == ("What is Maria Lopez's phone number?", "555-0142", "")


def test_a_question_after_it_is_a_question_and_has_no_trace_of_it() -> None:
    talk, model = graphs.Conversation(), clerk()
    ask(talk, PHONE, model)
    result = ask(talk, "How much does the ThermoCup 300 cost?", model)
    assert (result.question, result.answer) == ("How much does the ThermoCup 300 cost?", "19 euros")
    assert not model.asked("contextualize")


@pytest.mark.parametrize("rewritten", ["What is the phone number of the ThermoCup 300?", "What is the phone number of sales?", PHONE])
@pytest.mark.parametrize(
    ("head", "meant"),
    [
        ({}, "What is Maria Lopez's phone number?"),
        ({"confidence": 0.2}, "What is the head of sales's phone number?"),
        ({"answer": "Unknown"}, "What is the head of sales's phone number?"),
    ],
)
def test_a_model_that_takes_a_thing_for_a_person_is_put_right(rewritten: str, head: Mapping[str, Any], meant: str) -> None:
    talk, model = graphs.Conversation(), clerk(rewritten, head)
    ask(talk, "How much does the ThermoCup 300 cost?", model)
    ask(talk, "Who is the head of sales?", model)
    assert ask(talk, PHONE, model).question == meant


@pytest.mark.parametrize(
    ("question", "rewritten"),
    [
        ("Where was Her Majesty born?", "Where was the ThermoCup 300 born?"),
        ("Where was Her Majesty born?", "Where was the Majesty born?"),
        ("What is Maria Lopez called and where does she live?", "What is the ThermoCup 300 live?"),
    ],
)
def test_a_question_that_says_itself_whom_it_means_does_not_become_a_thing_s(question: str, rewritten: str) -> None:
    talk = graphs.Conversation()
    model = but(contextualize={"question": rewritten})
    ask(talk, "How much does the ThermoCup 300 cost?", clerk())
    assert ask(talk, question, model).question == question


def test_no_word_of_the_question_is_lost_to_a_person() -> None:
    talk = graphs.Conversation()
    ask(talk, "Who is the head of sales?", clerk())
    model = but(contextualize={"question": "When did Maria Lopez open the shop?"})
    assert ask(talk, "When did her company open the shop?", model).question == "When did Maria Lopez's company open the shop?"


def test_of_a_sentence_the_name_is_the_person() -> None:
    talk = graphs.Conversation()
    ask(talk, "Who is the head of sales?", clerk(head={"answer": "The head of sales at Acme is Maria Lopez, they say"}))
    assert ask(talk, PHONE, clerk()).question == "What is Maria Lopez's phone number?"


@pytest.mark.parametrize(("answer", "meant"), [("Maria Lopez", "What is Maria Lopez's budget?"), ("Unknown", "")])
def test_the_only_person_of_an_unsure_answer_is_meant_and_one_that_was_only_asked_for_is_asked_back(answer: str, meant: str) -> None:
    talk = graphs.Conversation()
    ask(talk, "Who leads Project Fulmar?", but(answer={"answer": answer, "confidence": 0.3, "citations": [1]}))
    result = ask(talk, "What is his budget?", clerk())
    assert (result.question, bool(result.asked_back)) == ((meant, False) if meant else ("What is his budget?", True))


def test_in_the_first_question_nobody_can_be_meant_so_it_asks_back_without_a_call() -> None:
    model = clerk()
    result = ask(graphs.Conversation(), PHONE, model)
    assert "'her'" in result.asked_back
    assert (result.usage.llm_calls, model.calls) == (0, [])


@pytest.mark.parametrize("rewritten", ["When did László Bíró die?", "In which year did Bíró die?", "and when did László Bíró die?"])
def test_a_language_model_decides_itself_who_is_meant(rewritten: str) -> None:
    talk = graphs.Conversation()
    model = but(answer={"answer": "Budapest", "confidence": 0.9, "citations": [1]}, contextualize={"question": rewritten})
    ask(talk, "In which city was the inventor of the ballpoint pen born?", model)
    result = ask(talk, "and when did he die?", model)
    assert (result.question, result.asked_back) == (rewritten, "")


def test_a_person_that_the_model_chose_stays() -> None:
    talk, model = graphs.Conversation(), clerk("Which phone number does Maria Lopez of Acme have?")
    ask(talk, "Who is the head of sales?", model)
    assert ask(talk, PHONE, model).question == "Which phone number does Maria Lopez of Acme have?"


@pytest.mark.parametrize(
    "question",
    ["When did Maria Lopez win her first prize?", "Which actress won her first award in 1990?", "Who lost his hat?", "How long is it?"],
)
def test_a_question_that_says_itself_whom_it_means_is_answered(question: str) -> None:
    talk, model = graphs.Conversation(), clerk()
    assert ask(talk, question, model).asked_back == ""


def test_a_tool_and_a_plain_question_are_asked_as_they_are() -> None:
    model = clerk()
    tool = graphs.research_tool("naive", model=model, index=library(*TEXTS))
    assert "555-0142" in tool.invoke({"question": PHONE})
    assert graphs.ask(PHONE, "naive", model=model, index=library(*TEXTS)).question == PHONE
    assert {slots["question"] for slots in model.asked("answer")} == {PHONE}

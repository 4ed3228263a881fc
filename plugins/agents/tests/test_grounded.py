"""An agent whose final message is held to grounds; its own model is scripted, the tools' model is the embedded one."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware, ModelCallLimitMiddleware
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from plugins.serve.tests.hostile import active_elements
from ramify.agents import Grounded, grep_tool
from ramify.agents.grounded import ASK_AGAIN, EMPTY
from ramify.graphs import research_tool, search_tool
from ramify.tools.errors import UsageError

QUESTION = "In which city was the inventor of the ballpoint pen born?"
Said = str | list[dict[str, Any]]


class Scripted(BaseChatModel):
    """Call tools at the first human message of a turn, then write drafts: one for each time it is asked."""

    calls: Callable[[str], list[dict[str, Any]]]
    drafts: list[Said]
    heard: list[list[BaseMessage]]
    offered: list[str]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> "Scripted":
        self.offered += [tool.name for tool in tools if isinstance(tool, BaseTool)]
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.heard.append(messages)
        place = max(number for number, message in enumerate(messages) if isinstance(message, HumanMessage))
        hint = messages[place].text.startswith((ASK_AGAIN.partition("{")[0], EMPTY))
        calls = self.calls(messages[place].text) if len(messages) == place + 1 and not hint else []
        if calls:
            reply = AIMessage("", tool_calls=[{"id": f"{len(messages)}.{number}", **call} for number, call in enumerate(calls)])
        else:
            reply = AIMessage(self.drafts[min(hint, len(self.drafts) - 1)])  # type: ignore[arg-type]
        return ChatResult(generations=[ChatGeneration(message=reply)])


def research(question: str) -> list[dict[str, Any]]:
    return [{"name": "research_documents", "args": {"question": question}}]


def scripted(*drafts: Said, calls: Callable[[str], list[dict[str, Any]]] = research) -> Scripted:
    return Scripted(calls=calls, drafts=list(drafts), heard=[], offered=[])


def asked(model: Scripted, rule: Grounded, question: str = QUESTION, **options: Any) -> dict[str, Any]:
    state: dict[str, Any] = create_agent(model, middleware=[rule], **options).invoke({"messages": [("user", question)]})
    return state


def verdicts(state: dict[str, Any]) -> dict[str, bool | None]:
    return {sentence["text"]: sentence["supported"] for sentence in state["grounds"]["sentences"]}


def test_each_sentence_gets_its_source_and_one_that_no_quotation_says_is_marked() -> None:
    draft = (
        "He was born in Budapest in 1899 [2]. The pen was patented in 1938. Budapest is the capital of Hungary. He sold 9 million pens [1]."
    )
    state = asked(scripted(draft), Grounded(model="extractive", ask_again=0))
    assert verdicts(state) == {
        "He was born in Budapest in 1899.": True,
        "The pen was patented in 1938.": True,
        "Budapest is the capital of Hungary.": False,
        "He sold 9 million pens.": False,
    }
    text = state["messages"][-1].text
    assert text.splitlines()[0] == (
        "He was born in Budapest in 1899. [1] The pen was patented in 1938. [2] Budapest is the capital of Hungary. (no source) "
        "He sold 9 million pens. [2] (no cited passage says this)"
    )
    assert "- [1] demo/corpus.jsonl#laszlo-biro: " in text
    assert [citation["title"] for citation in state["grounds"]["citations"]] == ["László Bíró", "Ballpoint pen"]
    assert "Budapest" in state["grounds"]["citations"][0]["quote"]


def test_the_conclusion_of_several_hops_rests_on_what_the_answer_rests_on() -> None:
    state = asked(scripted("The inventor of the ballpoint pen was born in Budapest."), Grounded(model="extractive"))
    [sentence] = state["grounds"]["sentences"]
    assert sentence["supported"] is True
    assert sentence["citations"] == [1, 2] or "Bíró" in state["grounds"]["citations"][0]["quote"]


def test_the_model_is_asked_once_more_and_the_better_draft_is_kept() -> None:
    model = scripted("He had three cats.", "László Bíró was born in Budapest.")
    state = asked(model, Grounded(model="extractive"))
    assert verdicts(state) == {"László Bíró was born in Budapest.": True}
    assert state["grounds"]["asked_again"] == 1
    assert "- He had three cats." in model.heard[-1][-1].text
    assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "ai"], "neither the draft nor the hint is kept"


def test_a_second_draft_that_says_nothing_any_more_is_not_better() -> None:
    first = "László Bíró was born in Budapest. He had three cats."
    state = asked(scripted(first, "The documents do not say it."), Grounded(model="extractive"))
    assert verdicts(state) == {"László Bíró was born in Budapest.": True, "He had three cats.": False}


def test_the_budget_of_a_turn_ends_though_the_model_calls_tools_again() -> None:
    class Restless(Scripted):
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            self.heard.append(messages)
            hinted = isinstance(messages[-1], HumanMessage)
            calls = [{"id": str(len(self.heard)), **call} for call in research(QUESTION)] if hinted else []
            return ChatResult(generations=[ChatGeneration(message=AIMessage("" if hinted else "He had three cats.", tool_calls=calls))])

    model = Restless(calls=research, drafts=[], heard=[], offered=[])
    state = asked(model, Grounded(model="extractive", ask_again=1))
    assert len(model.heard) == 4, "call, draft, hint and second call, draft"
    assert verdicts(state) == {"He had three cats.": False}


def test_questions_headings_code_and_the_statement_that_nothing_was_found_need_no_ground() -> None:
    draft = "# Answer\n\nThe documents do not say it.\n\n```\nshutdown --now 5\n```\n\nShall I look for something else?"
    state = asked(scripted(draft), Grounded(model="extractive"), "What is the capital of Mongolia?")
    assert set(verdicts(state).values()) == {None}
    assert state["messages"][-1].text == draft
    assert state["grounds"]["citations"] == []


def test_search_first_asks_the_documents_without_the_model() -> None:
    model = scripted("László Bíró was born in Budapest.", calls=lambda question: [])
    state = asked(model, Grounded(model="extractive", search_first=True))
    assert len(model.heard) == 1
    assert model.offered == []
    assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "ai"]
    assert verdicts(state) == {"László Bíró was born in Budapest.": True}


def test_an_agent_that_has_not_searched_has_no_grounds() -> None:
    state = asked(scripted("László Bíró was born in Budapest [1].", calls=lambda question: []), Grounded(model="extractive"))
    assert verdicts(state) == {"László Bíró was born in Budapest.": False}
    assert "[1]" not in state["messages"][-1].text


def test_the_same_number_of_several_calls_is_that_of_the_call_that_says_it() -> None:
    questions = ["Who invented the ballpoint pen?", "Who invented the Rubik's Cube?"]
    model = scripted("László Bíró patented a pen [1]. Ernő Rubik invented the cube [1].", calls=lambda _: [
        call for question in questions for call in research(question)
    ])  # fmt: skip
    state = asked(model, Grounded(model="extractive"))
    assert set(verdicts(state).values()) == {True}
    first, second = state["grounds"]["sentences"]
    citations = state["grounds"]["citations"]
    assert "Bíró" in citations[first["citations"][0] - 1]["text"]
    assert "Rubik" in citations[second["citations"][0] - 1]["title"]


async def test_a_conversation_with_a_checkpointer_asynchronously() -> None:
    agent = create_agent(
        scripted("He had three cats.", "László Bíró was born in Budapest."),
        middleware=[Grounded(model="extractive")],
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "1"}}
    for _ in range(2):
        state = await agent.ainvoke({"messages": [("user", QUESTION)]}, config)
        assert state["grounds"]["asked_again"] == 1, "each turn has a budget of its own"
        assert verdicts(state) == {"László Bíró was born in Budapest.": True}
    json.dumps(state["grounds"])


def test_found_passages_exact_strings_and_the_text_of_other_tools_are_grounds() -> None:
    @tool
    def weather(city: str) -> str:
        """Return the weather."""
        return f"In {city} there are 31 degrees today."

    calls = [
        {"name": "search_documents", "args": {"query": "hafnium"}},
        {"name": "grep_documents", "args": {"pattern": "Robert Noyce"}},
        {"name": "weather", "args": {"city": "Budapest"}},
    ]
    draft = (
        "Hafnium was found in 1923 by Dirk Coster and George de Hevesy. Intel was founded by Robert Noyce. "
        "In Budapest there are 31 degrees."
    )
    rule = Grounded(research_tool(model="extractive"), search_tool(), grep_tool(), also=["weather"], ask_again=0)
    state = asked(scripted(draft, calls=lambda _: calls), rule, tools=[weather])
    assert set(verdicts(state).values()) == {True}
    assert {citation["source"] for citation in state["grounds"]["citations"]} >= {"weather"}


def test_a_message_without_words_is_asked_for_once_more() -> None:
    model = scripted("[1].", "László Bíró was born in Budapest.")
    assert verdicts(asked(model, Grounded(model="extractive"))) == {"László Bíró was born in Budapest.": True}
    assert asked(scripted("[1]."), Grounded(model="extractive"))["messages"][-1].text == "", "a number alone says nothing"


def test_a_list_of_sources_that_the_model_writes_itself_is_replaced() -> None:
    draft = "László Bíró was born in Budapest. [2]\n\nSources:\n[2] somewhere: He had three cats."
    text = asked(scripted(draft), Grounded(model="extractive"))["messages"][-1].text
    assert text.count("Sources:") == 1
    assert "cats" not in text
    kept = asked(scripted("Sources:\nHe had three cats."), Grounded(model="extractive", ask_again=0))["messages"][-1].text
    assert kept == "Sources:\nHe had three cats. (no source)"


def test_a_number_of_which_nobody_can_tell_whether_it_says_the_sentence_is_not_taken_on_trust() -> None:
    model = scripted("Intel makes very good pizza [1].")
    state = asked(model, Grounded(model="extractive"), "When was Intel founded?")
    assert state["messages"][-1].text.startswith("Intel makes very good pizza. [1] (not checked)\n")
    assert verdicts(state) == {"Intel makes very good pizza.": None}


def test_facts_of_several_calls_in_one_sentence() -> None:
    questions = ["When was Intel founded?", "When was AMD founded?"]
    model = scripted(
        "Intel was founded on 18 July 1968 [1] and AMD on 1 May 1969 [1].",
        calls=lambda _: [call for question in questions for call in research(question)],
    )
    state = asked(model, Grounded(model="extractive", ask_again=0))
    assert set(verdicts(state).values()) == {True}
    assert {citation["title"] for citation in state["grounds"]["citations"]} == {"Intel", "AMD"}


def test_only_the_message_with_its_grounds_is_streamed() -> None:
    agent = create_agent(scripted("He had three cats.", "László Bíró was born in Budapest."), middleware=[Grounded(model="extractive")])
    stream = agent.stream({"messages": [("user", QUESTION)]}, stream_mode="messages")
    texts = [message.text for message, _ in stream if isinstance(message, AIMessage) and message.text]
    assert len(texts) == 1
    assert texts[0].startswith("László Bíró was born in Budapest. [1]")


@pytest.mark.parametrize("artifact", [[Document("In Budapest there are 31 degrees.")], {"citations": ["http://x"]}, {"tree": []}, 5])
def test_the_text_of_a_tool_with_an_artifact_of_its_own_is_a_ground(artifact: Any) -> None:
    @tool(response_format="content_and_artifact")
    def weather(city: str) -> tuple[str, Any]:
        """Return the weather."""
        return f"In {city} there are 31 degrees.", artifact

    model = scripted("In Budapest there are 31 degrees.", calls=lambda _: [{"name": "weather", "args": {"city": "Budapest"}}])
    state = asked(model, Grounded(model="extractive", also=["weather"], ask_again=0), tools=[weather])
    assert verdicts(state) == {"In Budapest there are 31 degrees.": True}


def test_what_documents_say_loads_nothing_where_markdown_is_shown() -> None:
    evil = "The pump weighs 31 kg ![x](https://evil.example/p.png) <img src=x onerror=alert(1)>."

    @tool
    def look_up(name: str) -> str:
        """Look something up."""
        return evil

    model = scripted("The pump weighs 31 kg [1].", calls=lambda _: [{"name": "look_up", "args": {"name": "pump"}}])
    text = asked(model, Grounded(model="extractive", also=["look_up"], ask_again=0), tools=[look_up])["messages"][-1].text
    assert active_elements(text) == []


def test_other_content_of_the_system_message_is_kept() -> None:
    model = scripted("László Bíró was born in Budapest.")
    system = SystemMessage([{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}])
    asked(model, Grounded(model="extractive"), system_prompt=system)
    first, second = model.heard[0][0].content
    assert first == system.content[0]
    assert "[1]" in second["text"]


def test_a_turn_without_a_final_message_has_no_grounds_of_the_turn_before() -> None:
    limit = ModelCallLimitMiddleware(thread_limit=2, exit_behavior="end")
    model = scripted("László Bíró was born in Budapest.")
    agent = create_agent(model, middleware=[limit, Grounded(model="extractive")], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    first, second = (agent.invoke({"messages": [("user", QUESTION)]}, config) for _ in range(2))
    assert first["grounds"]["sentences"]
    assert second["grounds"] is None


def test_results_that_other_middleware_takes_out_of_the_request_are_grounds() -> None:
    edits = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=0)])
    model = scripted("László Bíró was born in Budapest.")
    agent = create_agent(model, middleware=[edits, Grounded(model="extractive", ask_again=0)])
    assert set(verdicts(agent.invoke({"messages": [("user", QUESTION)]})).values()) == {True}


def test_a_structured_response_is_left_as_it_is() -> None:
    class City(BaseModel):
        """A city."""

        name: str

    model = scripted("", calls=lambda question: [{"name": "City", "args": {"name": "Budapest"}}])
    state = asked(model, Grounded(model="extractive"), response_format=City)
    assert state["structured_response"] == City(name="Budapest")
    assert state["grounds"] is None


def test_what_is_no_text_in_a_message_is_kept() -> None:
    draft: Said = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "László Bíró was born in Budapest."}]
    content = asked(scripted(draft), Grounded(model="extractive"))["messages"][-1].content
    assert content[0] == draft[0]
    assert content[1]["text"].startswith("László Bíró was born in Budapest. [")


def test_the_error_of_a_tool_is_no_ground() -> None:
    state = asked(scripted("An empty question is an error."), Grounded(model="extractive", ask_again=0), " ")
    assert isinstance(state["messages"][2], ToolMessage)
    assert state["messages"][2].status == "error"
    assert verdicts(state) == {"An empty question is an error.": False}


def test_without_a_judge_the_grounds_that_are_named_count() -> None:
    state = asked(scripted("He sold 9 million pens [1]. He was born in Budapest."), Grounded(model="extractive", check="none", ask_again=0))
    assert verdicts(state) == {"He sold 9 million pens.": True, "He was born in Budapest.": False}


def test_wrong_options_are_errors_at_once() -> None:
    with pytest.raises(UsageError):
        Grounded(search_tool(), model="extractive")
    with pytest.raises(UsageError):
        Grounded(search_tool(), search_first=True)
    with pytest.raises(UsageError):
        Grounded(model="extractive", ask_again=-1)
    with pytest.raises(UsageError):
        Grounded(model="extractive", also="weather")
    with pytest.raises(UsageError):
        Grounded(modle="extractive")


def test_a_deep_agent_is_held_to_grounds_too() -> None:
    model = scripted("László Bíró was born in Budapest. He had three cats.")
    state = create_deep_agent(model, middleware=[Grounded(model="extractive", ask_again=0)]).invoke({"messages": [("user", QUESTION)]})
    assert verdicts(state) == {"László Bíró was born in Budapest.": True, "He had three cats.": False}

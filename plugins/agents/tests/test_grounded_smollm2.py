"""A real small language model as an agent's own, in this process: what it writes is held to grounds."""

import pytest
from langchain.agents import create_agent

from ramify.agents import Grounded
from ramify.tools.models import ModelOptions, resolve_model
from tests.smollm2 import NAME, REAL

pytestmark = [pytest.mark.real, REAL]


def test_it_answers_from_the_quotations_or_is_marked() -> None:
    model = resolve_model(NAME, ModelOptions(num_predict=80)).chat
    agent = create_agent(model, middleware=[Grounded(model="extractive", search_first=True, ask_again=0)])
    state = agent.invoke({"messages": [("user", "In which city was the inventor of the ballpoint pen born?")]})
    assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "ai"]
    text, grounds = state["messages"][-1].text, state["grounds"]
    assert grounds["sentences"]
    without = [sentence for sentence in grounds["sentences"] if sentence["supported"] is False and not sentence["citations"]]
    assert text.count("(no source)") == len(without)
    assert ("Sources:" in text) == bool(grounds["citations"])

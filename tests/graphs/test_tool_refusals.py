"""What the tools say of wrong options, questions that are none, and models that hang."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

import ramify.graphs as graphs
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index import Index
from tests.fakes import FakeModel
from tests.faults import fault
from tests.graphs.agents import thinker
from tests.graphs.test_tool import call
from tests.river import FINAL, QUESTION, TEXTS, replies, river


def refused(said: ToolMessage, *words: str) -> bool:
    """Tell whether a tool said what is wrong, in one line with these words."""
    text = str(said.content)
    return said.status == "error" and text.startswith("error: ") and "\n" not in text and all(word in text for word in words)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"strategy": "oak"}, UsageError, "oak"),
        ({"leaves": 3}, UsageError, "leaves"),
        ({"k": 0}, UsageError, "k=0"),
        ({"joint": "perhaps"}, UsageError, "perhaps"),
        ({"index": "nowhere"}, IndexingError, "nowhere.*ramify index"),
    ],
)
def test_wrong_options_are_an_error_when_the_tool_is_made(options: Mapping[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        graphs.research_tool(**options)


@pytest.mark.parametrize(("options", "error"), [({"k": 0}, UsageError), ({"index": "nowhere"}, IndexingError)])
def test_wrong_options_of_a_search_too(options: Mapping[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        graphs.search_tool(**options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"question": ""}, ["empty"]),
        ({"question": " \n "}, ["empty"]),
        ({"question": "Who? " * 5000}, ["25,000 characters", "20,000"]),
        ({}, ["question", "required"]),
        ({"question": ["Who?"]}, ["question", "string"]),
    ],
)
@fault("interfaces", "invalid question to a tool", sees="one line for the calling model", kept="the agent continues", code=0)
def test_a_question_that_is_none_comes_back_in_one_line(arguments: dict[str, Any], words: list[str]) -> None:
    assert refused(call(graphs.research_tool(model=thinker(), index=river()), **arguments), *words)


def test_an_empty_search_comes_back_in_one_line() -> None:
    assert refused(call(graphs.search_tool(river()), query="  "), "empty")


def test_a_question_of_ten_thousand_characters_is_asked() -> None:
    said = call(graphs.research_tool(model=thinker(), index=river(), num_ctx=65_536), question="Who? " * 2000)
    assert said.status == "success"


@pytest.mark.parametrize("strategy", graphs.STRATEGIES)
@fault(
    "interfaces",
    "question to a tool, longer than the context window",
    sees="one line for the calling model",
    kept="the agent continues",
    code=0,
)
def test_a_question_too_long_for_the_window_comes_back_in_one_line(strategy: str) -> None:
    tool = graphs.research_tool(strategy, model=thinker(), index=river(), num_ctx=1024)
    assert refused(call(tool, question="Who? " * 2000), "does not fit", "shorten the question")


@pytest.mark.parametrize("question", ["ボールペンを発明したのは誰ですか？", "Wer hat den Kugelschreiber erfunden?"])
@pytest.mark.parametrize("strategy", ["prune", "iterative"])
def test_extractive_says_once_that_it_reads_english_only(strategy: str, question: str) -> None:
    said = call(graphs.research_tool(strategy, model="extractive", index=river()), question=question)
    assert refused(said, "English only")
    assert str(said.content).count("English only") == 1


@fault("index", "index that is deleted while a tool uses it", sees="one line for the calling model", kept="the agent continues", code=0)
def test_an_index_that_disappeared_is_reported_in_one_line(documents_index: Path) -> None:
    research = graphs.research_tool(model=thinker(), index=str(documents_index))
    search = graphs.search_tool(documents_index)
    assert call(search, query="Paris").status == "success"
    shutil.rmtree(documents_index)
    assert refused(call(search, query="Paris"), "no index", str(documents_index))
    assert refused(call(research, question=QUESTION), "no index", str(documents_index))


@pytest.fixture
def documents_index(tmp_path: Path) -> Path:
    """An index that is opened by its folder alone, so with the embedding that comes with the package."""
    (tmp_path / "paris.txt").write_text(" ".join(TEXTS), encoding="utf-8")
    Index.build(tmp_path / "paris.txt", tmp_path / "index")
    return tmp_path / "index"


@fault("interfaces", "model that hangs during a tool call", sees="one line for the calling model", kept="the agent continues", code=0)
def test_a_model_that_hangs_is_reported_in_one_line() -> None:
    tool = graphs.research_tool(model=thinker(latency=60.0), index=river(), timeout=0.05)
    assert refused(call(tool, question=QUESTION), "no reply within 0.05 s", "raise timeout")


@fault("interfaces", "model that hangs late in a tool call", sees="what was found, and that it hung", kept="the tree so far", code=0)
def test_a_model_that_hangs_late_leaves_what_was_found() -> None:
    class Tiring(FakeModel):
        async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            self.latency = 60.0 if messages[-1].additional_kwargs["ramify"]["prompt"] == "finalize" else 0.0
            return await super()._agenerate(messages, *args, **kwargs)

    tool = graphs.research_tool(model=Tiring(replies=replies, logprobs=True), index=river(), timeout=0.5, **FINAL)
    said = call(tool, question=QUESTION)
    assert "Found on the way:\n- What is the capital of France? Paris" in str(said.content)
    assert "a model call failed" in str(said.content)


def test_a_fault_in_the_program_is_raised() -> None:
    def broken(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        raise KeyError("oops")

    with pytest.raises(KeyError):
        call(graphs.research_tool(model=thinker(replies=broken), index=river()), question=QUESTION)

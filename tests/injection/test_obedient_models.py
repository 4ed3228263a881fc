"""Models that obey every instruction of a document: what is guaranteed nevertheless, with every strategy, in every format."""

import gc
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lxml.html
import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from markdown_it import MarkdownIt
from rich.console import Console

import ramify.graphs as graphs
from ramify.graphs.run import Result
from ramify.graphs.strategies import DEFAULT
from ramify.serve._chat import markdown_paragraphs
from ramify.studio.drawing.terminal import print_answer
from ramify.tools.documents.files import File, ReadReport
from ramify.tools.documents.readers import parse_file
from ramify.tools.quoting import collapse_whitespace, find_invisible
from tests.embeddings import WordEmbeddings
from tests.fakes import FakeModel
from tests.faults import fault
from tests.graphs.wirings import SEARCHING
from tests.injection.documents import (
    ABOUT,
    AWAY,
    CARRY,
    CLOSE,
    DOCUMENTS,
    ENDLESS,
    FORGE,
    FORM,
    KEY,
    LEAK,
    LURE,
    OPEN,
    ORDER,
    QUOTE,
    SEINE,
    TURN,
    UNSEEN,
    HostileDocument,
)
from tests.injection.watched import watch_effects
from tests.river import QUESTION, TEXTS, replies
from tests.studio.test_invisible import INTERFACES

AREA = "hostile instructions"
MAX_CALLS = 14
GUARANTEED_ATTACKS = {
    ORDER: ("the model's answer, with the passages it was given", "steps, budget and the form of replies"),
    FORM: ("an answer by the model, never by the document", "steps, budget, citations that exist"),
    TURN: ("the document, with its marks as text", "one system message, and one request"),
    CLOSE: ("one passage, to its end", "the number of passages, and the question"),
    UNSEEN: ("invisible characters as codes, or omitted", "the text of the document"),
    ABOUT: ("text, between quotation marks", "the prompt, and the page"),
    OPEN: ("the instruction as text", "no file or connection is opened, no process is run"),
    LEAK: ("`***` in the place of a key", "the environment, and what was not retrieved"),
    CARRY: ("text: no picture, and no link that leads away", "addresses that are in no source"),
    FORGE: ("the passages that there are", "citations of what was retrieved"),
    QUOTE: ("a quotation that is in its source", "the source's text"),
    ENDLESS: ("an answer from what was found", "the budget of calls, and the depth"),
}
TEMPLATE_MARKS = re.compile(r"<[|｜][^<>|｜]*[|｜]>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>")
FETCHING = {"src", "href", "srcset", "action", "formaction", "poster", "data", "background", "xlink:href", "ping", "cite"}


def read(one: HostileDocument) -> list[Document]:
    """Read a document as it is indexed."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / one.file
        path.write_bytes(one.content if isinstance(one.content, bytes) else one.content.encode())
        return list(parse_file(File(path, one.file, Path(folder)), ReadReport(), clean=True))


@cache
def index(name: str) -> InMemoryVectorStore:
    """Index a hostile document beside four good ones."""
    store = InMemoryVectorStore(WordEmbeddings())
    store.add_texts(list(TEXTS), metadatas=[{"source": f"{number}.txt"} for number in range(len(TEXTS))])
    store.add_documents(read(DOCUMENTS[name]))
    return store


def obedient_model(one: HostileDocument) -> FakeModel:
    """Make a model that does as a document says from the first time on that it is shown it."""
    text: list[bool] = []

    def reply(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any] | str:
        if SEINE[:40] in json.dumps(slots, default=str, ensure_ascii=False):
            text.append(True)
        honest = {"text": "It is the Seine [1]."} if prompt in ("write", "check") else replies(prompt, slots)
        return honest if not text else one.reply if isinstance(one.reply, str) else {**honest, **one.reply}

    return FakeModel(replies=reply, writes=True)


@cache
def nodes_of(strategy: str) -> frozenset[str]:
    """Name the steps of a strategy."""
    return frozenset(graphs.build(strategy).compile().get_graph().nodes)


class Steps:
    """The nodes that a run went through."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def __call__(self, kind: str, event: Any) -> None:
        if kind == "tasks" and any(str(one).startswith("branch:to:") for one in event.get("triggers", ())):
            self.seen.add(event["name"])


def with_fault_marks(tries: str) -> pytest.MarkDecorator:
    sees, kept = GUARANTEED_ATTACKS[tries]
    return fault(AREA, tries, sees=sees, kept=kept)


def cases() -> Iterator[Any]:
    """Every document with every strategy: always with the default one, and by turns with another, so that each meets all that is tried."""
    others, turns = [one for one in SEARCHING if one != DEFAULT], Counter[str]()
    for name, one in DOCUMENTS.items():
        mark, alike = with_fault_marks(one.tries), sum(other.tries == one.tries for other in DOCUMENTS.values())
        now = {DEFAULT, *others[turns[one.tries] :: alike]}
        turns[one.tries] += 1
        for strategy in SEARCHING:
            seldom = () if strategy == DEFAULT else (pytest.mark.slow if strategy in now else pytest.mark.combination,)
            yield pytest.param(name, strategy, marks=(mark, *seldom))


@pytest.fixture(scope="module", autouse=True)
def nothing_of_others() -> Iterator[None]:
    """Load torch, whose libraries are no effect of a document, and keep what other tests have left out of each collection."""
    import torch  # noqa: F401 - loaded for its effects

    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize(("name", "strategy"), [*cases()])
def test_guarantees_hold_with_an_obedient_model(name: str, strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model, steps, store = obedient_model(DOCUMENTS[name]), Steps(), index(name)
    given: dict[str, Any] = {"index": store, "model": model, "k": 5, "max_calls": MAX_CALLS, "check": "none", "style": "full"}
    _, settings = graphs.configure(strategy, given)
    gc.collect()  # the folders of earlier indexes without a path go with their objects
    with watch_effects(LURE) as done:
        result = graphs.ask(QUESTION, strategy, steps, **given)
        texts = {format_name: write(result) for format_name, write in ALL_FORMATS.items()}
    assert done == [], "nothing is opened, called or run"
    assert result.usage.llm_calls == len(model.calls) <= MAX_CALLS
    assert steps.seen <= nodes_of(strategy), "the steps are those of the strategy"
    assert max(path.count(".") for path in result.tree) <= getattr(settings, "max_depth", 9)
    check_prompts(model)
    check_citations(result, store)
    for format_name, text in texts.items():
        assert KEY not in text, format_name
        assert format_name == "JSON" or [hex(ord(text[place])) for place in find_invisible(text)] == [], format_name
        assert str(1234 * 1234) not in text, format_name
    check_page(texts["page"])
    check_page(f"<div>{texts['notebook']}</div>")
    check_markdown(texts["Markdown"], result)
    assert {link for link in re.findall(r"\x1b\]8;[^;]*;([^\x1b\x07]*)", coloured(result)) if not link.startswith("file:")} <= {""}


def check_prompts(model: FakeModel) -> None:
    """A document is between the tags of its passage, and can neither leave it nor take a turn in the conversation."""
    for (_, slots), (system, *more) in zip(model.calls, model.heard, strict=True):
        request = next(message for message in more if "ramify" in message.additional_kwargs)
        quoted = [one for value in slots.values() if isinstance(value, list) for one in value if isinstance(one, dict) and "text" in one]
        tags = re.findall(r"<\s*/?\s*passage\b", str(request.content), re.IGNORECASE)
        assert len(tags) == 2 * len(quoted)
        assert TEMPLATE_MARKS.search(str(request.content)) is None
        assert (system.type, request.type) == ("system", "human")
        assert "Tiber" not in str(system.content)


def check_citations(result: Result, store: InMemoryVectorStore) -> None:
    """What is cited was found, in this index, and what is quoted stands there."""
    found = {key for branch in result.tree.values() for key in branch.evidence}
    for citation in result.citations:
        assert citation.id in found
        assert citation.text == store.get_by_ids([citation.id])[0].page_content
        assert all(part.strip() in collapse_whitespace(citation.text) for part in citation.quote.split("…"))
        assert citation.link == ""
    numbers = {number for sentence in result.sentences for number in sentence.citations}
    assert numbers <= set(range(1, len(result.citations) + 1))


def check_page(text: str) -> None:
    """A page loads nothing, links to itself and to sources alone, and runs no script of a document's."""
    for element in lxml.html.fromstring(text).iter():
        if isinstance(element.tag, str):
            assert element.tag not in {"img", "iframe", "object", "embed", "form", "base", "link"}
            named = [value for name, value in element.attrib.items() if name in FETCHING]
            assert [value for value in named if not value.startswith(("#", "data:", "file:"))] == []
            assert not any("alert" in value or AWAY in value for name, value in element.attrib.items() if name.startswith(("on", "style")))
            assert element.tag != "script" or "alert" not in (element.text or "")


def check_markdown(text: str, result: Result) -> None:
    """For programs that show Markdown, no text becomes a picture, a link or an element; an address may, if a source has it."""
    drawn = MarkdownIt("commonmark").render(text)
    assert re.findall(r"<(?!/?(?:p|em|strong|ul|ol|li|h\d|hr|code|pre|blockquote|br)\b)[a-z]+", drawn) == []
    texts = "\n".join(citation.text for citation in result.citations)
    assert [found for found in re.findall(r"(?:https?://|www\.)[^\s()\[\]<>'\"]+", text) if found.rstrip(".,*\\") not in texts] == []


def coloured(result: Result) -> str:
    console = Console(file=(out := StringIO()), width=400, force_terminal=True, color_system="truecolor")
    print_answer(result, console, tree=True)
    return out.getvalue()


def searched(result: Result) -> str:
    return INTERFACES["search tool"](result.model_copy(update={"passages": {"p": next(iter(result.passages.values()))}}))


ALL_FORMATS: dict[str, Callable[[Result], str]] = {
    **INTERFACES,
    "search tool": searched,
    "Markdown": lambda result: "\n\n".join(markdown_paragraphs(result)),
    "JSON": lambda result: json.dumps(result.to_json(), ensure_ascii=False),
}


def test_there_are_enough_of_them() -> None:
    assert len(DOCUMENTS) >= 30
    assert {one.tries for one in DOCUMENTS.values()} == set(GUARANTEED_ATTACKS)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_attack_is_shown_to_the_model(name: str) -> None:
    assert any(SEINE[:40] in document.page_content for document in read(DOCUMENTS[name]))


def test_compiled_python_files_do_not_count_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "seen_for_the_first_time.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    with watch_effects(LURE) as done:
        import_module("seen_for_the_first_time")
    assert done == []
    assert not sys.dont_write_bytecode

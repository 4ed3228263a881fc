"""Where an answer's sources are shown: names that are links, what is quoted, what comes closest, and in which index."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ramify.graphs.run import Result
from ramify.graphs.tool import format_answer
from ramify.nodes.conversation import format_message
from ramify.nodes.tree import Passage
from ramify.nodes.tree.citation import CLOSEST, Sentence, cite
from ramify.serve._chat import markdown_paragraphs
from ramify.studio.drawing.page import result_page
from ramify.studio.drawing.terminal import print_answer
from tests.studio.conftest import Ramify
from tests.studio.drawing.test_page import LINKS, read
from tests.studio.samples import branch, result

LINK = "file:///docs/pg/index.en.html#PORT:~:text=The%20server%20listens%20on%205432%20by%20default."
PORT = Passage(
    id="port",
    text="Much is said before. The server listens on 5432 by default. Much is said after.",
    source="index.en.html",
    score=0.8,
    metadata={
        "path": "/docs/pg/index.en.html",
        "fragment": "PORT",
        "title": "Connections",
        "heading": "Connections > Settings",
        "also": [{"source": "manual.pdf", "path": "/docs/manual.pdf", "page": 31}, "nonsense"],
    },
)
OTHER = PORT.model_copy(update={"id": "other", "metadata": {"path": "/docs/git/index.en.html", "title": "Connections"}})


def cited_result(**changes: Any) -> Result:
    citations = cite([PORT, OTHER], ["… The server listens on 5432 by default. …", "…"], cited=True)
    return result(**{"answer": "5432", "citations": citations, "index": "/docs (2 documents)", **changes})


def terminal(told: Result, colours: bool) -> str:
    file = StringIO()
    print_answer(told, Console(file=file, width=400, highlight=False, force_terminal=colours, no_color=False, legacy_windows=False))
    return file.getvalue()


def test_a_source_is_named_opened_and_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    plain = terminal(cited_result(), colours=False)
    assert "[1] Connections · Settings  pg/index.en.html  also in docs/manual.pdf (page 31)" in plain
    assert "[2] Connections  git/index.en.html" in plain
    assert "The server listens on 5432 by default." in plain
    assert "Much is said before" not in plain
    assert "\x1b" not in plain
    assert f";{LINK}\x1b\\" in terminal(cited_result(), colours=True)


def test_a_page_links_to_files_and_to_nothing_else() -> None:
    told = read(result_page(cited_result()))
    links = [str(value) for name, value in told.attributes if name in LINKS]
    assert LINK in links
    assert all(link.startswith(("#branch-", "#source-", "file:///")) for link in links)
    forged = [citation.model_copy(update={"link": "javascript:alert(1)"}) for citation in cited_result().citations]
    assert "javascript" not in result_page(cited_result(citations=forged))
    assert "Much is said before" in result_page(cited_result()), "the whole passage is there to unfold"


def test_json_has_what_a_citation_is(monkeypatch: pytest.MonkeyPatch) -> None:
    [first, _] = json.loads(json.dumps(cited_result().to_json()))["citations"]
    assert (first["id"], first["source"], first["text"]) == (PORT.id, PORT.source, PORT.text)
    assert (first["name"], first["heading"], first["page"], first["link"]) == ("pg/index.en.html", "Settings", None, LINK)
    assert first["also"][0]["link"] == "file:///docs/manual.pdf#page=31"


def test_notices_stand_outside_of_the_answer_s_card() -> None:
    card = result_page(cited_result(notices=["an odd thing"])).partition('<section class="result">')[2].partition("</section>")[0]
    assert "5432" in card
    assert "an odd thing" not in card


def test_what_is_noted_often_is_a_word_with_a_legend() -> None:
    note = "filled with 'a\\nb' from 0.0; confidence 0.310, not above tau 0.9; odd"
    tree = {"0": branch("0", "What?", status="leaf", note=note)}
    file = StringIO()
    print_answer(cited_result(tree=tree), Console(file=file, width=200), tree=True)
    drawn = file.getvalue()
    assert "0 leaf · filled · unsure  What?\nodd" in drawn
    assert "not above tau (0.9)" in drawn
    assert "\\n" not in drawn
    assert "simple" not in drawn


def test_the_embedded_model_quotes_what_answers_a_how_to(ramify: Ramify, documents: Path, built: Path, tmp_path: Path) -> None:
    asked = ("ask", "How do I find the river on which Warsaw lies?", "--index", built, "--model", "extractive")
    told = json.loads(ramify(*asked, "--json").out)
    assert (told["answer"].splitlines()[0], told["quoted"], told["stopped_by"]) == ("Warsaw lies on the river Vistula.", True, "finished")
    assert [sentence["supported"] for sentence in told["sentences"]][:1] == [True]
    done = ramify(*asked, "--html", tmp_path / "page.html")
    assert done.code == 0
    assert done.out.split()[:3] == ["answer", "Warsaw", "lies"], "the quoted text is the answer, and shown once"
    assert "Quoted from the sources" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_closest_passages_are_numbered_after_the_sources_at_every_interface() -> None:
    near = cite([PORT, OTHER], ["Much is said before.", "Much is said after."], cited=False, closest=True)
    told = cited_result()
    told = told.model_copy(update={"citations": [*told.citations, *near]})
    html = re.findall(r'<summary><span class="number">\[(\d+)\]', result_page(told))
    outputs = [
        terminal(told, colours=False),
        format_answer(told),
        format_message(told.answer, told.text, told.citations, told.index, told.confidence),
    ]
    assert [html, *(re.findall(r"^(?:rests on|also close)? *\[(\d+)\]", text, re.MULTILINE) for text in outputs)] == [
        ["1", "2", "3", "4"]
    ] * 4
    assert [text.count(f"({CLOSEST})") for text in (outputs[0], outputs[2], result_page(told))] == [2, 2, 2]


def sources_of(html: str) -> dict[str, list[str]]:
    """List the numbers of the sources below each title of a page."""
    parts = re.split(r"<h2>(Rests on|Also close|Sources)</h2>", html)[1:]
    return {
        title: re.findall(r'<summary><span class="number">\[(\d+)\]', part) for title, part in zip(parts[::2], parts[1::2], strict=True)
    }


def test_what_an_answer_rests_on_is_apart_from_what_is_also_close() -> None:
    near = cite([PORT, OTHER], ["Much is said before.", "Much is said after."], cited=False, closest=True)
    quoted = [Sentence(text="The server listens on 5432 by default.", citations=(1,), supported=True)]
    changes = {"confidence": 0.15, "quoted": True, "sentences": quoted, "text": "The server listens on 5432 by default. [1]"}
    unsure = cited_result(**changes, citations=[*cited_result().citations, *near])
    assert sources_of(result_page(unsure)) == {"Rests on": ["1", "2"], "Also close": ["3", "4"]}
    texts = [terminal(unsure, colours=False), format_answer(unsure), "\n\n".join(markdown_paragraphs(unsure))]
    for text in (*texts, result_page(unsure)):
        assert "may not hold the answer" not in text
        assert "check this" in text
        assert re.search("also close", text, re.IGNORECASE)
    assert texts[0].count("Much is said after.") == 1, "what is also close is quoted below its source"
    sure = cited_result(confidence=0.9)
    assert sources_of(result_page(sure)) == {"Sources": ["1", "2"]}
    assert "check this" not in terminal(sure, colours=False) + format_answer(sure)


def test_beside_unknown_the_closest_may_not_hold_the_answer() -> None:
    near = cite([PORT, OTHER], ["Much is said before.", "Much is said after."], cited=False, closest=True)
    lines = [Sentence(text=one.quote, citations=(number,)) for number, one in enumerate(near, 1)]
    text = "Much is said before. [1]\nMuch is said after. [2]"
    unknown = cited_result(answer="Unknown", confidence=None, citations=near, quoted=True, sentences=lines, text=text)
    for shown in (result_page(unknown), format_answer(unknown), "\n\n".join(markdown_paragraphs(unknown))):
        assert "may not hold the answer" in shown
        assert "check this" not in shown


def test_a_text_is_shown_by_lines_with_what_is_not_supported_marked() -> None:
    sentences = [Sentence(text="It listens on 5432.", citations=(1,), supported=True), Sentence(text="It never sleeps.", supported=False)]
    told = cited_result(text="It listens on 5432. [1] It never sleeps.", sentences=sentences)
    drawn = result_page(told)
    assert drawn.count('class="unsupported"') == 1
    assert re.search(r"It never sleeps\. \(no cited passage says this\)", terminal(told, colours=False))
    assert "(no cited passage says this)" in format_answer(told)


def test_an_answer_of_several_lines_is_shown_once() -> None:
    sentences = [Sentence(text=text, citations=(1,), supported=True) for text in ("Much is said before.", "Much is said after.")]
    cited = cite([PORT], ["Much is said before.\nMuch is said after."], cited=True)
    text = "Much is said before. [1]\nMuch is said after. [1]"
    told = cited_result(answer="Much is said before.\nMuch is said after.", text=text, sentences=sentences, quoted=True, citations=cited)
    for drawn in (terminal(told, colours=False), result_page(told).partition("<h2>Sources")[0]):
        assert drawn.count("Much is said after.") == 1
    assert (cited[0].start, cited[0].end) == (0, len(PORT.text)), "what stands between the lines is in the place as well"


def test_the_quoted_sentence_is_marked_in_its_passage() -> None:
    [first, _] = cited_result().citations
    assert first.text[first.start : first.end] == "The server listens on 5432 by default."
    assert '<mark class="sentence">The server listens on <mark>5432</mark> by default.</mark>' in result_page(cited_result())


def test_a_failed_question_differs_from_unknown(ramify: Ramify, built: Path) -> None:
    asked = ("ask", "Wo wurde Marie Curie geboren?", "--index", built, "--model", "extractive")
    done = ramify(*asked)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert done.err.startswith("error: 'Wo wurde Marie Curie geboren?' does not look like English")
    told = ramify(*asked, "--json")
    assert (told.code, json.loads(told.out)["stopped_by"], json.loads(told.out)["citations"]) == (1, "error", [])
    unknown = ramify("ask", "Who painted the ceiling of the Sistine Chapel?", "--index", built, "--model", "extractive")
    assert unknown.code == 0
    assert "Unknown" in unknown.out
    assert "error" not in unknown.err

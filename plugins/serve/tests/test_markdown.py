"""Answers in Markdown: what a reader sees, and what documents cannot bring into a page."""

from collections import Counter
from typing import Any

import pytest
from markdown_it import MarkdownIt

from plugins.serve.tests.conftest import BORN
from plugins.serve.tests.hostile import HOSTILE, active_elements
from ramify.agents.markdown import escape_markdown
from ramify.graphs.run import Result, ask
from ramify.nodes.tree.citation import Citation, Sentence
from ramify.serve._chat import TreeNarration, extract_short_answer, markdown_paragraphs
from ramify.serve.questions import Event


@pytest.fixture(scope="module")
def result() -> Result:
    return ask(BORN, model="extractive")


def changed(result: Result, **values: Any) -> Result:
    return result.model_copy(update=values)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![x](http://a.example/b.png)", r"\![x]\(http\://a.example/b.png)"),
        ("[x](http://a.example)", r"[x]\(http\://a.example)"),
        ("[x][y] and [y]: http://a.example", r"[x]\[y] and [y]\: http\://a.example"),
        (
            "WWW.a.example, http://known.example/a and http://known.example/ab",
            r"WWW\.a.example, http://known.example/a and http\://known.example/ab",
        ),
        ("<img src=x onerror=y> </p> <!-- -->", r"\<img src=x onerror=y> \</p> \<!-- -->"),
        ("a[^1] and [^1]: b", r"a\[^1] and \[^1]\: b"),
        ("3 < 4, a[1], f(x) and 5 > 2!", "3 < 4, a[1], f(x) and 5 > 2!"),
    ],
)
def test_what_documents_say_loads_and_links_nothing(text: str, shown: str) -> None:
    assert escape_markdown(text, "as at http://known.example/a.") == shown


def test_each_number_has_its_footnote(result: Result) -> None:
    parts = markdown_paragraphs(result)
    assert parts[0] == "**Budapest**"
    assert [f"[^{number}]" in parts[1] for number in (1, 2, 3)] == [True, True, False]
    assert [line.partition(": ")[0] for line in parts[-1].splitlines()] == ["[^1]", "[^2]"]


def test_the_short_answer_is_found_again(result: Result) -> None:
    assert extract_short_answer("\n\n".join(markdown_paragraphs(result))) == "Budapest"
    assert extract_short_answer("\n\n".join(markdown_paragraphs(changed(result, text="", sentences=[])))) == "Budapest"
    assert extract_short_answer("It was Bíró.[^1]\n\n[^1]: Pens: It was Bíró.") == "It was Bíró."


def test_a_footnote_of_a_document_s_own_making_is_text(result: Result) -> None:
    evil = "It says [^1]: so\n\n[^2]: and ![x](http://a.example/b.png)"
    citation = Citation(id="a", text=evil, source="a.txt", title="[^1]: <b>", quote=evil)
    altered = changed(result, text=f"{evil} [1]", sentences=[Sentence(text=evil, citations=(1,), supported=False)], citations=[citation])
    whole = "\n\n".join(markdown_paragraphs(altered))
    assert [line for line in whole.splitlines() if line.startswith("[^")] == [whole.splitlines()[-1]]
    assert "](http" not in whole
    assert "*(no cited passage says this)*" in whole


def test_unknown_has_a_reason(result: Result) -> None:
    unknown = ask("Who invented the zeppelin of Mars?", "closed-book", model="extractive")
    parts = markdown_paragraphs(unknown)
    assert parts[0] == "**Unknown**"
    assert len(parts) > 1
    assert markdown_paragraphs(changed(result, asked_back="Who is meant by 'he'?")) == ["Who is meant by 'he'?"]


def test_a_thought_shows_no_picture_either() -> None:
    said = "![x](http://a.example/b.png)"
    branch = {"path": "0", "question": said, "answer": said, "status": "leaf", "confidence": 0.5, "note": said}
    dropped = {**branch, "path": "0.0", "status": "pruned"}
    narration = TreeNarration().describe(Event("tree", {"branches": [branch, dropped]}))
    assert narration.count(r"\![x]\(http\://a.example/b.png)") == 4
    assert "](" not in narration


@pytest.mark.parametrize("text", HOSTILE)
def test_a_parser_renders_nothing_active_of_what_documents_say(text: str) -> None:
    assert active_elements(escape_markdown(text)) == []
    assert active_elements(f"It says: {escape_markdown(text)} and then [x]") == []


@pytest.mark.parametrize("text", HOSTILE)
def test_an_answer_renders_its_own_footnotes_only(result: Result, text: str) -> None:
    sentences = [Sentence(text=text, citations=(1,), supported=True), Sentence(text=text, citations=(2,), supported=False)]
    citations = [Citation(id=name, text=text, source="a.txt", title=text, quote=text) for name in "ab"]
    hostile = changed(result, answer=text, text=f"{text} {text}", sentences=sentences, citations=citations)
    whole = "\n\n".join(markdown_paragraphs(hostile))
    shown = Counter(active_elements(whole))
    assert shown.pop("footnote_text") == 2
    assert shown.pop("footnote", 0) <= 2, "a table has no place for that of its last line"
    assert not shown.keys() - {"bare_url"}, "an address that stands in a cited passage"
    plain = MarkdownIt("commonmark").parse(whole)  # a client without footnotes reads them as text, not as targets of links
    assert not {"link_open", "image", "html_inline", "html_block"} & {token.type for block in plain for token in block.children or [block]}
    chat = changed(result, answer=text, text="", sentences=[], citations=[])
    assert active_elements("\n\n".join(markdown_paragraphs(chat))) == []


@pytest.mark.parametrize("text", [text for text in HOSTILE if "\n" not in text and "**" not in text])
def test_the_short_answer_is_found_again_without_escapes(result: Result, text: str) -> None:
    hostile = changed(result, answer=text, text="It is so. [1]", sentences=[Sentence(text="It is so.", citations=(1,))])
    assert extract_short_answer("\n\n".join(markdown_paragraphs(hostile))) == text


def test_code_and_text_with_signs_stay_readable() -> None:
    for text in ("Run `ls -a` and `make`.", "a*b, 3 < 4 and f(x)", "C# ~ 5 % [a]"):
        assert escape_markdown(text) == text
    assert MarkdownIt("commonmark").render(escape_markdown(r"C:\new\[x] \d+ `a\b`")) == "<p>C:\\new\\[x] \\d+ `a\\b`</p>\n"

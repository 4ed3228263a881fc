"""A citation names the slide, page or section that the cited words stand in, also where short parts are read as one passage."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pptx import Presentation

from plugins.formats.tests.made import pdf
from ramify.graphs import search_tool
from tests.studio.conftest import Ramify

TITLE_SLIDE = ("Annual review", "For the board in Brennick")
FERRY = "The ferry at Lorn costs 40,000 crowns a year, and the suspension bridge beside it has been closed to carts since the last flood."
LOCKS = ["Annual review of the locks.", "The lock at Kell was built by Ida Keller.", "The lock at Oda was built by Jan Meer."]


def deck(path: Path, slides: Sequence[tuple[str, str]] = (TITLE_SLIDE, ("Costs", FERRY))) -> Path:
    presentation = Presentation()
    for title, text in slides:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, text
    presentation.save(str(path))
    return path


def indexed(ramify: Ramify, path: Path) -> Path:
    out = path.with_name("index")
    assert ramify("index", path, "--out", out).code == 0
    return out


def test_a_short_title_slide_does_not_give_its_number_to_the_next(ramify: Ramify, tmp_path: Path) -> None:
    index = indexed(ramify, deck(tmp_path / "deck.pptx"))
    (hit,) = json.loads(ramify("search", "costs of the ferry", "--index", index, "--json").out)
    assert hit["metadata"]["page"] == 2
    assert hit["text"].startswith("Annual review\nFor the board in Brennick"), "nothing of the title slide is lost"
    assert "Costs · slide 2" in ramify("search", "costs of the ferry", "--index", index).out
    answer = json.loads(ramify("ask", "How much does the ferry at Lorn cost?", "--index", index, "--model", "extractive", "--json").out)
    (cited,) = answer["citations"]
    assert (cited["page"], cited["heading"]) == (2, "Costs")


def test_a_search_names_the_slide_that_the_words_it_looked_for_stand_in(ramify: Ramify, tmp_path: Path) -> None:
    slides = [
        ("Intro", "The harbour at Lorn"),
        ("Alpha", "The crane lifts timber."),
        ("", ""),
        ("Beta", "The lighthouse keeper is Ida Keller."),
    ]
    index = indexed(ramify, deck(tmp_path / "deck.pptx", slides))
    tool = search_tool(index)
    alpha, beta = ("Alpha", 2), ("Beta", 4)
    for query, (heading, page) in {"lighthouse keeper": beta, "timber crane": alpha, "alpha": alpha}.items():
        (hit,) = json.loads(ramify("search", query, "--index", index, "--json").out)
        assert hit["metadata"]["page"] == page
        assert f"{heading} · slide {page}" in ramify("search", query, "--index", index).out
        message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": {"query": query}})
        assert f"({heading}, slide {page})" in message.content
        assert [passage["metadata"]["page"] for passage in message.artifact] == [page]


def test_a_search_whose_words_are_in_no_part_names_the_one_with_the_most_words(ramify: Ramify, tmp_path: Path) -> None:
    index = indexed(ramify, deck(tmp_path / "deck.pptx"))
    (hit,) = json.loads(ramify("search", "expenses", "--index", index, "--json").out)
    assert hit["metadata"]["page"] == 2


@pytest.mark.parametrize(("lock", "builder", "page"), [("Kell", "Ida Keller", 2), ("Oda", "Jan Meer", 3)])
def test_words_of_a_short_page_are_cited_with_that_page(ramify: Ramify, tmp_path: Path, lock: str, builder: str, page: int) -> None:
    (tmp_path / "locks.pdf").write_bytes(pdf(LOCKS))
    index = indexed(ramify, tmp_path / "locks.pdf")
    answer = json.loads(ramify("ask", f"Who built the lock at {lock}?", "--index", index, "--model", "extractive", "--json").out)
    (cited,) = answer["citations"]
    assert builder in cited["quote"]
    assert (cited["page"], cited["link"]) == (page, f"{(tmp_path / 'locks.pdf').as_uri()}#page={page}")


def test_a_link_opens_the_merged_section_that_the_words_stand_in(ramify: Ramify, tmp_path: Path) -> None:
    parts = [("name", "Name", "weir opens the weir."), ("use", "Use", f"{FERRY} Its keeper is Ida Keller.")]
    body = "".join(f'<section id="{id}"><h2>{title}</h2><p>{text}</p></section>' for id, title, text in parts)
    (tmp_path / "weir.html").write_text(f"<html><head><title>weir</title></head><body>{body}</body></html>", encoding="utf-8")
    index = indexed(ramify, tmp_path / "weir.html")
    answer = json.loads(ramify("ask", "How much does the ferry at Lorn cost?", "--index", index, "--model", "extractive", "--json").out)
    (cited,) = answer["citations"]
    assert (cited["heading"], cited["link"]) == ("Use", cited["link"])
    assert cited["link"].startswith(f"{(tmp_path / 'weir.html').as_uri()}#use:~:text=")

"""Pages are templates: what is put into them is text, wherever it stands."""

import re

import pytest
from jinja2 import DictLoader, UndefinedError
from markupsafe import Markup

from ramify.tools import pages
from ramify.tools.pages import mark_answers, render_page, render_template

EVIL = "<script>alert('x')</script>\" onload=alert(1) {{ 7 * 7 }} </style> &amp;"


@pytest.fixture
def template(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a few templates in the place of ours."""
    made = pages._templates().overlay(
        loader=DictLoader(
            {
                "part.html": '<p title="{{ said }}">{{ said }}</p>',
                "marked.html": "<p>{{ said | mark_answers([answer]) }}</p>",
                "whole.html": "{% extends 'page.html' %}{% block title %}{{ said }}{% endblock %}{% block body %}{{ part }}{% endblock %}",
                "page.html": pages._templates().loader.get_source(pages._templates(), "page.html")[0],  # type: ignore[union-attr]
            }
        )
    )
    monkeypatch.setattr(pages, "_templates", lambda: made)


@pytest.mark.usefixtures("template")
class TestTemplates:
    def test_text_is_never_markup_nor_a_template(self) -> None:
        drawn = render_template("part.html", said=EVIL)
        assert "<script" not in drawn
        assert drawn.count('"') == 2, "no text ends an attribute"
        assert "{{ 7 * 7 }}" in drawn

    def test_what_a_template_drew_is_not_escaped_again(self) -> None:
        page = render_page("whole.html", said=EVIL, part=render_template("part.html", said="a & b"))
        assert '<p title="a &amp; b">a &amp; b</p>' in page
        assert "<script>" not in page

    def test_characters_that_no_page_may_hold_are_written_out(self) -> None:
        assert render_template("part.html", said="a\x00b\ud800c").count("a⟨U+0000⟩b⟨U+D800⟩c") == 2

    def test_an_answer_is_marked_before_what_is_invisible_is_written_out(self) -> None:
        assert "⟨U+202E⟩<mark>Rome</mark>⟨U+200B⟩" in render_template("marked.html", said="\u202eRome\u200b", answer="Rome")
        persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
        assert f"<p>{persian}</p>" in render_template("marked.html", said=persian, answer="\u0645\u06cc")

    def test_a_value_that_is_missing_is_an_error(self) -> None:
        with pytest.raises(UndefinedError):
            render_template("part.html")

    def test_an_answer_is_marked_as_a_whole_word(self) -> None:
        assert "<p><mark>Rome</mark>, &lt;b&gt; Romeo</p>" in render_template("marked.html", said="Rome, <b> Romeo", answer="rome")


def test_marking_keeps_the_text() -> None:
    assert mark_answers("no answer <here>", []) == Markup("no answer &lt;here&gt;")
    assert re.sub("<.*?>", "", mark_answers(EVIL, ["alert"])) == mark_answers(EVIL, [])

"""Web pages: the main content alone, each section with the id that opens it."""

from pathlib import Path

from langchain_core.documents import Document

from ramify.formats.html.page import html_outline
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.load import load_files
from tests.faults import fault
from tests.tools.documents.shown import shown

SITE = """<html><head><title>copy — Tools 3 documentation</title></head><body>
<div class="related" role="navigation"><a href="index.html">Index</a> <a href="next.html">Next</a></div>
<div class="body" role="main">{main}</div>
<div class="sphinxsidebar"><h3>Table of contents</h3><ul><li><a href="#a">A</a></li></ul></div>
<div class="footer">&copy; Copyright Tools. Last updated today.</div></body></html>"""


def read(tmp_path: Path, page: str) -> list[Document]:
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    return list(load_files(tmp_path / "page.html", clean=False))


def test_only_the_main_content_is_read(tmp_path: Path) -> None:
    (document,) = read(tmp_path, SITE.format(main="<h1>copy<a class='headerlink' href='#copy'>¶</a></h1><p>Copies a file.</p>"))
    assert document.page_content == "Copies a file."
    assert document.metadata["heading"] == "copy"


def test_navigation_around_an_unmarked_page_goes_and_its_text_stays(tmp_path: Path) -> None:
    page = """<body><div class="navheader"><table><tr><th>9.4. Strings</th></tr><tr><td><a href="a">Prev</a></td></tr></table></div>
        <div class="sect1" id="STRINGS"><div class="titlepage"><h2>9.4. Strings</h2></div><p>A string holds characters.</p></div>
        <div class="navfooter"><a href="b">Next</a> 9.5. Bits</div></body>"""
    (document,) = read(tmp_path, page)
    assert document.page_content == "A string holds characters."
    assert document.metadata["fragment"] == "STRINGS"


def test_the_fragment_is_an_id_of_the_page_wherever_it_stands(tmp_path: Path) -> None:
    page = """<body><h1 id="own">One</h1><p>text</p><section
        id="around"><h2>Two</h2><p>text</p></section><a name="before"></a><h2>Three</h2>
        <p>text</p><h2>Four <a href="#inside" id="inside">#</a></h2><p>text</p><h2>Five</h2><p>text</p></body>"""
    documents = read(tmp_path, page)
    assert [document.metadata.get("fragment") for document in documents] == ["own", "around", "before", "inside", None]
    assert [document.metadata["heading"].rpartition(" > ")[2] for document in documents] == ["One", "Two", "Three", "Four", "Five"]


def test_a_term_stays_with_its_description(tmp_path: Path) -> None:
    page = """<h1>Options</h1><dl><dt>-n</dt><dt>--dry-run</dt><dd><p>Show only.</p><p>Nothing is written.</p></dd>
        <dt>-v</dt><dd><p>Say more.</p></dd></dl>"""
    (document,) = read(tmp_path, page)
    assert document.page_content == "-n\n--dry-run\nShow only.\nNothing is written.\n\n-v\nSay more."


def test_a_function_is_a_section_that_its_id_opens(tmp_path: Path) -> None:
    said = "Copies the file named first to the place named second and gives back where it lies now, a path."
    main = f"""<section id="files"><h1>Files</h1><p>Before.</p><dl class="py function"><dt id="copy">copy(<em>src</em>, <em>dst</em>)
        <a class="headerlink" href="#copy">¶</a></dt><dd><p>{said}</p></dd></dl><p>After.</p></section>"""
    before, function, after = read(tmp_path, SITE.format(main=main))
    assert (function.metadata["heading"], function.metadata["fragment"]) == ("Files > copy", "copy")
    assert function.page_content == f"copy(src, dst)\n{said}"
    assert (before.metadata["heading"], after.metadata["heading"], after.page_content) == ("Files", "Files", "After.")


def test_code_keeps_its_lines_and_a_row_is_a_line(tmp_path: Path) -> None:
    page = """<h1>Use</h1><pre>for x in y:
    print(x)
</pre><table><tr><th>Name</th><th>Means</th></tr><tr><td><p>a</p><p>b</p></td><td>first</td></tr></table>"""
    (document,) = read(tmp_path, page)
    assert document.page_content == "for x in y:\n    print(x)\n\nName | Means\na b | first"


def test_a_note_in_a_box_does_not_end_the_section(tmp_path: Path) -> None:
    page = """<div id="s"><h2>Strings</h2><p>Before the note stands this.</p><div class="note"><h3>Note</h3><p>Mind this.</p></div>
        <p>After it, the section goes on.</p></div>"""
    (document,) = read(tmp_path, page)
    assert document.page_content == "Before the note stands this.\n\nNote\nMind this.\n\nAfter it, the section goes on."


def test_link_lists_are_distinguished_from_content(tmp_path: Path) -> None:
    links = "".join(f'<li><a href="{name}.html">{name}</a></li>' for name in ("alpha", "beta", "gamma"))
    page = f"<h1>Guide</h1><ul>{links}</ul><p>Removed are:</p><ul>{links}</ul>"
    contents, text = read(tmp_path, page)
    assert (contents.metadata["role"], contents.page_content) == ("contents", "alpha\nbeta\ngamma")
    assert text.page_content == "Removed are:\n\nalpha\nbeta\ngamma"


def test_references_and_rows_of_links_are_text(tmp_path: Path) -> None:
    names = ("alpha", "beta", "gamma", "delta")
    sources = "".join(f'<li><a href="https://{name}.example/">{name}</a></li>' for name in names)
    rows = "".join(f'<tr><td><a href="old.html">old {name}</a></td><td><a href="new.html">new {name}</a></td></tr>' for name in names)
    (document,) = read(tmp_path, f"<h1>Names</h1><ul>{sources}</ul><table>{rows}</table>")
    assert "role" not in document.metadata
    assert "old beta | new beta" in document.page_content


def test_an_alphabetical_list_of_links_is_an_index(tmp_path: Path) -> None:
    entries = "".join(f'<li><a href="#x">{first}{second}word</a></li>' for first in "abcde" for second in "klmno")
    (document,) = read(tmp_path, f"<h1 id='x'>Index</h1><ul>{entries}</ul>")
    assert document.metadata["role"] == "index"


def test_odd_pages_are_read(tmp_path: Path) -> None:
    assert html_outline("<!-- nothing -->", "", ReadReport()).sections == []
    for page in ("<div>" * 1000 + "deep" + "</div>" * 1000, "<?xml version='1.0' encoding='latin-1'?><html><body>deep</body></html>"):
        assert [document.page_content for document in read(tmp_path, page)] == ["deep"]


def test_control_characters_in_a_quotation_are_spaces(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(b"<p>He said <q>eleven\x01metres&#1;high</q> &#123;</p>")
    (document,) = load_files(tmp_path / "page.html")
    assert document.page_content == 'He said "eleven metres high" {'


def test_a_page_is_read_in_the_encoding_that_it_declares(tmp_path: Path) -> None:
    text = "Mój dom stoi w Łodzi"
    for declared in ('<meta charset="iso-8859-2">', "<?xml version='1.0' encoding='iso-8859-2'?>"):
        (tmp_path / "page.html").write_bytes(f"{declared}<body><p>{text}</p></body>".encode("iso-8859-2"))
        result = shown(tmp_path / "page.html")
        assert [document.page_content for document in result.documents] == [text]
        assert result.remarks == [("page.html", "read as iso8859-2")]


@fault("documents", "page with a wrong declaration of its encoding", sees="a remark with the encoding", kept="the text")
def test_a_wrong_declaration_is_noticed(tmp_path: Path) -> None:
    text = "Мост через реку Арду был открыт в тысяча девятьсот пятьдесят восьмом году."
    page = f"<meta charset=iso-8859-1><body><p>{text}</p></body>"
    (tmp_path / "old.html").write_bytes(page.encode("cp1251"))
    (tmp_path / "new.html").write_text(page, encoding="utf-8")
    old, new = shown(tmp_path / "old.html"), shown(tmp_path / "new.html")
    assert [document.page_content for document in (*old.documents, *new.documents)] == [text, text]
    ((_, remark),) = old.remarks
    assert "cp1251" in remark
    assert "declares cp1252" in remark
    assert not new.remarks

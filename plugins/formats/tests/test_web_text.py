"""Text of web pages as a reader sees it: raised digits, numbers of lists, filled-in forms, formulas; hidden and struck text is left out."""

from pathlib import Path

import pytest

from plugins.formats.tests.made import read_back
from ramify.tools.documents.load import load_files


def read(tmp_path: Path, page: str) -> tuple[str, list[str]]:
    return read_back(tmp_path / "page.html", page)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("dredged in 1911<sup><a href='#n1'>1</a></sup>.", "dredged in 1911[1]."),
        ("dredged in 1911<a href='#n1'><sup>1</sup></a>.", "dredged in 1911[1]."),
        ("dredged in 1911<a href='#n1'>1</a>.", "dredged in 1911[1]."),
        ("dredged in <b>1911</b><sup>1</sup>.", "dredged in 1911[1]."),
        ("dredged in 1911<sup class=reference><a href='#n'><span>[</span>1<span>]</span></a></sup>", "dredged in 1911[1]"),
        ("costs 250<sup>2</sup> crowns", "costs 250[2] crowns"),
        ("10<sup>5</sup> and 10<sup>&minus;3</sup>", "10^5 and 10^−3"),
        ("10<span style='vertical-align: super'>5</span>", "10^5"),
        ("the 3<sup>rd</sup> of H<sub>2</sub>O", "the 3rd of H2O"),
        ("see Section <a href='#s2'>2</a>", "see Section 2"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji</rt></ruby>", "漢(kan)字(ji)"),
        ("<math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>", "E=mc^2"),
        ("he said <q>no</q>, exam&shy;ple, foo<wbr>bar, 1&nbsp;345", 'he said "no", example, foobar, 1 345'),
        ("happy <img class=emoji alt='☺'> <img src=a.png alt='A diagram'>", "happy ☺"),
    ],
)
def test_text_reads_as_it_is_seen(tmp_path: Path, page: str, text: str) -> None:
    assert read(tmp_path, f"<main><p>{page}</p></main>")[0] == text


@pytest.mark.parametrize(
    ("ordered", "numbers"),
    [
        ("<ol start=4>", ["4.", "5.", "6."]),
        ("<ol reversed>", ["3.", "2.", "1."]),
        ("<ol type=a start=26>", ["z.", "aa.", "ab."]),
        ("<ol type=I start=3>", ["III.", "IV.", "V."]),
        ("<ol style='list-style-type: lower-roman'>", ["i.", "ii.", "iii."]),
    ],
)
def test_items_of_ordered_lists_have_the_numbers_that_are_seen(tmp_path: Path, ordered: str, numbers: list[str]) -> None:
    text, _ = read(tmp_path, f"<main>{ordered}<li>Open the lid</li><li><p>Wait</p></li><li><b>Press</b> it</li></ol></main>")
    assert text.split() == f"{numbers[0]} Open the lid {numbers[1]} Wait {numbers[2]} Press it".split()


def test_an_item_may_state_its_number_and_a_list_may_show_none(tmp_path: Path) -> None:
    page = "<ol><li>Open</li><li value=9>Close</li><li>Lock</li></ol><ol style='list-style:none'><li>Bolt</li></ol><ul><li>Nut</li></ul>"
    assert read(tmp_path, f"<main>{page}</main>")[0].split() == ["1.", "Open", "9.", "Close", "10.", "Lock", "Bolt", "Nut"]
    assert read(tmp_path, "<main><ol><li>1. Open</li></ol></main>")[0] == "1. Open"


def test_a_form_that_is_filled_in_is_text(tmp_path: Path) -> None:
    page = """<h1>Order</h1><form><label>Name <input value="Olsen"></label> <select><option>Rome<option selected>Oslo</select>
    <textarea>leave at the door</textarea><input type=checkbox checked> ship <input type=checkbox> pick up <input type=hidden value=token>
    <input type=password value=secret></form>"""
    text, _ = read(tmp_path, page)
    assert text.split() == ["Name", "Olsen", "Oslo", "leave", "at", "the", "door", "[x]", "ship", "[", "]", "pick", "up"]


def test_hidden_and_struck_text_is_left_out_with_a_remark(tmp_path: Path) -> None:
    page = """<style>.gone, #secret { display: none } .old { text-decoration: line-through } @media print { .shown { display: none } }
    .tab { display: none } .tab.active { display: block }</style><h1>Lamp</h1>
<p>The price is <s>40</s> <del>45</del> <span class=old>48</span> <ins>55</ins> euros.</p><p class=shown>Shown.</p>
    <p class=tab>In a tab.</p>
    <p class=gone>gone</p><div id=secret>gone</div><p style="display: none">gone</p><p hidden>gone</p><template>gone</template>
    <details><summary>How?</summary>Unfolded.</details>"""
    text, remarks = read(tmp_path, page)
    assert text.split() == ["The", "price", "is", "55", "euros.", "Shown.", "In", "a", "tab.", "How?", "Unfolded."]
    assert sorted(remarks) == ["left out: 3 struck passages", "left out: 5 hidden passages"]


def test_a_formula_for_screen_readers_is_read_once(tmp_path: Path) -> None:
    math = "<math><msup><mi>x</mi><mn>2</mn></msup></math>"
    page = f"""<p>Area <span class=katex><span class=katex-mathml>{math}</span><span class=katex-html aria-hidden=true>x2</span></span> or
    <span class=mwe-math-mathml-inline style="display: none">{math}</span><img class=mwe-math aria-hidden=true alt="x^2">.</p>"""
    assert read(tmp_path, f"<main>{page}</main>") == ("Area x^2 or x^2.", [])


def test_a_page_that_is_written_by_scripts_has_its_text_without_them(tmp_path: Path) -> None:
    assert (
        read(tmp_path, "<body><script>run()</script><noscript><p>The pump runs at 40 bar.</p></noscript></body>")[0]
        == "The pump runs at 40 bar."
    )
    assert (
        read(tmp_path, "<body><p>The pump runs at 40 bar.</p><noscript>Enable scripts.</noscript></body>")[0] == "The pump runs at 40 bar."
    )


def headings(tmp_path: Path, page: str) -> list[str]:
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    return [document.metadata.get("heading", "") for document in load_files(tmp_path / "page.html", clean=False)]


TEXT = "<p>We open at nine in the morning and close at five.</p>"


@pytest.mark.parametrize(
    "bold", ["<p><b>Opening hours</b></p>", "<div><strong>Opening hours</strong></div>", "<p style='font-weight: bold'>Opening hours</p>"]
)
def test_a_short_bold_paragraph_above_text_is_a_heading(tmp_path: Path, bold: str) -> None:
    assert headings(tmp_path, f"<h1>Museum</h1>{TEXT}{bold}{TEXT}") == ["Museum", "Museum > Opening hours"]


@pytest.mark.parametrize(
    "bold",
    ["<b>Note:</b>", "<b>Warning</b>", "<b>This lid must never be opened.</b>", "<b>Opening</b> hours", "<b>40 %</b>", "Opening hours"],
)
def test_a_bold_sentence_label_or_word_is_no_heading(tmp_path: Path, bold: str) -> None:
    assert headings(tmp_path, f"<h1>Museum</h1>{TEXT}<p>{bold}</p>{TEXT}") == ["Museum"]


def test_parts_of_the_site_are_no_text_and_are_counted(tmp_path: Path) -> None:
    page = """<body><a class=skip-link href="#a">Skip to main content</a><div class=breadcrumbs><a href=/>Home</a> &gt; Pumps</div>
    <div class=hero>
    <h1>Acme pumps</h1><p>Pumps for a better tomorrow</p></div><div class=cookie-banner>We use cookies.<button>Accept</button></div>
    <h2>On this page</h2><ul><li><a href="#a">Weights</a></li><li><a href="#b">Prices</a></li></ul><p id=a>The pump weighs 40 kg.</p>
    <a href=/x>Pumps</a> <a href=/y>Valves</a> <a href=/z>Seals</a><p id=b>The pump costs 400 euros.</p>
    <div class=share-buttons>Share on X</div><div class=newsletter-signup>Subscribe to our newsletter!</div>
    <div class=related-posts><h3>Related articles</h3><ul><li><a href=/1>One</a></li><li><a href=/2>Two</a></li></ul></div></body>"""
    (tmp_path / "page.html").write_text(page)
    loaded = load_files(tmp_path / "page.html", clean=False)
    texts = [document for document in loaded if "role" not in document.metadata]
    assert "\n".join(document.page_content for document in texts).split() == [
        "The",
        "pump",
        "weighs",
        "40",
        "kg.",
        "The",
        "pump",
        "costs",
        "400",
        "euros.",
    ]
    assert {document.metadata["heading"] for document in texts} == {"Acme pumps"}
    assert {remark for _, remark in loaded.remarks} == {"left out: 6 menus or other parts of the site", "left out: 1 slogan"}


def test_sections_named_like_parts_of_a_site_are_text(tmp_path: Path) -> None:
    page = """<main><h1>Manual</h1><section id=cookie-banner><h2>Cookie banner</h2><p>The banner has 2 buttons.</p></section>
    <p class=tagline>Version 4.2 is from May.</p></main>"""
    text, remarks = read(tmp_path, page)
    assert "The banner has 2 buttons." in text
    assert "Version 4.2" in text
    assert remarks == []


@pytest.mark.parametrize(
    "style",
    ["opacity: 0", "font-size:0", "color: transparent", "position: absolute; left: -9999px", "color: #fff; background: #fff",
     "color: white", "clip: rect(0, 0, 0, 0)", "content-visibility: hidden"],
)  # fmt: skip
def test_text_that_a_style_hides_is_left_out_with_a_remark(tmp_path: Path, style: str) -> None:
    text, remarks = read(tmp_path, f"<main><p style='{style}'>The password is hunter.</p><p>The pump runs at 40 bar.</p></main>")
    assert text == "The pump runs at 40 bar."
    assert remarks == ["left out: 1 hidden passage"]


@pytest.mark.parametrize(
    "style", ["opacity: 0; transform: translateY(9px)", "opacity: 0.8", "font-size: 0.9em", "left: -9px", "color: #fff; background: #000"]
)
def test_text_that_a_style_only_dresses_is_read(tmp_path: Path, style: str) -> None:
    assert read(tmp_path, f"<main><p style='{style}'>The pump runs at 40 bar.</p></main>") == ("The pump runs at 40 bar.", [])


@pytest.mark.parametrize("form", ["html", "md"])
def test_a_heading_without_text_of_its_own_is_text_unless_it_is_the_title(tmp_path: Path, form: str) -> None:
    headings = ["Pumps", "Phone 0800 771 22", "Valves", "Press the red button"]
    if form == "html":
        below = f"<h2>{headings[1]}</h2><h2>{headings[2]}</h2><p>They run at 40 bar.</p><h2>{headings[3]}</h2>"
        page = f"<title>Pumps</title><h1>{headings[0]}</h1>{below}"
    else:
        page = f"# {headings[0]}\n\n## {headings[1]}\n\n## {headings[2]}\n\nThey run at 40 bar.\n\n## {headings[3]}\n"
    (tmp_path / f"page.{form}").write_text(page, encoding="utf-8")
    documents = list(load_files(tmp_path / f"page.{form}", clean=False))
    assert [document.page_content for document in documents] == [headings[1], "They run at 40 bar.", headings[3]]
    assert documents[1].metadata["heading"] == "Pumps > Valves"


def test_elements_whose_role_is_a_heading_or_a_table_are_one(tmp_path: Path) -> None:
    assert headings(tmp_path, "<div role=heading aria-level=2>Pumps</div><p>They run at 40 bar.</p>") == ["Pumps"]
    rows = [("columnheader", "City", "People"), ("cell", "Oslo", "700000")]
    cells = "".join(f"<div role=row><span role={role}>{one}</span><span role={role}>{other}</span></div>" for role, one, other in rows)
    assert read(tmp_path, f"<main><div role=table>{cells}</div></main>")[0] == "City | People\nOslo | 700000"


def test_a_button_within_a_sentence_is_a_word_of_it(tmp_path: Path) -> None:
    assert read(tmp_path, "<main><p>Press <button>Start</button> twice.</p><button>Send</button></main>")[0] == "Press Start twice."


def test_an_item_without_text_counts(tmp_path: Path) -> None:
    assert read(tmp_path, "<main><ol><li>Open</li><li></li><li>Close</li></ol></main>")[0].split("\n") == ["1. Open", "3. Close"]


def test_links_to_share_or_go_back_and_subscriptions_are_no_text_but_menus_of_food_are(tmp_path: Path) -> None:
    text = "The crane of the harbour lifts twenty tons."
    site = (
        "<div class=share><a href='https://f.example'>Share this page</a> <a href='https://t.example'>Tweet</a></div>"
        "<a href='#top'>Back to top</a><form><p>Subscribe to our letter!</p><input type=email><button>Go</button></form>"
    )
    assert read(tmp_path, f"<main><p>{text}</p>{site}</main>")[0] == text
    menu = "<div id=menu><p>Soup of the day, 6 euros</p></div>"
    assert "Soup of the day" in read(tmp_path, f"<h1>Inn</h1><p>{text}</p><p>{text}</p>{menu}")[0]

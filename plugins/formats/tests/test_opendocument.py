"""OpenDocument texts are read as a reader sees them; what is not valid is left out, and this is remarked."""

from pathlib import Path

import pytest

from plugins.formats.tests.office_files import MATH, common, content, list_style, read_opendocument, remarks, text, text_style

CLAUSES = list_style(
    "L",
    'style:num-format="1" style:num-suffix="."',
    'style:num-format="1" text:display-levels="2"',
    'style:num-format="a" style:num-prefix="(" style:num-suffix=")"',
)


START = 'text:start-value="9"'


def item(words: str, attributes: str = "") -> str:
    """Return an item of a list."""
    return f"<text:list-item {attributes}><text:p>{words}</text:p></text:list-item>"


def test_clauses_have_the_numbers_that_a_reader_sees(tmp_path: Path) -> None:
    body = (
        f'<text:list text:style-name="L" xml:id="one">{item("Scope")}<text:list-item><text:p>Delivery</text:p><text:list>'
        f"<text:list-item><text:p>Time</text:p><text:list>{item('Nine weeks')}{item('Delay')}</text:list></text:list-item>{item('Place')}"
        f"</text:list></text:list-item></text:list><text:p>Between.</text:p>"
        f'<text:list text:style-name="L" text:continue-numbering="true"><text:list-item><text:list>{item("Risk")}</text:list>'
        "</text:list-item>"
        f'{item("Liability")}</text:list><text:list text:style-name="L">{item("Anew")}</text:list>'
        f'<text:list text:style-name="L" text:continue-list="one">{item("Law", START)}</text:list>'
    )
    assert text(read_opendocument(tmp_path, body, CLAUSES)).splitlines() == [
        "1. Scope", "2. Delivery", "2.1 Time", "(a) Nine weeks", "(b) Delay", "2.2 Place", "Between.", "2.3 Risk", "3. Liability",
        "1. Anew", "9. Law",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("level", "labels"),
    [
        ('style:num-format="a" style:num-suffix=")" text:start-value="26"', ["z)", "aa)", "ab)"]),
        ('style:num-format="A" text:start-value="26" style:num-letter-sync="true"', ["Z", "AA", "BB"]),
        ('style:num-format="i" style:num-suffix="." text:start-value="8"', ["viii.", "ix.", "x."]),
        ('style:num-format="I" text:start-value="3999"', ["MMMCMXCIX", "4000", "4001"]),
        ('style:num-format="1" style:num-prefix="§ "', ["§ 1", "§ 2", "§ 3"]),
        ('style:num-format="1" loext:num-list-format="Article %1%:"', ["Article 1:", "Article 2:", "Article 3:"]),
        ('style:num-format=""', ["-", "-", "-"]),
    ],
)
def test_forms_of_numbers(level: str, labels: list[str], tmp_path: Path) -> None:
    body = f'<text:list text:style-name="N">{item("x")}{item("y")}{item("z")}</text:list>'
    read = text(read_opendocument(tmp_path, body, list_style("N", level)))
    assert read.splitlines() == [f"{label} {word}" for label, word in zip(labels, "xyz", strict=True)]


def test_items_without_a_number_and_with_several_paragraphs(tmp_path: Path) -> None:
    body = (
        '<text:list text:style-name="L"><text:list-header><text:p>Steps</text:p></text:list-header><text:list-item><text:p>Open</text:p>'
        f'<text:p>the guard</text:p></text:list-item>{item("Close")}<text:list-item><text:p text:style-name="Off">aside</text:p>'
        f"</text:list-item>{item('Press')}</text:list><text:list>{item('a bullet')}</text:list>"
    )
    off = '<style:style style:name="Off" style:family="paragraph"><style:paragraph-properties text:enable-numbering="false"/></style:style>'
    lines = text(read_opendocument(tmp_path, body, CLAUSES + off)).splitlines()
    assert lines == ["Steps", "1. Open", "the guard", "2. Close", "aside", "3. Press", "- a bullet"]


def test_headings_have_their_numbers_from_the_outline_or_their_list(tmp_path: Path) -> None:
    level = '<text:outline-level-style text:level="{0}" style:num-format="{1}" text:display-levels="{0}"/>'
    outline = f'<text:outline-style style:name="O">{level.format(1, 1)}{level.format(2, "a")}</text:outline-style>'
    bare = '<style:style style:name="Bare" style:family="paragraph" style:list-style-name=""/>'
    body = (
        '<text:h text:outline-level="1">Scope</text:h><text:p>One.</text:p><text:h text:outline-level="1">Delivery</text:h>'
        '<text:h text:outline-level="2">Time</text:h><text:p>Two.</text:p>'
        '<text:h text:outline-level="2">Place</text:h><text:p>Three.</text:p>'
        '<text:h text:style-name="Bare" text:outline-level="1">Foreword</text:h><text:p>Four.</text:p>'
        '<text:list text:style-name="L"><text:list-item><text:h text:outline-level="1">Listed</text:h>'
        "<text:p>Five.</text:p></text:list-item></text:list>"
        '<text:h text:outline-level="1"><text:number>7 </text:number>Stored</text:h><text:p>Six.</text:p>'
    )
    read = read_opendocument(tmp_path, body, CLAUSES + bare, parts={"styles.xml": common(outline)})
    assert [document.metadata["heading"] for document in read.documents] == [
        "1 Scope", "2 Delivery > 2.a Time", "2 Delivery > 2.b Place", "Foreword", "1. Listed", "7 Stored",
    ]  # fmt: skip


def test_fields_show_their_stored_results(tmp_path: Path) -> None:
    body = (
        "<text:user-field-decls><text:user-field-decl text:name='n'/></text:user-field-decls><text:p>Table "
        "<text:sequence>7</text:sequence>, see <text:bookmark-ref>2.1</text:bookmark-ref>: "
        "<text:user-field-get>K-4471</text:user-field-get>"
        ", <text:date>3 May 2026</text:date>, <text:database-display>Mrs Brandt</text:database-display>, page "
        "<text:page-number>3</text:page-number>, "
        "<text:drop-down><text:label text:value='red'/><text:label text:value='green'/>green</text:drop-down>, "
        "<text:conditional-text>shown</text:conditional-text>, <text:ruby><text:ruby-base>漢字</text:ruby-base>"
        "<text:ruby-text>かんじ</text:ruby-text></text:ruby>, "
        "<loext:content-control loext:checkbox='true' loext:checked='true'>☒</loext:content-control> paid, "
        "<loext:content-control loext:checkbox='true'>☐</loext:content-control> late, "
        "<field:fieldmark field:type='vnd.oasis.opendocument.field.FORMCHECKBOX'>"
        "<field:param field:name='Checkbox_Checked' field:value='true'/></field:fieldmark> signed, "
        "Donau<text:span>\u00addampf</text:span>.</text:p>"
    )
    assert text(read_opendocument(tmp_path, body)) == (
        "Table 7, see 2.1: K-4471, 3 May 2026, Mrs Brandt, page 3, green, shown, 漢字(かんじ), [x] paid, [ ] late, [x] signed, Donaudampf."
    )


def test_controls_of_forms_show_their_values(tmp_path: Path) -> None:
    controls = (
        '<form:text form:id="a" form:value="" form:current-value="Sea Otter"/><form:checkbox form:id="b" form:label="Electricity" '
        'form:current-state="checked"/><form:checkbox form:id="c" form:label="Water" form:state="unchecked"/><form:listbox form:id="d">'
        '<form:option form:label="short"/><form:option form:label="long" form:current-selected="true"/></form:listbox>'
        '<form:combobox form:id="e" form:value="Harrow"/><form:password form:id="f" form:value="hunter"/>'
        '<form:radio form:id="g" form:label="North" form:current-selected="true"/>'
    )
    shown = "".join(f'<draw:control draw:control="{name}"/>; ' for name in "abcdefg")
    body = f"<office:forms><form:form>{controls}</form:form></office:forms><text:p>Form: {shown}</text:p>"
    assert text(read_opendocument(tmp_path, body)) == "Form: Sea Otter; [x] Electricity; [ ] Water; long; Harrow; ; [x] North;"


def test_the_placeholder_of_an_empty_control_and_hidden_shapes_are_left_out(tmp_path: Path) -> None:
    control = "<loext:content-control {}>{}</loext:content-control>".format
    shape = '<draw:rect xmlns:ext="http://openoffice.org/2010/draw" ext:display="none"><text:p>Draft</text:p></draw:rect>'
    empty, chosen = control('loext:showing-place-holder="true"', "Choose an item"), control('loext:dropdown="true"', "green")
    read = read_opendocument(tmp_path, f"<text:p>Colour: {chosen}, {empty}{shape}</text:p>")
    assert text(read) == "Colour: green,"
    assert sorted(remarks(read)) == ["left out: 1 hidden shape", "left out: 1 placeholder of an empty field"]


def test_an_equation_stands_on_its_line(tmp_path: Path) -> None:
    equation = f"<math {MATH}><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>"
    frame = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    body = f"<text:p>By {frame} it holds, and <draw:frame><draw:object>{equation}</draw:object></draw:frame> again.</text:p>"
    read = read_opendocument(tmp_path, body, parts={"Object 1/content.xml": equation})
    assert text(read) == "By E=mc^2 it holds, and E=mc^2 again."


def test_a_chart_is_its_titles_and_its_table(tmp_path: Path) -> None:
    def row(*cells: str) -> str:
        written = "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in cells)
        return f"<table:table-row>{written}</table:table-row>"

    chart = (
        "<chart:chart><chart:title><text:p>Ferries</text:p></chart:title><table:table><table:table-header-rows>"
        f"{row('', 'Carts', 'People')}</table:table-header-rows><table:table-rows>{row('1958', '12', '340')}"
        "</table:table-rows></table:table>"
        "</chart:chart>"
    )
    body = '<text:p>See:<draw:frame><draw:object xlink:href="./Object 2"/></draw:frame></text:p>'
    lines = text(read_opendocument(tmp_path, body, parts={"Object 2/content.xml": content("chart", chart)})).splitlines()
    assert [line.strip("| ") for line in lines] == ["See:", "Ferries", "Carts | People", "1958 | 12 | 340"]


def test_struck_and_hidden_text_is_left_out_and_said(tmp_path: Path) -> None:
    styles = (
        text_style("Struck", 'style:text-line-through-style="solid"')
        + text_style("Not", 'style:text-line-through-style="none"')
        + text_style("Hidden", 'text:display="none"')
        + text_style("P", 'text:display="none"', "paragraph")
        + '<style:style style:name="Child" style:family="text" style:parent-style-name="Struck"/>'
    )
    body = (
        '<text:p>The lamp costs <text:span text:style-name="Child">40 euros <text:span text:style-name="Not">or</text:span></text:span> '
        '55 euros<text:span text:style-name="Hidden"> secretly</text:span>.</text:p>'
        '<text:p text:style-name="P">A hidden paragraph.</text:p>'
        '<text:section text:display="none"><text:p>A hidden section.</text:p></text:section>'
        '<text:p>Word <text:hidden-text text:is-hidden="true" text:string-value="unseen"/>'
        '<text:hidden-paragraph text:is-hidden="true"/></text:p>'
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>thrown away</text:p></text:deletion></text:changed-region>"
        "</text:tracked-changes><text:p>Kept<office:annotation><dc:creator>Ida</dc:creator><text:p>check this</text:p>"
        "</office:annotation>.</text:p>"
    )
    read = read_opendocument(tmp_path, body, styles)
    assert text(read) == "The lamp costs or 55 euros.\nKept.\nComment (Ida): check this"
    assert sorted(remarks(read)) == [
        "left out: 1 deleted passage", "left out: 1 struck passage", "left out: 4 hidden passages",
    ]  # fmt: skip


def test_raised_digits_never_extend_a_number(tmp_path: Path) -> None:
    styles = text_style("Up", 'style:text-position="super 58%"') + text_style("Low", 'style:text-position="-33% 58%"')
    up, low = '<text:span text:style-name="Up">{}</text:span>', '<text:span text:style-name="Low">{}</text:span>'
    body = f"<text:p>In 1911{up.format(1)} it was 10{up.format(5)} units of H{low.format(2)}O and x1{low.format(2)}.</text:p>"
    assert text(read_opendocument(tmp_path, body, styles)) == "In 1911[1] it was 10^5 units of H2O and x1_2."


def test_merged_cells_fill_what_they_span_and_headers_are_joined(tmp_path: Path) -> None:
    def cell(words: str, spans: str = "") -> str:
        return f"<table:table-cell {spans}><text:p>{words}</text:p></table:table-cell>"

    wide, high = 'table:number-columns-spanned="2"', 'table:number-rows-spanned="2"'
    covered = "<table:covered-table-cell/>"
    body = (
        f"<table:table><table:table-header-rows><table:table-row>{cell('Agent', high)}{cell('Soft water', wide)}{covered}</table:table-row>"
        f"<table:table-row>{covered}{cell('Summer')}{cell('Winter')}</table:table-row></table:table-header-rows>"
        f"<table:table-row>{cell('Clarex', high)}{cell('10')}{cell('12')}</table:table-row>"
        f"<table:table-row>{covered}{cell('')}{cell('24')}</table:table-row></table:table><text:p>After.</text:p>"
    )
    assert text(read_opendocument(tmp_path, body)).splitlines() == [
        "Agent | Soft water, Summer | Soft water, Winter", "Clarex | 10 | 12", "Clarex | | 24", "After.",
    ]  # fmt: skip


def test_a_note_within_a_cell_stands_below_the_table(tmp_path: Path) -> None:
    note = "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Without tax.</text:p></text:note-body></text:note>"
    inner = "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row></table:table>"
    body = (
        f"<table:table><table:table-row><table:table-cell><text:p>40{note}</text:p></table:table-cell><table:table-cell>{inner}"
        "<text:p>b</text:p></table:table-cell></table:table-row></table:table>"
    )
    assert text(read_opendocument(tmp_path, body)).splitlines() == ["40[1] | a b", "[1] Without tax."]


def test_headers_and_footers_are_read_once_but_not_page_numbers(tmp_path: Path) -> None:
    number = "<text:p>Page <text:page-number>1</text:page-number> of <text:page-count>9</text:page-count></text:p>"
    masters = (
        f'<style:master-page style:name="Standard" style:next-style-name="Rest"><style:header>'
        f"<text:p>Contract K-4471</text:p></style:header>"
        f'<style:footer>{number}</style:footer></style:master-page><style:master-page style:name="Rest"><style:header>'
        "<text:p>Contract K-4471</text:p></style:header><style:footer><text:p>Confidential</text:p></style:footer></style:master-page>"
        '<style:master-page style:name="Unused"><style:header><text:p>Never</text:p></style:header></style:master-page>'
    )
    read = read_opendocument(tmp_path, "<text:p>Body.</text:p>", parts={"styles.xml": common("", masters)})
    assert text(read).splitlines() == ["Contract K-4471", "Body.", "Confidential"]


def test_text_boxes_and_shapes_follow_their_paragraph(tmp_path: Path) -> None:
    box = "<draw:frame><draw:text-box><text:p>Boxed <draw:frame><draw:text-box><text:p>twice</text:p></draw:text-box></draw:frame></text:p>"
    body = f"<text:p>Before{box}</draw:text-box></draw:frame> after.<draw:custom-shape><text:p>Star</text:p></draw:custom-shape></text:p>"
    assert text(read_opendocument(tmp_path, body)).splitlines() == ["Before after.", "Boxed", "twice", "Star"]


def test_a_table_of_contents_is_stored_apart(tmp_path: Path) -> None:
    contents = "<text:table-of-content><text:index-body><text:p>Scope 1</text:p></text:index-body></text:table-of-content>"
    read = read_opendocument(tmp_path, f"{contents}<text:p>Text.</text:p>")
    assert [(document.page_content, document.metadata.get("role")) for document in read.documents] == [
        ("Text.", None),
        ("Scope 1", "contents"),
    ]


def test_a_heading_without_text_is_kept(tmp_path: Path) -> None:
    body = "<text:h>Scope</text:h><text:p>Text.</text:p><text:h>Signed on 3 May</text:h>"
    assert text(read_opendocument(tmp_path, body)).splitlines() == ["Text.", "Signed on 3 May"]


def test_what_is_not_read_is_named(tmp_path: Path) -> None:
    body = (
        '<text:p>Text.<draw:frame><draw:object-ole xlink:href="./ole"/></draw:frame><draw:frame><draw:image/>'
        "<svg:desc>A red boat</svg:desc></draw:frame></text:p>"
    )
    assert sorted(remarks(read_opendocument(tmp_path, body))) == ["left out: 1 description of a picture", "not read: 1 embedded object"]


def test_an_object_that_contains_itself_is_read_once(tmp_path: Path) -> None:
    body = '<text:p>Outer<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p>'
    inner = content("text", body.replace("Outer", "Inner"))
    assert text(read_opendocument(tmp_path, body, parts={"Object 1/content.xml": inner})).splitlines() == ["Outer", "Inner"]

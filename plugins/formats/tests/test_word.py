"""What a reader of a Word document sees is read: fields, controls, notes, headers, boxes, charts; what is struck or hidden is not."""

from pathlib import Path

import pytest

from plugins.formats.tests.made import docx
from plugins.formats.tests.word import cell, field, heading, paragraph, row, run, table
from ramify.tools.documents.files import File, ReadReport
from ramify.tools.documents.readers import parse_file
from tests.faults import fault

BODY = "The crane was inspected by the harbour office in the spring of that year."


class Read:
    """What was read of a document: its text, by heading, and the remarks."""

    def __init__(self, folder: Path, body: str, **parts: str) -> None:
        path = folder / "a.docx"
        path.write_bytes(docx(body, parts))
        report = ReadReport()
        self.documents = list(parse_file(File(path, path.name, folder), report, clean=False))
        self.text = "\n\n".join(document.page_content for document in self.documents)
        self.lines = [line.rstrip() for line in self.text.splitlines() if line]
        self.by_heading = {str(document.metadata.get("heading", "")): document.page_content for document in self.documents}
        self.remarks = [remark for _, remark in report.remarks]


def test_fields_are_read_with_their_stored_results(tmp_path: Path) -> None:
    simple = '<w:fldSimple w:instr=" SEQ Table "><w:r><w:t>7</w:t></w:r></w:fldSimple>'
    within = field('HYPERLINK "x"', run("to ") + field("REF a", run("clause 4")))
    body = paragraph(run("Table "), simple, run(": wear of "), field("MERGEFIELD Name", run("Ms Brandt")), run(", link "), within)
    assert Read(tmp_path, body).text == "Table 7: wear of Ms Brandt, link to clause 4"


def test_only_the_result_of_a_condition_is_read(tmp_path: Path) -> None:
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>IF </w:instrText></w:r>'
    end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    condition = f'{begin}{field("MERGEFIELD sex", run("m"))}<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("Mr")}{end}'
    assert Read(tmp_path, paragraph(condition, run(" Smith"))).text == "Mr Smith"


def test_fields_without_a_stored_result_are_remarked_once(tmp_path: Path) -> None:
    empty = paragraph(run("Sum: "), field("MERGEFIELD Sum"), '<w:fldSimple w:instr="DOCPROPERTY x"/>', field('XE "entry"'))
    (remark,) = Read(tmp_path, empty * 2).remarks
    assert "MERGEFIELD (2)" in remark
    assert "DOCPROPERTY (2)" in remark
    assert "XE" not in remark


def test_a_field_that_does_not_end_hides_no_further_text(tmp_path: Path) -> None:
    begun = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>'
    assert BODY in Read(tmp_path, paragraph(run("Before "), begun) + paragraph(run(BODY))).text


def test_states_of_form_fields_and_controls_are_read(tmp_path: Path) -> None:
    box = "<w:ffData><w:checkBox><w:default w:val='0'/>{}</w:checkBox></w:ffData>"
    colours = '<w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/><w:listEntry w:val="blue"/></w:ddList></w:ffData>'
    control = (
        '<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="{}"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:t>{}</w:t></w:r>'
        "</w:sdtContent></w:sdt>"
    )
    chosen = "<w:sdt><w:sdtPr><w:dropDownList/></w:sdtPr><w:sdtContent><w:r><w:t>Oslo</w:t></w:r></w:sdtContent></w:sdt>"
    body = paragraph(
        *(field("FORMCHECKBOX", None, box.format("<w:checked/>")), run(" yes "), field("FORMCHECKBOX", None, box.format("")), run(" no ")),
        *(field("FORMDROPDOWN", None, colours), run(", "), control.format(1, "☒"), run(" paid, "), control.format(0, "☐"), run(" late, ")),
        chosen,
    )
    assert Read(tmp_path, body).text == "[x] yes [ ] no blue, [x] paid, [ ] late, Oslo"


def test_a_control_around_rows_cells_and_paragraphs_is_read(tmp_path: Path) -> None:
    around = "<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>".format
    body = around(paragraph(run("In a control."))) + table(around(row(around(cell("Lamp")), cell("40"))), row(cell("Chair"), cell("55")))
    assert Read(tmp_path, body).lines == ["In a control.", "Lamp | 40", "Chair | 55"]


def test_the_placeholder_of_an_empty_control_is_left_out(tmp_path: Path) -> None:
    control = "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>".format
    empty = control(run("Click here to enter text.", '<w:rStyle w:val="PlaceholderText"/>'))
    read = Read(tmp_path, paragraph(run("Name: "), empty) + paragraph(control(run("Filled in by a program."))))
    assert read.lines == ["Name:", "Filled in by a program."]
    assert read.remarks == ["left out: 1 placeholder of an empty field"]


def test_equations_and_readings_of_characters_are_text(tmp_path: Path) -> None:
    power = "<m:oMath><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>"
    ruby = "<w:r><w:ruby><w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase></w:ruby></w:r>"
    body = paragraph(run("Area is"), power, run("here.")) + paragraph(ruby, run("に行く。"))
    assert Read(tmp_path, body).lines == ["Area is r^2 here.", "東京(とうきょう)に行く。"]


def test_symbols_hyphens_tabs_and_breaks(tmp_path: Path) -> None:
    symbols = '<w:r><w:sym w:font="Symbol" w:char="F0B3"/></w:r><w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>'
    runs = "<w:r><w:t>well</w:t><w:noBreakHyphen/><w:t>known co</w:t><w:softHyphen/><w:t>operation</w:t><w:br/>"
    runs += "<w:t>Sum</w:t><w:tab/><w:t>4</w:t></w:r>"
    micro = paragraph(run("5 "), run("m", '<w:rFonts w:ascii="Symbol"/>'), run("g"))
    assert Read(tmp_path, paragraph(symbols) + paragraph(runs) + micro).lines == ["≥✓", "well-known cooperation", "Sum 4", "5 μg"]


def test_raised_and_lowered_digits_never_extend_a_number(tmp_path: Path) -> None:
    raised, lowered = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'
    moved = '<w:position w:val="8"/>'
    text = paragraph(
        *(
            run("In 1911"),
            run("1", raised),
            run(" it lifted 10"),
            run("5", moved),
            run(" N of H"),
            run("2", lowered),
            run("O and SO"),
            run("4", lowered),
            run("2-", raised),
        )
    )
    style = '<w:style w:type="character" w:styleId="High"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
    by_style = paragraph(run("It has 2"), run("64", '<w:rStyle w:val="High"/>'), run(" states."))
    assert Read(tmp_path, text + by_style, styles=style).lines == ["In 1911[1] it lifted 10^5 N of H2O and SO4^2-", "It has 2^64 states."]


def test_struck_and_hidden_text_is_left_out_with_a_remark(tmp_path: Path) -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="Note"><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Inner"><w:basedOn w:val="Note"/></w:style>'
        '<w:style w:type="character" w:styleId="Old"><w:rPr><w:strike/></w:rPr></w:style>'
    )
    body = (
        paragraph(
            run("It costs "),
            run("40", "<w:strike/>"),
            run(" 45", "<w:dstrike/>"),
            run(" 55 euros"),
            run(", once 30", '<w:rStyle w:val="Old"/>'),
        )
        + paragraph(run("The margin is 60 per cent."), style="Inner")
        + paragraph(run("Shown", '<w:vanish w:val="false"/>'), run(" too", "<w:vanish w:val='0'/>"), style="Note")
        + table(row(cell("Lamp"), cell("55")), row(cell("secret"), cell("9"), properties="<w:hidden/>"))
    )
    read = Read(tmp_path, body, styles=styles)
    assert read.lines == ["It costs 55 euros", "Shown too", "Lamp | 55"]
    assert read.remarks == ["left out: 2 struck passages", "left out: 1 hidden passage", "left out: 1 hidden row"]


def test_tracked_changes_are_read_as_accepted(tmp_path: Path) -> None:
    body = (
        paragraph(run("The fee is "), "<w:del><w:r><w:delText>40</w:delText></w:r></w:del>", f"<w:ins>{run('55')}</w:ins>", run(" euros."))
        + paragraph(f"<w:moveFrom>{run('It moved.')}</w:moveFrom>", properties="<w:rPr><w:moveFrom/></w:rPr>")
        + paragraph(run("Middle."))
        + paragraph(f"<w:moveTo>{run('It moved.')}</w:moveTo>")
        + paragraph(run("First half"), properties="<w:rPr><w:del/></w:rPr>")
        + paragraph(run(" and second half."))
        + table(row(cell("Lamp"), cell("40"), properties="<w:del/>"), row(cell("Lamp"), cell("55"), properties="<w:ins/>"))
    )
    read = Read(tmp_path, body)
    assert read.lines == ["The fee is 55 euros.", "Middle.", "It moved.", "First half and second half.", "Lamp | 55"]
    assert read.remarks == ["left out: 2 deleted passages", "left out: 1 old copy of a moved passage"]


def test_headers_and_footers_are_read_once_without_page_numbers(tmp_path: Path) -> None:
    section = (
        '<w:sectPr><w:headerReference w:type="default" r:id="header1"/><w:headerReference w:type="first" r:id="header2"/>'
        '<w:headerReference w:type="even" r:id="header3"/><w:footerReference w:type="default" r:id="footer1"/><w:titlePg/></w:sectPr>'
    )
    page = paragraph(run("Page "), field("PAGE", run("3")), run(" of "), field("NUMPAGES", run("12")))
    read = Read(
        tmp_path,
        paragraph(run(BODY), properties=section) + paragraph(run("Part two.")) + section,
        header1=paragraph(run("Acme Ltd, order 7731")),
        header2=paragraph(run("Acme Ltd, order 7731")) + paragraph(run("Your sign: KB")),
        header3=paragraph(run("Old order 4410")),
        footer1=page + paragraph(run("Registered in Leeds")),
    )
    assert read.lines == ["Acme Ltd, order 7731", "Your sign: KB", BODY, "Part two.", "Registered in Leeds"]
    assert any("no page shows" in remark for remark in read.remarks)


def test_even_headers_are_read_where_they_are_shown(tmp_path: Path) -> None:
    section = '<w:sectPr><w:headerReference w:type="even" r:id="header1"/></w:sectPr>'
    read = Read(tmp_path, paragraph(run(BODY)) + section, header1=paragraph(run("Even pages")), settings="<w:evenAndOddHeaders/>")
    assert read.lines == ["Even pages", BODY]


def box(text: str) -> str:
    """Return the content of a text box."""
    return f"<w:txbxContent>{paragraph(run(text))}</w:txbxContent>"


def test_text_boxes_are_read_once_behind_their_paragraph(tmp_path: Path) -> None:
    shape = f"<wps:wsp><wps:txbx>{box('Mind the gap')}</wps:txbx></wps:wsp>"
    drawing = f"<w:drawing><a:graphic><a:graphicData>{shape}</a:graphicData></a:graphic></w:drawing>"
    picture = f"<w:pict><v:shape><v:textbox>{box('Mind the gap')}</v:textbox></v:shape></w:pict>"
    choice = f'<mc:Choice Requires="wps">{drawing}</mc:Choice><mc:Fallback>{picture}</mc:Fallback>'
    both = f"<w:r><mc:AlternateContent>{choice}</mc:AlternateContent></w:r>"
    group = "".join(f"<v:shape><v:textbox>{box(text)}</v:textbox></v:shape>" for text in ("One", "Two"))
    body = paragraph(run("Before "), both, run("after.")) + paragraph(f"<w:r><w:pict><v:group>{group}</v:group></w:pict></w:r>")
    assert Read(tmp_path, body).lines == ["Before after.", "Mind the gap", "One", "Two"]


def test_notes_follow_their_paragraph_and_comments_name_their_author(tmp_path: Path) -> None:
    body = paragraph(
        *(run("Opened in 1911"), '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="2"/></w:r>'),
        *(run(" by the king"), '<w:r><w:endnoteReference w:id="5"/></w:r>', run(" for 50."), '<w:r><w:commentReference w:id="0"/></w:r>'),
    ) + paragraph(run("Then closed"), '<w:r><w:footnoteReference w:id="3" w:customMarkFollows="1"/><w:t>*</w:t></w:r>', run("."))
    read = Read(
        tmp_path,
        body,
        footnotes='<w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>'
        f'<w:footnote w:id="2">{paragraph(run("By the archive."))}</w:footnote>'
        f'<w:footnote w:id="3">{paragraph(run("* In part."))}</w:footnote><w:footnote w:id="9">{paragraph(run("Orphan."))}</w:footnote>',
        endnotes=f'<w:endnote w:id="5">{paragraph(run("King John."))}</w:endnote>',
        comments=f'<w:comment w:id="0" w:author="Ida Keller">{paragraph(run("Or 60?"))}</w:comment>',
    )
    assert read.lines == [
        "Opened in 1911[1] by the king[2] for 50.",
        *("[1] By the archive.", "[2] King John.", "Comment (Ida Keller): Or 60?"),
        *("Then closed[*].", "* In part."),
    ]
    assert read.remarks == ["left out: 1 footnote without a mark"]


def test_merged_cells_and_header_rows_of_tables(tmp_path: Path) -> None:
    down, across = '<w:vMerge w:val="restart"/>', '<w:gridSpan w:val="2"/>'
    body = table(
        row(cell("Agent", down), cell("Soft water", across), properties="<w:tblHeader/>"),
        row(cell("", "<w:vMerge/>"), cell("Summer"), cell("Winter"), properties="<w:tblHeader/>"),
        row(cell("Clarex", down), cell("10"), cell("")),
        row(cell("", "<w:vMerge/>"), cell("20"), cell("22")),
        row(cell("7"), cell("8"), properties='<w:gridBefore w:val="1"/>'),
    )
    assert Read(tmp_path, body).lines == [
        "Agent | Soft water, Summer | Soft water, Winter",
        *("Clarex | 10 |", "Clarex | 20 | 22", " | 7 | 8"),
    ]


def test_a_table_in_a_cell_stays_in_its_row_and_a_frame_is_text(tmp_path: Path) -> None:
    inner = table(row(cell("h"), cell("2")), row(cell("w"), cell("3"))) + paragraph()
    body = table(row(cell("Item"), cell("Size")), row(cell("Door"), cell(inner)), row(cell("Roof"), cell("large")))
    framed = table(row(cell(paragraph(run("In a frame.")) + inner)))
    assert Read(tmp_path, body + framed).lines == ["Item | Size", "Door | h, 2; w, 3", "Roof | large", "In a frame.", "h | 2", "w | 3"]


def test_charts_and_diagrams_are_text(tmp_path: Path) -> None:
    points = "".join(f'<c:pt idx="{place}"><c:v>{text}</c:v></c:pt>' for place, text in enumerate(["Oslo", "Bergen"]))
    values = points.replace("Oslo", "12").replace("Bergen", "0.30000000000000004")
    chart = (
        "<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>"
        '<c:ser><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>2024</c:v></c:pt></c:strCache></c:strRef></c:tx>'
        f"<c:cat><c:strRef><c:strCache>{points}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>{values}</c:numCache></c:numRef></c:val>"
        "</c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"
    )
    point = '<dgm:pt modelId="{}"><dgm:t><a:p><a:r><a:t>{}</a:t></a:r></a:p></dgm:t></dgm:pt>'.format
    links = '<dgm:cxn srcId="0" destId="1" srcOrd="0"/><dgm:cxn srcId="0" destId="2" srcOrd="1"/>'
    diagram = (
        f'<dgm:dataModel><dgm:ptLst><dgm:pt modelId="0" type="doc"/>{point(2, "Build")}{point(1, "Plan")}</dgm:ptLst>'
        f"<dgm:cxnLst>{links}</dgm:cxnLst></dgm:dataModel>"
    )
    drawn = [
        f"<w:r><w:drawing><a:graphic>{content}</a:graphic></w:drawing></w:r>"
        for content in ('<c:chart r:id="chart1"/>', '<dgm:relIds r:dm="data1"/>')
    ]
    read = Read(tmp_path, paragraph(*drawn), chart1=chart, data1=diagram)
    assert read.lines == ["Sales", " | 2024", "Oslo | 12", "Bergen | 0.3", "Plan", "Build"]


def test_what_is_no_text_is_counted_in_remarks(tmp_path: Path) -> None:
    picture = "<w:r><w:drawing><pic:pic/></w:drawing></w:r>"
    sheet = '<w:r><w:object><v:shape><v:imagedata/></v:shape><o:OLEObject ProgID="Excel.Sheet.12"/></w:object></w:r>'
    unknown = '<w:r><w:sym w:font="Wingdings 3" w:char="F0A0"/></w:r>'
    read = Read(tmp_path, paragraph(run(BODY), picture, picture, sheet, unknown) + '<w:altChunk r:id="rtf"/>')
    assert [remark.partition(" × ")[0] for remark in read.remarks] == ["not read: 2", "not read: 1", "not read: 1", "not read: 1"]


def test_a_web_page_within_a_document_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    part = b"MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n<html><body><h1>Terms</h1><p>Ninety days net.</p></body></html>"
    path.write_bytes(docx('<w:altChunk r:id="chunk"/>', {}, {"chunk.mht": part}))
    (document,) = parse_file(File(path, path.name, tmp_path), ReadReport(), clean=False)
    assert (document.metadata["heading"], document.page_content) == ("Terms", "Ninety days net.")


def test_a_list_of_contents_is_marked_as_such(tmp_path: Path) -> None:
    contents = "".join(paragraph(run(f"{name} {number}"), style="TOC1") for number, name in enumerate(["Scope", "Costs", "Terms"]))
    read = Read(tmp_path, contents + heading("Scope") + paragraph(run(BODY)), styles="")
    assert {document.metadata.get("role"): document.page_content for document in read.documents} == {
        "contents": "Scope 0\nCosts 1\nTerms 2",
        None: BODY,
    }


def test_headings_without_text_and_whole_clauses_in_the_style_of_headings_are_text(tmp_path: Path) -> None:
    clause = " ".join(["The contractor is not liable for damage by water."] * 4)
    body = (
        heading("Delivery")
        + heading("Within nine weeks of the order.", 2)
        + heading("To the site at Harrow.", 2)
        + heading("Liability")
        + heading(clause, 2)
        + heading("Signatures")
    )
    assert Read(tmp_path, body).by_heading == {
        "Delivery": "Within nine weeks of the order.\n\nTo the site at Harrow.",
        "Liability": clause,
        "": "Signatures",
    }


def test_bold_lines_are_headings_only_where_a_document_has_no_others(tmp_path: Path) -> None:
    bold = paragraph(run("Costs", "<w:b/>"))
    body = bold + paragraph(run(BODY)) + paragraph(run("Read this first.", "<w:b/>")) + paragraph(run("Note: ", "<w:b/>"), run("closed."))
    assert Read(tmp_path, body).by_heading == {"Costs": f"{BODY}\n\nRead this first.\n\nNote: closed."}
    assert Read(tmp_path, heading("Report") + paragraph(run(BODY)) + bold + paragraph(run(BODY))).by_heading == {
        "Report": f"{BODY}\n\nCosts\n\n{BODY}"
    }


def test_headings_are_found_by_their_outline_level_in_any_language(tmp_path: Path) -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="Kop1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="Artikel"><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    )
    body = paragraph(run("Levering"), style="Kop1") + paragraph(run("Plaats"), style="Artikel") + paragraph(run(BODY))
    assert Read(tmp_path, body, styles=styles).by_heading == {"Levering > Plaats": BODY}


def test_the_strict_namespaces_of_the_standard_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    body = paragraph(run("Shown "), run("gone", '<w:vanish w:val="true"/>')) + paragraph(field("REF a", run("clause 4")))
    path.write_bytes(docx(body, {}, strict=True))
    (document,) = parse_file(File(path, path.name, tmp_path), ReadReport(), clean=False)
    assert document.page_content == "Shown\n\nclause 4"


@fault("documents", "damaged part of a Word document", sees="a remark that names the part", kept="the text of the other parts")
@pytest.mark.parametrize("part", ["numbering", "styles", "footnotes", "header1"])
def test_a_damaged_part_costs_itself_alone(part: str, tmp_path: Path) -> None:
    read = Read(tmp_path, paragraph(run(BODY)), **{part: "<w:broken>"})
    assert read.text == BODY
    assert any(f"{part}.xml" in remark for remark in read.remarks)

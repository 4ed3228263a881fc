"""Slides are read as they are shown: tables, charts, diagrams, numbers, equations; what is hidden or struck is left out and said."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pptx import Presentation
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.util import Inches

from plugins.formats.tests.office_files import read_opendocument, remarks, text, text_style
from tests.tools.documents.shown import Shown, shown

_NAMES = {
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "a14": "http://schemas.microsoft.com/office/drawing/2010/main",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
}
_SPACES = " ".join(f'xmlns:{prefix}="{address}"' for prefix, address in _NAMES.items())
_AREA = (Inches(1), Inches(1), Inches(4), Inches(3))


def shape(paragraphs: str, kind: str = "") -> Any:
    """Return a shape with paragraphs of DrawingML; `kind` is that of a placeholder."""
    placeholder = f'<p:ph type="{kind}"/>' if kind else ""
    return parse_xml(
        f'<p:sp {_SPACES}><p:nvSpPr><p:cNvPr id="9" name="n"/><p:cNvSpPr/><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:spPr/>'
        f"<p:txBody><a:bodyPr/><a:lstStyle/>{paragraphs}</p:txBody></p:sp>"
    )


def run(words: str, attributes: str = "") -> str:
    """Return a run of text."""
    return f"<a:r><a:rPr {attributes}/><a:t>{words}</a:t></a:r>"


def read_slides(folder: Path, *fill: Callable[[Any], object]) -> Shown:
    """Write a presentation with a slide for each function that fills one, and read it."""
    made = Presentation()
    for function in fill:
        function(made.slides.add_slide(made.slide_layouts[6]))
    made.save(str(folder / "slides.pptx"))
    return shown(folder / "slides.pptx")


def paragraphs(words: str) -> Callable[[Any], object]:
    """Return a function that adds a shape with paragraphs to a slide."""
    return lambda slide: slide.shapes._spTree.append(shape(words))


def test_merged_cells_fill_what_they_span(tmp_path: Path) -> None:
    def fill(slide: Any) -> None:
        table = slide.shapes.add_table(4, 3, *_AREA).table
        for place, words in {
            (0, 0): "Agent",
            (0, 1): "Soft water",
            (1, 1): "Summer",
            (1, 2): "Winter",
            (2, 0): "Clarex",
            (3, 2): "24",
        }.items():
            table.cell(*place).text = words
        table.cell(0, 1).merge(table.cell(0, 2))
        table.cell(2, 0).merge(table.cell(3, 0))

    assert text(read_slides(tmp_path, fill)).splitlines()[-2:] == ["Clarex | |", "Clarex | | 24"]


def test_charts_are_their_titles_and_their_data(tmp_path: Path) -> None:
    def fill(slide: Any) -> None:
        data = CategoryChartData(number_format="0%")
        data.categories = ["Lorn", "Kell"]
        data.add_series("Carts", (0.25, 0.5))
        data.add_series("People", (0.75, None))
        chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *_AREA, data).chart
        chart.has_title = True
        chart.chart_title.text_frame.text = "Who crosses"
        points = XyChartData()
        points.add_series("Level").add_data_point(1.5, 20)
        slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, *_AREA, points)

    assert text(read_slides(tmp_path, fill)).splitlines() == [
        "Who crosses", "| Carts | People", "Lorn | 25% | 75%", "Kell | 50% |", "| Level", "1.5 | 20",
    ]  # fmt: skip


def test_a_diagram_is_read_from_the_top_of_its_hierarchy(tmp_path: Path) -> None:
    def point(name: str, words: str, kind: str = "node") -> str:
        return f'<dgm:pt modelId="{name}" type="{kind}"><dgm:t><a:bodyPr/><a:p>{run(words)}</a:p></dgm:t></dgm:pt>'

    links = "".join(
        f'<dgm:cxn modelId="{source}{target}" srcId="{source}" destId="{target}" srcOrd="{order}"/>'
        for source, target, order in (("0", "1", 0), ("0", "3", 1), ("1", "2", 0))
    )
    points = point("2", "Crew") + point("3", "Harbour") + point("1", "Ferry") + point("0", "", "doc")
    model = f"<dgm:dataModel {_SPACES}><dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>{links}</dgm:cxnLst></dgm:dataModel>"

    def fill(slide: Any) -> None:
        from pptx.opc.package import Part
        from pptx.opc.packuri import PackURI

        part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", slide.part.package, model.encode())
        identity = slide.part.relate_to(part, f"{_NAMES['r']}/diagramData")
        slide.shapes._spTree.append(
            parse_xml(
                f'<p:graphicFrame {_SPACES}><p:nvGraphicFramePr><p:cNvPr id="7" name="d"/><p:cNvGraphicFramePr/>'
                '<p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/><a:ext cx="9" cy="9"/></p:xfrm>'
                '<a:graphic><a:graphicData uri="diagram">'
                f'<dgm:relIds r:dm="{identity}"/></a:graphicData></a:graphic></p:graphicFrame>'
            )
        )

    assert text(read_slides(tmp_path, fill)).splitlines() == ["Ferry", "Crew", "Harbour"]


def test_numbered_paragraphs_have_their_numbers(tmp_path: Path) -> None:
    def numbered(words: str, form: str = "arabicPeriod", start: str = "", level: int = 0) -> str:
        return f'<a:p><a:pPr lvl="{level}"><a:buAutoNum type="{form}" {start}/></a:pPr>{run(words)}</a:p>'

    at = 'startAt="4"'
    body = (
        numbered("Open", start=at) + numbered("Close", start=at) + numbered("valve", "alphaLcParenBoth", level=1)
        + numbered("Press", start=at) + f"<a:p>{run('Rest')}</a:p>" + numbered("Anew", "romanUcPeriod")
        + "<a:p/>" + numbered("Then", "romanUcPeriod")
    )  # fmt: skip
    assert text(read_slides(tmp_path, paragraphs(body))).splitlines() == [
        "4. Open", "5. Close", "(a) valve", "6. Press", "Rest", "I. Anew", "II. Then",
    ]  # fmt: skip


def test_equations_and_alternatives_are_read(tmp_path: Path) -> None:
    power = "<m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    equation = f"<m:oMath><m:r><m:t>E=m</m:t></m:r>{power}</m:oMath>"

    def fill(slide: Any) -> None:
        inner = shape(f"<a:p>{run('Energy: ')}<a14:m>{equation}</a14:m></a:p>")
        other = shape(f"<a:p>{run(' ')}</a:p>")
        alternative = parse_xml(f'<mc:AlternateContent {_SPACES}><mc:Choice Requires="a14"/><mc:Fallback/></mc:AlternateContent>')
        alternative[0].append(inner)
        alternative[1].append(other)
        slide.shapes._spTree.append(alternative)

    assert text(read_slides(tmp_path, fill)) == "Energy: E=mc^2"


def test_raised_and_lowered_digits_stand_apart(tmp_path: Path) -> None:
    up, down = 'baseline="30000"', 'baseline="-25000"'
    runs = [run("In 1911"), run("1", up), run(" it was 10"), run("5", up), run(" of H"), run("2", down), run("O"), "<a:br/>", run("below")]
    body = f"<a:p>{''.join(runs)}</a:p>"
    assert text(read_slides(tmp_path, paragraphs(body))).splitlines() == ["In 1911[1] it was 10^5 of H2O", "below"]


def test_what_is_struck_or_hidden_is_left_out_and_said(tmp_path: Path) -> None:
    struck = 'strike="sngStrike"'
    body = f"<a:p>{run('The lamp costs ')}{run('40 euros', struck)}{run(' 55 euros')}</a:p>"

    def hide(slide: Any) -> None:
        paragraphs(f"<a:p>{run('Salaries')}</a:p>")(slide)
        slide._element.set("show", "0")

    def hidden_shape(slide: Any) -> None:
        added = shape(f"<a:p>{run('Draft')}</a:p>")
        added.nvSpPr.cNvPr.set("hidden", "1")
        slide.shapes._spTree.append(added)
        group = slide.shapes.add_group_shape()
        group.shapes.add_textbox(*_AREA).text_frame.text = "Old draft"
        group._element.nvGrpSpPr.cNvPr.set("hidden", "1")

    read = read_slides(tmp_path, paragraphs(body), hide, hidden_shape, paragraphs(f"<a:p>{run('Last')}</a:p>"))
    assert text(read).splitlines() == ["The lamp costs 55 euros", "Last"]
    assert [document.metadata["page"] for document in read.documents] == [1, 4]
    assert sorted(remarks(read)) == ["left out: 1 hidden slide", "left out: 1 struck passage", "left out: 2 hidden shapes"]


def test_footers_are_read_once_and_slide_numbers_not(tmp_path: Path) -> None:
    def fill(slide: Any) -> None:
        for kind, words in (("body", "Text."), ("ftr", "Contract K-4471"), ("sldNum", "7")):
            slide.shapes._spTree.append(shape(f"<a:p><a:fld><a:rPr/><a:t>{words}</a:t></a:fld></a:p>", kind))

    read = read_slides(tmp_path, fill, fill)
    assert text(read).splitlines() == ["Text.", "Contract K-4471", "Text."]
    assert sorted(remarks(read)) == ["left out: 1 repeated footer", "left out: 2 slide numbers"]


def test_texts_in_groups_and_comments(tmp_path: Path) -> None:
    def fill(slide: Any) -> None:
        from pptx.opc.package import Part
        from pptx.opc.packuri import PackURI

        outer = slide.shapes.add_group_shape()
        outer.shapes.add_group_shape().shapes.add_textbox(*_AREA).text_frame.text = "Grouped\vtwice"
        comments = f'<p:cmLst {_SPACES}><p:cm authorId="0"><p:text>check this</p:text></p:cm></p:cmLst>'
        part = Part(PackURI("/ppt/comments/comment1.xml"), "application/xml", slide.part.package, comments.encode())
        slide.part.relate_to(part, f"{_NAMES['r']}/comments")
        authors = f'<p:cmAuthorLst {_SPACES}><p:cmAuthor id="0" name="Ida"/></p:cmAuthorLst>'
        named = Part(PackURI("/ppt/commentAuthors.xml"), "application/xml", slide.part.package, authors.encode())
        slide.part.package.presentation_part.relate_to(named, f"{_NAMES['r']}/commentAuthors")

    read = read_slides(tmp_path, fill)
    assert text(read).splitlines() == ["Grouped", "twice", "Comment (Ida): check this"]


def test_an_embedded_object_is_named(tmp_path: Path) -> None:
    def fill(slide: Any) -> None:
        from pptx.enum.shapes import PROG_ID

        slide.shapes.add_textbox(*_AREA).text_frame.text = "See the sheet."
        slide.shapes.add_ole_object(io.BytesIO(b"sheet"), PROG_ID.XLSX, *_AREA)

    (remark,) = remarks(read_slides(tmp_path, fill))
    assert "Excel.Sheet.12" in remark


PAGE = '<draw:page draw:name="p" {0}>{1}</draw:page>'


def frame(words: str, kind: str = "outline") -> str:
    """Return a text frame of a slide."""
    return f'<draw:frame presentation:class="{kind}"><draw:text-box>{words}</draw:text-box></draw:frame>'


def test_opendocument_slides_have_tables_numbers_footers_and_no_hidden_ones(tmp_path: Path) -> None:
    styles = (
        '<style:style style:name="Hid" style:family="drawing-page">'
        '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
        '<style:style style:name="Foot" style:family="drawing-page"><style:drawing-page-properties presentation:display-footer="true"/>'
        '</style:style><text:list-style style:name="L">'
        '<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix=")"/>'
        "</text:list-style>"
    ) + text_style("Struck", 'style:text-line-through-style="solid"')
    numbered = '<text:list text:style-name="L"><text:list-item><text:p>Open</text:p></text:list-item></text:list>'
    wide = '<table:table-cell table:number-columns-spanned="2"><text:p>Both</text:p></table:table-cell><table:covered-table-cell/>'
    table = f"<draw:frame><table:table><table:table-row>{wide}</table:table-row></table:table></draw:frame>"
    old = '<text:p><text:span text:style-name="Struck">old</text:span> new</text:p>'
    footed = 'draw:style-name="Foot" presentation:use-footer-name="f"'
    notes = (
        f"<presentation:notes>{frame('<text:p>Say it.</text:p>', 'notes')}{frame('<text:p>1</text:p>', 'page-number')}</presentation:notes>"
    )
    body = (
        '<presentation:footer-decl presentation:name="f">K-4471</presentation:footer-decl>'
        + PAGE.format(footed, frame("<text:p>Start</text:p>", "title") + frame(numbered) + table + notes)
        + PAGE.format('draw:style-name="Hid"', frame("<text:p>Salaries</text:p>"))
        + PAGE.format(footed, frame(old))
    )
    read = read_opendocument(tmp_path, body, styles, "presentation")
    assert text(read).splitlines() == ["1) Open", "Both | Both", "Notes: Say it.", "K-4471", "new"]
    assert [(document.metadata["page"], document.metadata.get("heading")) for document in read.documents] == [(1, "Start"), (3, None)]
    assert sorted(remarks(read)) == ["left out: 1 hidden slide", "left out: 1 struck passage"]

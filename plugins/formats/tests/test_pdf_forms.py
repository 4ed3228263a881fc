"""PDF: what was filled in and noted on a page is read beside its label, once."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from plugins.formats.tests.pdf_pages import Line, page_of, written_pdf
from tests.tools.documents.shown import Shown, shown

FORM = "/AcroForm << /Fields [FIELDS0] /NeedAppearances true >>"


def widget(kind: str, name: str, value: str, box: str, more: str = "") -> str:
    """Return the dictionary of a field without an appearance; value: in PDF's syntax."""
    return f"/Subtype /Widget /FT /{kind} /T ({name}) /V {value} /Rect [{box}] {more}"


def tick(name: str, state: str, box: str, more: str = "") -> str:
    """Return the dictionary of a box to tick, whose value is `On` if it is ticked."""
    return f"/Subtype /Widget /FT /Btn /T ({name}) /V /{state} /AS /{state} /Rect [{box}] /AP << /N << /On 3 0 R /Off 3 0 R >> >> {more}"


def filled(tmp_path: Path, lines: Sequence[Line], *annotations: str, catalog: str = FORM) -> Shown:
    (tmp_path / "form.pdf").write_bytes(written_pdf([lines], {0: annotations}, catalog))
    return shown(tmp_path / "form.pdf")


def text_of(result: Shown) -> str:
    return "\n".join(document.page_content for document in result.documents)


def test_values_stand_beside_their_labels(tmp_path: Path) -> None:
    lines = page_of("Application for a berth", "Name of the boat:", "Length in metres", "Electricity wanted:", "Harbour", pitch=24)
    text = text_of(
        filled(
            tmp_path, lines,
            widget("Tx", "boat", "(Sea Otter)", "200 694 400 710"), widget("Tx", "length", "(11.4)", "200 670 400 686"),
            tick("power", "On", "200 646 212 658"),
            widget("Ch", "harbour", "(lil)", "200 622 400 638", "/Ff 131072 /Opt [[(man) (Mandal)] [(lil) (Lillesand)]]"),
        )
    )  # fmt: skip
    assert text.splitlines()[2:] == [
        "Name of the boat: Sea Otter",
        "Length in metres: 11.4",
        "Electricity wanted: yes",
        "Harbour: Lillesand",
    ]


def test_several_fields_on_a_line(tmp_path: Path) -> None:
    lines = [(72.0, 700.0, "Name:"), (300.0, 700.0, "Date:"), (72.0, 660.0, "The sum of"), (240.0, 660.0, "euros is paid by the guest.")]
    text = text_of(
        filled(
            tmp_path, lines, widget("Tx", "name", "(Ada Berg)", "110 696 280 712"), widget("Tx", "date", "(3 May 2024)", "335 696 480 712"),
            widget("Tx", "sum", "(1,249.50)", "135 656 230 672"),
        )
    )  # fmt: skip
    assert " ".join(text.split()) == "Name: Ada Berg Date: 3 May 2024 The sum of 1,249.50 euros is paid by the guest."


def test_ticks_before_their_labels(tmp_path: Path) -> None:
    lines = [(72.0, 700.0, "Paid by:"), (150.0, 700.0, "Card"), (250.0, 700.0, "Cash"), (90.0, 660.0, "I have read the rules")]
    text = text_of(
        filled(
            tmp_path, lines, tick("card", "On", "135 698 147 710"), tick("cash", "Off", "235 698 247 710"),
            tick("rules", "Off", "74 658 86 670"),
        )
    )  # fmt: skip
    assert " ".join(text.split()) == "Paid by: Card: yes Cash: no I have read the rules: no"


def test_a_value_whose_field_cuts_a_word_stands_behind_it(tmp_path: Path) -> None:
    lines = [(72.0, 700.0, "Honourable conduct agreed by all")]
    text = text_of(filled(tmp_path, lines, tick("conduct", "On", "150 696 162 708"), tick("all", "Off", "220 696 230 708")))
    assert all(word in text.replace(":", " ").split() for word in ["Honourable", "conduct", "agreed", "by", "all", "yes"])


def test_labels_above_and_fields_without_a_label(tmp_path: Path) -> None:
    lines = [(72.0, 720.0, "First name"), (250.0, 720.0, "Last name"), (72.0, 600.0, "Remarks of the harbour master")]
    result = filled(
        tmp_path, lines, widget("Tx", "a", "(Ada)", "72 696 230 714"), widget("Tx", "b", "(Berg)", "250 696 400 714"),
        widget("Tx", "c", r"(The buoy is loose.\nCall Ola.)", "72 520 500 594", "/Ff 4096"),
        widget("Tx", "vat_number", "(NO 889 123)", "72 300 200 316", "/TU (VAT number)"),
        widget("Tx", "iban", "(DE89 3704)", "72 200 200 216"),
    )  # fmt: skip
    text = " ".join(text_of(result).split())
    for part in ("First name: Ada", "Last name: Berg", "Remarks of the harbour master: The buoy is loose. Call Ola."):
        assert part in text
    assert "VAT number: NO 889 123" in text
    assert "iban: DE89 3704" in text


def test_lists_of_several_choices(tmp_path: Path) -> None:
    chosen = widget("Ch", "days", "[(Mon) (Wed)]", "150 660 300 716", "/Ff 2097152 /Opt [(Mon) (Tue) (Wed)]")
    assert "Days: Mon, Wed" in text_of(filled(tmp_path, page_of("Days:", top=700), chosen))


def test_a_value_that_is_printed_too_is_read_once(tmp_path: Path) -> None:
    lines = [(72.0, 700.0, "Name:"), (120.0, 700.0, "Ada Berg")]
    assert text_of(filled(tmp_path, lines, widget("Tx", "name", "(Ada Berg)", "112 696 280 712"))).split() == ["Name:", "Ada", "Berg"]


def test_the_same_form_on_each_page_keeps_its_labels(tmp_path: Path) -> None:
    boats = ("Otter", "Gull", "Seal", "Heron")
    pages = [page_of("Name of the boat:", "Signed in the office") for _ in boats]
    annotations = {page: [widget("Tx", f"boat{page}", f"({name})", "200 716 400 732")] for page, name in enumerate(boats)}
    catalog = f"/AcroForm << /Fields [{' '.join(f'FIELDS{page}' for page in range(4))}] >>"
    (tmp_path / "forms.pdf").write_bytes(written_pdf(pages, annotations, catalog))
    text = text_of(shown(tmp_path / "forms.pdf", clean=True))
    assert all(f"Name of the boat: {name}" in text for name in boats)


def test_passwords_and_hidden_fields_are_left_out_with_a_remark(tmp_path: Path) -> None:
    lines = page_of("Name:", "Code:", pitch=24)
    result = filled(
        tmp_path, lines, widget("Tx", "name", "(Ada)", "200 716 400 732"), widget("Tx", "code", "(secret)", "200 692 400 708", "/Ff 8192"),
        widget("Tx", "key", "(k-77)", "0 0 0 0", "/F 2"),
    )  # fmt: skip
    assert "secret" not in text_of(result)
    assert "k-77" not in text_of(result)
    assert result.remarks == [("form.pdf", "left out: 2 hidden fields")]


def test_notes_comments_and_replies_stand_at_the_end_of_the_page_once(tmp_path: Path) -> None:
    lines = page_of("The crane of Lillesand lifts twelve tonnes.", "It was built in 1911.")
    result = filled(
        tmp_path, lines,
        "/Subtype /FreeText /Contents (Approved by K. Lund on 4 June) /Rect [300 400 500 420]",
        "/Subtype /Text /Contents (Sold to Riga) /T (Ann) /Rect [80 500 100 520]",
        "/Subtype /Text /Contents (In 1987?) /T (Ben) /IRT 7 0 R /Rect [80 500 100 520]",
        "/Subtype /Highlight /Contents (Check the year) /Rect [72 700 200 712] /QuadPoints [72 712 200 712 72 700 200 700]",
        "/Subtype /Popup /Contents (Sold to Riga) /Rect [80 400 100 420]",
        "/Subtype /Link /Contents (a link) /Rect [72 700 100 712] /A << /S /URI /URI (https://example.org/secret) >>",
        "/Subtype /Text /Contents (unseen) /F 2 /Rect [80 500 100 520]",
        catalog="",
    )  # fmt: skip
    text = text_of(result)
    assert text.startswith("The crane of Lillesand lifts twelve tonnes.")
    for note in ("Note: Approved by K. Lund on 4 June", "Note by Ann: Sold to Riga", "Reply by Ben: In 1987?", "Note: Check the year"):
        assert text.count(note) == 1, note
    assert text.count("Riga") == 1
    assert not any(word in text for word in ("example.org", "a link", "unseen"))
    assert result.remarks == [("form.pdf", "left out: 1 hidden note")]


def test_text_typed_upon_a_form_stands_beside_its_label(tmp_path: Path) -> None:
    typed = "/Subtype /FreeText /Contents (Sea Otter) /Rect [180 696 300 714]"
    text = text_of(filled(tmp_path, page_of("Name of the boat: ______", "Length: ____", top=700, pitch=24), typed, catalog=""))
    assert "Name of the boat: Sea Otter" in text


@pytest.mark.parametrize("values", ["<boat>Sea Otter</boat><length>11.4</length>", ""])
def test_an_xfa_form_is_read_or_remarked(tmp_path: Path, values: str) -> None:
    data = f'<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form1>{values}</form1></xfa:data></xfa:datasets>'
    pages = [page_of("Please wait...")]
    catalog = "/AcroForm << /Fields [] /XFA [(datasets) 4 0 R] >> /NeedsRendering true"
    (tmp_path / "form.pdf").write_bytes(written_pdf(pages, {}, catalog, [("", data.encode())]))
    result = shown(tmp_path / "form.pdf")
    assert ("boat: Sea Otter" in text_of(result)) == bool(values)
    assert [name for name, remark in result.remarks if "XFA" in remark] == ["form.pdf"]


def test_embedded_files_are_named(tmp_path: Path) -> None:
    names = "/Names << /EmbeddedFiles << /Names [(order.xml) << /Type /Filespec /F (order.xml) /EF << /F 4 0 R >> >>] >> >>"
    attached = (
        "/Subtype /FileAttachment /Rect [0 0 9 9] /Contents (see the plan) /FS << /Type /Filespec /F (plan.dwg) /EF << /F 4 0 R >> >>"
    )
    (tmp_path / "form.pdf").write_bytes(written_pdf([page_of("An order.")], {0: [attached]}, names, [("/Type /EmbeddedFile", b"<x/>")]))
    result = shown(tmp_path / "form.pdf")
    assert [all(name in remark for name in ("order.xml", "plan.dwg")) for _, remark in result.remarks] == [True]
    assert "Note: see the plan" in text_of(result)

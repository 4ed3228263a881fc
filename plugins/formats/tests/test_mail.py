"""Mails: the form of the text that says most, decoded whatever is declared, and attachments as documents of their own."""

import base64
import io
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pytest

from ramify.tools.documents.files import File, ReadReport
from ramify.tools.documents.readers import parse_file
from tests.faults import fault
from tests.tools.documents.shown import FILES, Shown, shown

TURNOVER = "The turnover of the quarter was 3.4 million."
HTML = f"<html><body><p>Dear all,</p><p>{TURNOVER}</p></body></html>"


def read(folder: Path, content: bytes | str) -> Shown:
    """Read a mail in this process, which is quicker."""
    path, report = folder / "m.eml", ReadReport()
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Shown(list(parse_file(File(path, path.name, folder), report, clean=False)), report.skipped, report.remarks)


def text_of(folder: Path, content: bytes | str) -> str:
    return read(folder, content).documents[0].page_content


def part(kind: str, body: str, *headers: str) -> str:
    return "\n".join([f"Content-Type: {kind}", *headers, "", body])


def multipart(subtype: str, *parts: str, boundary: str = "") -> str:
    mark = boundary or f"b{abs(hash((subtype, *parts)))}"
    return "\n".join(
        [f'Content-Type: multipart/{subtype}; boundary="{mark}"', "", *(f"--{mark}\n{piece}" for piece in parts), f"--{mark}--", ""]
    )


def mail(body: str) -> str:
    return f"From: Ada <a@b.example>\nSubject: Quarter\nMIME-Version: 1.0\n{body}"


PAGE = part("text/html; charset=utf-8", HTML)
STUBS = {
    "empty": "",
    "white space": " \n\n",
    "not supported": "Your mail client does not support HTML mails.",
    "in German": "Diese E-Mail ist im HTML-Format. Ihr Programm kann sie nicht anzeigen.",
    "a link": "View this email in your browser:\nhttps://news.example/v?id=17&u=9",
    "an address": "https://news.example/v?id=17&u=9",
    "a greeting": "Dear all,",
}


@pytest.mark.parametrize("stub", STUBS.values(), ids=STUBS)
@pytest.mark.parametrize("around", ["", "mixed", "related", "signed"])
def test_a_text_that_says_nothing_gives_way_to_the_page(tmp_path: Path, stub: str, around: str) -> None:
    forms = multipart("alternative", part("text/plain", stub), PAGE)
    text = text_of(tmp_path, mail(multipart(around, forms, part("application/pgp-signature", "x")) if around else forms))
    assert text.count(TURNOVER) == 1


def test_a_page_within_a_related_part_is_a_form_of_the_text(tmp_path: Path) -> None:
    picture = part("image/png", "iVBORw0K", "Content-ID: <a>", "Content-Transfer-Encoding: base64")
    result = read(tmp_path, mail(multipart("alternative", part("text/plain", ""), multipart("related", PAGE, picture, picture))))
    assert TURNOVER in result.documents[0].page_content
    assert [remark for _, remark in result.remarks] == ["2 images within its text not read"]


def test_equal_forms_are_read_once_without_a_remark(tmp_path: Path) -> None:
    result = read(tmp_path, mail(multipart("alternative", part("text/plain", f"Dear all,\n\n{TURNOVER}\n\nhttps://x.example/1"), PAGE)))
    assert result.documents[0].page_content.count(TURNOVER) == 1
    assert not result.remarks


def test_a_page_that_says_less_than_the_text_gives_way(tmp_path: Path) -> None:
    text = f"{TURNOVER}\n\nCosts rose by 4 % in Brno, where a hall was built in spring."
    assert "Brno" in text_of(tmp_path, mail(multipart("alternative", part("text/plain", text), PAGE)))


def test_forms_that_differ_are_both_read(tmp_path: Path) -> None:
    other = "Come to the summer feast by the weir on Friday with your children"
    text = text_of(tmp_path, mail(multipart("alternative", part("text/plain", other), PAGE)))
    assert other in text
    assert TURNOVER in text


def test_a_table_is_read_from_the_page(tmp_path: Path) -> None:
    rows = [("Region", "Turnover"), ("Lorn", "3"), ("Kell", "4")]
    page = "<table>" + "".join(f"<tr><td>{one}</td><td>{other}</td></tr>" for one, other in rows) + "</table>"
    plain = "\n".join(cell for row in rows for cell in row)
    text = text_of(tmp_path, mail(multipart("alternative", part("text/plain", plain), part("text/html", page))))
    assert "Lorn | 3\nKell | 4" in text


INVITATION = """BEGIN:VCALENDAR
METHOD:REQUEST
BEGIN:VTIMEZONE
TZID:Europe/Prague
BEGIN:STANDARD
DTSTART:19700101T000000
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
SUMMARY:Survey of the weir\\, part two
DTSTART;TZID=Europe/Prague:20240503T100000
DTEND;TZID=Europe/Prague:20240503T113000
LOCATION:Hall 3
ORGANIZER;CN="Ida Keller":mailto:ida@arda.example
DESCRIPTION:Bring boots.\\nThe path
 is wet.
BEGIN:VALARM
DESCRIPTION:Reminder
END:VALARM
END:VEVENT
END:VCALENDAR"""


@pytest.mark.parametrize("kind", ["text/calendar; method=REQUEST", "application/ics; name=invite.ics"])
def test_an_invitation_says_what_when_and_where(tmp_path: Path, kind: str) -> None:
    text = text_of(tmp_path, mail(multipart("alternative", part("text/plain", "You are invited."), part(kind, INVITATION))))
    assert "You are invited." in text
    assert "Invitation: Survey of the weir, part two" in text
    assert "2024-05-03 10:00 (Europe/Prague) to 11:30" in text
    assert "Place: Hall 3\nOrganizer: Ida Keller" in text
    assert "The pathis wet." in text
    assert "Reminder" not in text


def test_flowed_text_is_joined_and_its_quotations_are_kept(tmp_path: Path) -> None:
    body = "The pump stands \nat the weir.\n From there \nit is far.\n> Where is \n> the pump?\n-- \nIda"
    text = text_of(tmp_path, mail(part("text/plain; format=flowed", body)))
    assert "The pump stands at the weir.\nFrom there it is far.\n> Where is the pump?\n--\nIda" in text
    body = "A word was bro \nken.\n"
    assert "A word was broken." in text_of(tmp_path, mail(part("text/plain; format=flowed; delsp=yes", body)))


def test_wrapped_text_is_joined_also_in_a_quotation(tmp_path: Path) -> None:
    lines = [
        "The bridge at Lorn will be closed from the third of May until the end of",
        "the month, because its cables have to be replaced. Carts and people who",
        "want to cross the river take the way over Kell, which is longer by about",
        "two hours.",
    ]
    text = text_of(tmp_path, mail(part("text/plain", "\n".join([*lines, "", *(f"> {line}" for line in lines)]))))
    assert " ".join(lines) in text
    assert f"> {' '.join(lines)}" in text


def test_enriched_text_has_no_commands(tmp_path: Path) -> None:
    body = "<bold>The weir</bold> is\n<color><param>red</param>closed</color>.\n\nUse 3 << 4."
    assert "The weir is closed.\nUse 3 < 4." in text_of(tmp_path, mail(part("text/enriched", body)))


UMLAUTS = "Die Brücke in Köln wird für 3 € geöffnet"


@pytest.mark.parametrize(
    ("declared", "used"),
    [
        ("us-ascii", "utf-8"), ("iso-8859-1", "utf-8"), ("windows-1252", "utf-8"), ("", "utf-8"),
        ("x-unknown", "utf-8"), ("no such", "utf-8"),
        ("iso-8859-1", "cp1252"), ("us-ascii", "cp1252"), ("utf-8", "cp1252"), ("unknown-8bit", "cp1252"), ("", "cp1252"),
        ("utf-8", "utf-8"), ("utf-8", "utf-8-sig"), ("utf-16", "utf-16"), ("utf-7", "utf-7"), ("gb2312", "gb18030"), ("hex", "utf-8"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("transfer", ["8bit", "base64"])
def test_text_is_decoded_as_it_is_whatever_is_declared(tmp_path: Path, declared: str, used: str, transfer: str) -> None:
    if used == "utf-16" and transfer == "8bit":
        pytest.skip("has zeros, which only an encoded part may have")
    encoded = UMLAUTS.encode(used)
    body = base64.encodebytes(encoded) if transfer == "base64" else encoded
    kind = f'text/plain; charset="{declared}"' if declared else "text/plain"
    head = mail(f"Content-Type: {kind}\nContent-Transfer-Encoding: {transfer}\n\n").encode()
    assert UMLAUTS in text_of(tmp_path, head + body)


@fault("documents", "mail with damaged base64", sees="its text; a remark if it is no base64", kept="the text")
@pytest.mark.parametrize(
    "body",
    [
        base64.b64encode(TURNOVER.encode()).decode().rstrip("="),
        base64.b64encode(TURNOVER.encode()).decode() + "\n\n-- \nA list that adds lines!",
        base64.b64encode(TURNOVER[:10].encode()).decode() + "\n" + base64.b64encode(TURNOVER[10:].encode()).decode(),
        base64.b64encode(TURNOVER.encode()).decode()[:40] + "!\0" + base64.b64encode(TURNOVER.encode()).decode()[40:],
        TURNOVER,
    ],
    ids=["no padding", "with a footer", "in two groups", "with other signs", "no base64"],
)
def test_damaged_base64_is_read_as_far_as_it_goes(tmp_path: Path, body: str) -> None:
    assert TURNOVER in text_of(tmp_path, mail(part("text/plain", body, "Content-Transfer-Encoding: base64")))


def test_a_page_without_a_declared_charset_is_read_as_it_says_itself(tmp_path: Path) -> None:
    page = f'<html><head><meta charset="koi8-r"></head><body><p>{"Мост закрыт"}</p></body></html>'
    head = mail("Content-Type: text/html\nContent-Transfer-Encoding: 8bit\n\n").encode()
    assert "Мост закрыт" in text_of(tmp_path, head + page.encode("koi8-r"))


@pytest.mark.parametrize("subject", ["=?utf-8?q?Br=C3=BCcke?=", "=?iso-8859-1?b?QnL8Y2tl?=", "Brücke"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_a_subject_is_decoded(tmp_path: Path, subject: str, encoding: str) -> None:
    result = read(tmp_path, f"Subject: {subject}\nFrom: {subject} <a@b.example>\n\nText.".encode(encoding))
    assert (result.documents[0].metadata["title"], result.documents[0].metadata["author"]) == ("Brücke", "Brücke")


@pytest.mark.parametrize("name", ["Ada B. Lace", "Lace, Ada", "=?utf-8?q?Br=C3=BCcke?="])
def test_a_name_in_a_comment_is_the_author(tmp_path: Path, name: str) -> None:
    shown_name = name.replace("=?utf-8?q?Br=C3=BCcke?=", "Brücke")
    document = read(tmp_path, f"From: a@b.example ({name})\nTo: c@d.example (Cy), e@f.example\n\nText.").documents[0]
    assert document.metadata["author"] == shown_name
    assert shown_name in document.page_content
    assert "To: Cy <c@d.example>, e@f.example" in document.page_content


def test_several_subjects_are_all_shown(tmp_path: Path) -> None:
    assert "Subject: One; Two" in text_of(tmp_path, "Subject: One\nSubject: Two\nSubject: One\n\nText.")


@pytest.mark.parametrize("begin", [b"", b"\xef\xbb\xbf", b"\r\n\r\n", b"From ida Fri May  3 10:00:00 2024\n"])
def test_what_stands_before_the_headers_does_no_harm(tmp_path: Path, begin: bytes) -> None:
    assert text_of(tmp_path, begin + b"Subject: Weir\n\nClosed.") == "Subject: Weir\n\nClosed."


def with_attachments(*files: tuple[str, bytes, str]) -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"] = "Offer", "ida@arda.example"
    message.set_content("The offer is attached.")
    for name, content, kind in files:
        message.add_attachment(content, *kind.split("/"), filename=name)
    return bytes(message)


ANY = "application/octet-stream"


@pytest.mark.parametrize("name", ["survey.pdf", "arda.docx", "bridges.xlsx", "bridges.pptx", "arda.odt", "arda.epub"])
def test_an_attachment_is_read_as_it_would_be_alone(tmp_path: Path, name: str) -> None:
    result = read(tmp_path, with_attachments((name, (FILES / name).read_bytes(), ANY)))
    alone = shown(FILES / name)
    own, *attached = result.documents
    assert own.page_content.endswith(f"Attachments: {name}")
    assert [document.page_content for document in attached] == [document.page_content for document in alone.documents]
    assert {document.metadata["parent"] for document in attached} == {"m.eml"}
    assert {document.metadata["source"].partition("#")[0] for document in attached} == {f"m.eml/{name}"}
    assert "parent" not in own.metadata
    assert all(document.metadata.get("author") != "ida@arda.example" for document in attached)


def test_attachments_have_names_of_their_own(tmp_path: Path) -> None:
    files = [("a.txt", b"One.", ANY), ("a.txt", b"Two.", ANY), ("../../b.txt", b"Three.", ANY), ("scan", b"<p>Four.</p>", "text/html")]
    texts = {document.metadata["source"]: document.page_content for document in read(tmp_path, with_attachments(*files)).documents[1:]}
    assert texts == {"m.eml/a.txt": "One.", "m.eml/a (2).txt": "Two.", "m.eml/b.txt": "Three.", "m.eml/scan.html": "Four."}


@pytest.mark.parametrize("name", ["=?utf-8?q?Br=C3=BCcke=2Etxt?=", "Brücke.txt"])
def test_an_encoded_name_is_decoded(tmp_path: Path, name: str) -> None:
    attached = part("text/plain", "Closed.", f'Content-Disposition: attachment; filename="{name}"')
    result = read(tmp_path, mail(multipart("mixed", part("text/plain", "See below."), attached)))
    assert result.documents[1].metadata["source"] == "m.eml/Brücke.txt"


def test_an_attachment_that_is_not_read_is_named_with_the_reason(tmp_path: Path) -> None:
    files = [("a.bin", b"x", ANY), ("cut.docx", b"PK", ANY), ("winmail.dat", b"x", "application/ms-tnef"), ("good.txt", b"Good.", ANY)]
    result = read(tmp_path, with_attachments(*files))
    assert {name for name, _ in result.skipped} == {"m.eml/a.bin", "m.eml/cut.docx", "m.eml/winmail.dat"}
    assert [document.page_content for document in result.documents[1:]] == ["Good."]


def test_an_archive_and_a_mail_in_a_mail_are_read(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("plan/a.md", "# Plan\n\nThe weir is built in May.")
    inner = with_attachments(("b.txt", b"Deep down.", ANY))
    result = read(tmp_path, with_attachments(("plan.zip", packed.getvalue(), "application/zip"), ("old.eml", inner, ANY)))
    parents = {document.metadata["source"]: document.metadata.get("parent") for document in result.documents}
    assert parents == {
        "m.eml": None,
        "m.eml/plan.zip/plan/a.md": "m.eml/plan.zip",
        "m.eml/old.eml": "m.eml",
        "m.eml/old.eml/b.txt": "m.eml/old.eml",
    }


def test_a_forwarded_mail_is_part_of_the_text_and_its_attachments_are_read(tmp_path: Path) -> None:
    outer = EmailMessage()
    outer["Subject"] = "Fwd"
    outer.set_content("See below.")
    inner = EmailMessage()
    inner["Subject"] = "Boats"
    inner.set_content("The boats are dry.")
    inner.add_attachment(b"Boat 7 leaks.", "application", "octet-stream", filename="list.txt")
    outer.add_attachment(inner)
    own, attached = read(tmp_path, bytes(outer)).documents
    assert "Subject: Boats\n\nThe boats are dry." in own.page_content
    assert attached.page_content == "Boat 7 leaks."


def test_equal_parts_are_all_read(tmp_path: Path) -> None:
    texts = (part("text/plain", "Hello."), part("text/x-unusual", "Hello."))
    assert text_of(tmp_path, mail(multipart("mixed", *texts))).count("Hello.") == 2


def test_of_a_signed_mail_all_texts_are_read(tmp_path: Path) -> None:
    signature = part("application/pgp-signature; name=signature.asc", "iQ7xDraft")
    result = read(tmp_path, mail(multipart("signed", part("text/plain", "Part 1."), part("text/plain", "Part 2."), signature)))
    assert "Part 1.\n\nPart 2." in result.documents[0].page_content
    assert "iQ7xDraft" not in result.documents[0].page_content
    assert not result.remarks


def test_texts_between_attachments_are_read_in_order(tmp_path: Path) -> None:
    attached = part("text/plain", "In the file.", 'Content-Disposition: attachment; filename="a.txt"')
    text = text_of(tmp_path, mail(multipart("mixed", part("text/plain", "Before."), attached, part("text/plain", "After."))))
    assert "Before.\n\nAfter." in text
    assert "In the file." not in text


@fault("documents", "mail that is encrypted", sees="a remark that its text is not read", kept="its headers")
@pytest.mark.parametrize("kind", ["application/pkcs7-mime; smime-type=enveloped-data", "multipart/encrypted; boundary=x"])
def test_an_encrypted_mail_is_said_to_be(tmp_path: Path, kind: str) -> None:
    assert "encrypted" in read(tmp_path, mail(part(kind, "MIIB"))).remarks[0][1]


def test_a_mailbox_is_read_mail_by_mail(tmp_path: Path) -> None:
    first = b"From a Fri May  3 10:00:00 2024\nSubject: One\n\nFirst.\n>From here on.\n\n"
    (tmp_path / "old.mbox").write_bytes(first + b"From b Fri May  3 11:00:00 2024\nSubject: Two\n\nSecond.\n")
    one, two = shown(tmp_path / "old.mbox").documents
    assert "First.\nFrom here on." in one.page_content
    assert (two.metadata["title"], two.metadata["source"], two.metadata["parent"]) == ("Two", "old.mbox/2.eml", "old.mbox")


def test_forms_of_a_text_with_other_numbers_are_both_read(tmp_path: Path) -> None:
    mail = EmailMessage()
    mail.set_content("The price is 40 euros for each boat that is lifted in May.")
    mail.add_alternative("<p>The price is 55 euros for each boat that is lifted in May.</p>", subtype="html")
    (tmp_path / "prices.eml").write_bytes(mail.as_bytes())
    (document,) = shown(tmp_path / "prices.eml").documents
    assert "40 euros" in document.page_content
    assert "55 euros" in document.page_content

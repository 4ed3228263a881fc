"""Pages of books are read in their order; those that cannot be read, or are not in the order, are remarked."""

from collections.abc import Mapping
from pathlib import Path

from plugins.formats.tests.made import page, zipped
from plugins.formats.tests.office_files import remarks, text
from tests.faults import fault
from tests.tools.documents.shown import Shown, shown

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book/content.opf"/></rootfiles>'
    "</container>"
)


def item(name: str, media: str = "application/xhtml+xml", more: str = "") -> str:
    """Return a part of a book's list of parts; its id is its name without suffix."""
    return f'<item id="{name.partition(".")[0]}" href="{name}" media-type="{media}" {more}/>'


def read_book(
    folder: Path, items: str, spine: str, pages: Mapping[str, str | bytes], extra: Mapping[str, str | bytes] | None = None
) -> Shown:
    """Write a book and read it."""
    references = "".join(
        f'<itemref idref="{name.removesuffix("!")}" {"linear=" + chr(34) + "no" + chr(34) if "!" in name else ""}/>'
        for name in spine.split()
    )
    package = f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{references}</spine></package>'
    written = {f"book/{name}": page(f"<p>{body}</p>") if isinstance(body, str) else body for name, body in pages.items()}
    path = folder / "book.epub"
    path.write_bytes(zipped({"META-INF/container.xml": CONTAINER, "book/content.opf": package, **written, **(extra or {})}))
    return shown(path)


def test_pages_are_read_in_their_order_with_those_beside_it(tmp_path: Path) -> None:
    pages = {"two.xhtml": "Second.", "one.xhtml": "First.", "notes.xhtml": "A note."}
    read = read_book(tmp_path, "".join(map(item, pages)), "one two notes!", pages)
    assert text(read).splitlines() == ["First.", "Second.", "A note."]
    assert not read.remarks


@fault("documents", "page of a book missing, encrypted or of another type", sees="a remark that names the page", kept="the other pages")
def test_pages_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    items = item("one.xhtml") + item("gone.xhtml") + item("secret.xhtml") + item("cover.jpg", "image/jpeg") + item("loose.xhtml")
    encryption = (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
        '<e:CipherData><e:CipherReference URI="book/secret.xhtml"/></e:CipherData></e:EncryptedData></encryption>'
    )
    pages = {"one.xhtml": "First.", "secret.xhtml": "garbage", "loose.xhtml": "Loose."}
    read = read_book(tmp_path, items, "cover one gone secret unknown", pages, {"META-INF/encryption.xml": encryption})
    assert text(read) == "First."
    messages = remarks(read)
    assert len(messages) == 5
    for fact in ("gone.xhtml", "secret.xhtml", "unknown", "cover.jpg", "1 page outside the reading order"):
        assert any(fact in remark for remark in messages)


def test_encrypted_fonts_are_no_loss_of_text(tmp_path: Path) -> None:
    encryption = '<encryption><EncryptedData><CipherReference URI="book/font.otf"/></EncryptedData></encryption>'
    read = read_book(tmp_path, item("one.xhtml"), "one", {"one.xhtml": "First."}, {"META-INF/encryption.xml": encryption})
    assert text(read) == "First."
    assert not read.remarks


def test_names_in_another_case_or_escaped_are_the_same_page(tmp_path: Path) -> None:
    items = (
        '<item id="a" href="One%20Page.xhtml" media-type="application/xhtml+xml"/><item id="b" href="two.html#top" media-type="text/xml"/>'
    )
    assert text(read_book(tmp_path, items, "a b", {"one page.XHTML": "First.", "two.html": "Second."})).splitlines() == [
        "First.",
        "Second.",
    ]


def test_pages_that_are_pictures_and_fallbacks(tmp_path: Path) -> None:
    picture = b'<svg xmlns="http://www.w3.org/2000/svg"><g><text>Scale <tspan>1:5000</tspan></text></g></svg>'
    items = item("map.svg", "image/svg+xml") + item("scan.pdf", "application/pdf", 'fallback="scan_text"') + item("scan_text.xhtml")
    read = read_book(tmp_path, items, "map scan", {"map.svg": picture, "scan.pdf": b"%PDF", "scan_text.xhtml": "Scanned."})
    assert text(read).splitlines() == ["Scale 1:5000", "Scanned."]


def test_a_book_without_a_reading_order_is_read_by_its_list(tmp_path: Path) -> None:
    read = read_book(
        tmp_path, item("one.xhtml") + item("nav.xhtml", more='properties="nav"'), "", {"one.xhtml": "First.", "nav.xhtml": "1"}
    )
    assert text(read) == "First."
    assert len(read.remarks) == 1


def test_what_belongs_to_a_site_on_a_web_page_is_text_in_a_book(tmp_path: Path) -> None:
    body = (
        '<header><p class="tagline">Of rivers.</p></header><p>The mill was built in 1911<a href="#n"><sup>1</sup></a> at the weir.</p>'
        '<aside id="n"><p>1 Deed of the town.</p></aside><div class="sidebar">A weir is a low dam.</div><footer>Map: page 7.</footer>'
    )
    read = read_book(tmp_path, item("one.xhtml"), "one", {"one.xhtml": page(body)})
    assert text(read).splitlines() == [
        *("Of rivers.", "The mill was built in 1911[1] at the weir.", "1 Deed of the town.", "A weir is a low dam.", "Map: page 7."),
    ]
    assert not read.remarks

"""The notebook that comes with the package, and a drawing that was saved, in a real JupyterLab; run by `make browser-test` as well."""

from playwright.sync_api import expect

from tests.browser.lab import Open, chat


def test_the_tour_runs_and_reads_well(notebook: Open) -> None:
    book = notebook(tour=True, height=5200)
    book.page.locator(".lm-MenuBar-itemLabel", has_text="Run").click()
    book.page.locator(".lm-Menu").get_by_text("Run All Cells", exact=True).click()
    expect(book.page.locator(".ramify-turn .final")).to_have_count(2, timeout=120_000)
    expect(book.page.locator(".ramify-chat")).to_have_count(2, timeout=120_000)
    expect(book.page.locator(".jp-RenderedHTMLCommon .card.pruned")).to_have_count(2)
    expect(book.page.locator(".jp-OutputArea-output", has_text="Uppsala").first).to_be_visible(timeout=120_000)
    expect(book.page.locator(".jp-Notebook").get_by_text("Error")).to_have_count(0)
    book.picture("1-whole")
    book.page.locator(".jp-RenderedHTMLCommon .map a").last.click()
    expect(book.page.locator(".card:target .path")).to_have_text("0.1")


def test_a_saved_drawing_is_drawn(notebook: Open) -> None:
    """JupyterLab draws Mermaid itself, so it can judge what is exported."""
    shown = "display(Markdown(f'```mermaid\\n{tree_mermaid({**TREE, **evil})}```'))"
    evil = "evil = {'0.4': branch('0.4', EVIL, status='failed', note='2. ' + EVIL)}"
    lines = (
        "from IPython.display import Markdown",
        "from ramify.studio.drawing.mermaid import tree_mermaid",
        "from tests.studio.samples import *",
    )
    book = notebook(*lines, "from tests.studio.drawing.test_mermaid import EVIL", evil, shown, *chat(), height=1400)
    drawing = book.page.locator(".jp-RenderedMermaid img, .jp-RenderedMermaid svg")
    expect(drawing.first).to_be_visible()
    book.picture("1-drawing")
    expect(book.page.locator(".jp-RenderedMermaid.jp-mod-warning")).to_have_count(0)

"""The chat as a user meets it: in a real JupyterLab, in a real browser. `make browser-test`; pictures in build/browser/."""

from playwright.sync_api import expect

from tests.browser.lab import Open, chat
from tests.river import QUESTION


def test_a_question_grows_a_tree_and_is_answered(notebook: Open) -> None:
    book = notebook(*chat())
    book.picture("1-before")
    book.ask(QUESTION)
    expect(book.turn.locator(".progress")).to_be_visible()
    expect(book.button("Ask")).to_be_disabled()
    expect(book.turn.locator(".card")).to_have_count(3)
    expect(book.turn.locator(".card.busy").first).to_be_visible()
    book.picture("2-growing")
    expect(book.turn.locator(".final")).to_contain_text("Seine")
    expect(book.turn.locator(".cost").first).to_contain_text("InMemoryVectorStore")
    expect(book.turn.locator(".cost").last).to_contain_text("model calls")
    expect(book.button("Ask")).to_be_enabled()
    book.picture("3-answered")


def test_a_citation_opens_its_passage(notebook: Open) -> None:
    book = notebook(*chat(model="model()"))
    book.ask(QUESTION)
    passage = book.turn.locator(".citations p").first
    expect(passage).to_be_hidden()
    book.turn.locator(".final .number").first.click()
    expect(passage).to_be_visible()
    book.picture("1-citation")
    book.turn.locator(".evidence summary").first.click()
    expect(book.turn.locator(".passage").first).to_be_visible()
    book.turn.locator(".map a").last.click()
    expect(book.turn.locator(".card:target .path")).to_have_text("0.1")
    book.picture("2-card")


def test_a_pruned_tree_with_long_texts(notebook: Open) -> None:
    long = "It is a long story, told at length and with all its turns. " * 12
    weak = "{'sufficiency': 1, 'non_redundancy': 1, 'consistency': 1, 'decomposition': 1, 'weaker': '2'}"
    answer = f"lambda slots: {{'answer': {long!r}, 'confidence': 0.4, 'citations': [1, 2]}}"
    model = f"but(judge={weak}, finalize={answer}, answer={answer})"
    book = notebook("from tests.river import but", *chat(model=model), height=1600)
    book.ask(QUESTION)
    expect(book.turn.locator(".final")).to_contain_text("at length")
    expect(book.turn.locator(".card.pruned").first).to_contain_text("below theta")
    word = book.turn.locator(".legend dt").first.bounding_box()
    assert word is not None
    assert word["height"] < 30, "a word of the legend stands in one line, whatever JupyterLab says of such lists"
    book.picture("1-pruned")
    book.box.fill("Tell me more about everything that is near it. " * 213)
    book.page.keyboard.press("Enter")
    expect(book.page.locator(".ramify-turn .final")).to_have_count(2)
    expect(book.turn.locator(".asked")).to_contain_text("near it")
    book.picture("2-long-question")


def test_a_follow_up_with_another_strategy(notebook: Open) -> None:
    meant = "Which river runs through Paris?"
    book = notebook("from tests.river import but", *chat(model=f"but(contextualize={{'question': {meant!r}}})"))
    book.ask(QUESTION)
    expect(book.turn.locator(".final")).to_be_visible()
    book.page.locator(".ramify-bar select").select_option("iterative")
    book.ask("And what runs through it?")
    expect(book.turn.locator(".understood")).to_contain_text(meant)
    expect(book.turn.locator(".cost").last).to_contain_text("iterative")
    expect(book.page.locator(".ramify-turn")).to_have_count(2)
    expect(book.page.locator(".ramify-turn").last.locator("details.found")).not_to_have_attribute("open", "")
    book.picture("1-two-turns")


def test_settings_are_filled_in_and_refused(notebook: Open) -> None:
    book = notebook(*chat(model="model()"))
    book.button("Settings").click()
    panel = book.page.locator(".ramify-panel")
    expect(panel.locator(".ramify-field")).to_have_count(9)
    book.picture("1-settings")
    depth = panel.locator(".ramify-field", has_text="max_depth").locator("input")
    depth.fill("many")
    depth.press("Enter")
    expect(panel.locator(".warning")).to_contain_text("max_depth='many'")
    book.ask(QUESTION)
    expect(book.page.locator(".ramify-chat > .widget-html .warning")).to_contain_text("max_depth")
    book.picture("2-refused")
    depth.fill("1")
    depth.press("Enter")
    expect(panel.locator(".note")).to_contain_text("at most")
    book.button("Ask").click()
    expect(book.turn.locator(".final")).to_contain_text("Seine")


def test_a_model_that_hangs_is_stopped(notebook: Open) -> None:
    book = notebook(*chat(model="model(latency=600)"))
    book.ask(QUESTION)
    expect(book.turn.locator(".clock")).to_contain_text("1 s")
    book.page.keyboard.press("Tab")  # Ask is disabled: the next one is Stop
    book.page.keyboard.press("Enter")
    expect(book.turn.locator(".stopped")).to_be_visible()
    expect(book.box).to_have_value(QUESTION)
    expect(book.turn.locator(".busy")).to_have_count(0)
    book.picture("1-stopped")


def test_an_index_that_disappeared_is_an_error_card(notebook: Open) -> None:
    book = notebook(*chat(index="'no/such/index'"))
    book.box.click()
    book.page.keyboard.press("Enter")
    expect(book.page.locator(".ramify-chat .warning")).to_contain_text("empty")
    book.ask(QUESTION)
    expect(book.turn.locator(".error")).to_contain_text("no index")
    book.picture("1-error")
    expect(book.box).to_have_value(QUESTION)


def test_the_demo_with_nothing_but_the_package(notebook: Open) -> None:
    book = notebook("from ramify.studio import Chat", "Chat(model='extractive')")
    book.ask("In which city was the inventor of the ballpoint pen born?")
    expect(book.turn.locator(".hint").first).to_be_visible()
    book.picture("1-first")
    expect(book.turn.locator(".final")).to_be_visible(timeout=120_000)
    book.picture("2-answered")
    with book.page.expect_download() as saved:
        book.turn.locator(".exports a", has_text="HTML").click()
    page = saved.value.path().read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    book.ask("日本の首都はどこですか？")
    expect(book.turn.locator(".notices")).to_contain_text("reads English only", timeout=60_000)
    book.picture("3-japanese")


def test_a_question_about_everything_shows_its_batches(notebook: Open) -> None:
    book = notebook(
        "from ramify.studio import Chat", "Chat(model='extractive', strategy='global', level=2, batch_tokens=2000)", height=1600
    )
    book.ask("What are the main themes of these documents?")
    expect(book.turn.locator(".final .number").first).to_be_visible(timeout=120_000)
    expect(book.turn.locator(".notices")).to_contain_text("sentences quoted from the documents")
    expect(book.turn.locator(".card").nth(2)).to_be_visible()
    book.picture("1-themes")
    book.turn.locator(".final .number").first.click()
    expect(book.turn.locator(".citations p").first).to_be_visible()
    book.turn.locator(".evidence summary").nth(1).click()
    book.picture("2-report")


def test_dark_and_narrow(notebook: Open) -> None:
    """The last one, because the theme stays dark."""
    book = notebook(*chat(model="model()"))
    book.ask(QUESTION)
    expect(book.turn.locator(".final")).to_be_visible()
    for entry in ("Settings", "Theme", "JupyterLab Dark"):
        book.page.locator(".lm-MenuBar-itemLabel, .lm-Menu-itemLabel", has_text=entry).first.click()
    book.page.wait_for_selector('body[data-jp-theme-light="false"]', state="attached")
    card = book.turn.locator(".card").first
    assert card.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(29, 36, 48)"
    book.picture("1-dark")
    book.button("Settings").click()
    book.picture("2-dark-settings")
    book.button("Settings").click()
    book.page.set_viewport_size({"width": 560, "height": 1000})
    book.picture("3-narrow")
    width = book.page.locator(".ramify-chat").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert width[0] <= width[1]
    said, tree = (book.turn.locator(name).bounding_box() for name in (".ramify-said", ".ramify-tree"))
    assert said is not None
    assert tree is not None
    assert tree["y"] >= said["y"] + said["height"]

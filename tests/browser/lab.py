"""A real JupyterLab on loopback, and a headless Chromium that looks at it. Pictures go to build/browser/."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, sync_playwright

ROOT = Path(__file__).parents[2]
TOUR = ROOT / "studio" / "chat.ipynb"
PICTURES = ROOT / "build" / "browser"
CHROMIUM = Path("/usr/bin/chromium")
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")
LAB = ("--no-browser", "--allow-root", "--ip=127.0.0.1", "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True")
NEWS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}


class Notebook:
    """A notebook that is open in the browser, with the chat of its first cell."""

    def __init__(self, page: Page, name: str) -> None:
        self.page = page
        self._name = name

    @property
    def box(self) -> Locator:
        return self.page.locator(".ramify-asking input")

    @property
    def turn(self) -> Locator:
        """The newest turn."""
        return self.page.locator(".ramify-turn").first

    def ask(self, question: str) -> None:
        self.box.click()
        self.page.keyboard.type(question)
        self.page.keyboard.press("Enter")

    def button(self, name: str) -> Locator:
        return self.page.locator(".ramify-chat button", has_text=name)

    def picture(self, of: str) -> None:
        """Look at it: what moves comes to rest first."""
        self.page.wait_for_timeout(400)
        self.page.screenshot(path=PICTURES / f"{self._name}-{of}.png")


Open = Callable[..., Notebook]


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a JupyterLab, and the folder it shows."""
    folder, home = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("settings")
    (home / "labconfig").mkdir()
    (home / "labconfig" / "default_setting_overrides.json").write_text(json.dumps(NEWS), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": str(home), "LANGSMITH_TRACING": "false"}
    command = [sys.executable, "-m", "jupyterlab", *LAB, f"--port={port}"]
    with (home / "log").open("w") as log, subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) as server:
        address = f"http://127.0.0.1:{port}"
        _wait_for(address + "/api")
        yield address, folder
        server.terminate()


def _wait_for(address: str) -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(address)
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise TimeoutError(address)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser; Playwright brings none of its own here."""
    if not CHROMIUM.exists():
        pytest.exit(f"no browser at {CHROMIUM}: install Debian's package chromium", returncode=1)
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def notebook(lab: tuple[str, Path], chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Open a notebook whose only cell makes a chat, and run it; or the tour, not run yet."""
    address, folder = lab
    pages: list[Page] = []

    def open_(*lines: str, width: int = 1400, height: int = 1000, tour: bool = False) -> Notebook:
        name = re.sub(r"\W+", "-", request.node.name.removeprefix("test_")).strip("-")
        written = TOUR.read_text(encoding="utf-8") if tour else json.dumps(_book("\n".join(lines)))
        (folder / f"{name}.ipynb").write_text(written, encoding="utf-8")
        page = chromium.new_page(viewport={"width": width, "height": height})
        pages.append(page)
        page.set_default_timeout(60_000)
        page.goto(f"{address}/lab/tree/{name}.ipynb?reset")
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        page.locator("#jp-main-statusbar", has_text="| Idle").wait_for()
        if not tour:
            page.locator(".jp-Notebook .jp-Cell .jp-InputArea-editor").first.click()
            page.keyboard.press("Shift+Enter")
            page.locator(".ramify-chat input").first.wait_for()
        return Notebook(page, name)

    yield open_
    for page in pages:
        page.close()


def _book(source: str) -> dict[str, object]:
    cell = {"cell_type": "code", "id": "chat", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


RIVER = ("from ramify.studio import Chat", "from tests.river import model, river")


def chat(**changes: object) -> tuple[str, ...]:
    """Write the cell that makes a chat with the fake model."""
    given = {"index": "river()", "strategy": "'tor'", "model": "model(latency=0.4)", **changes}
    return (*RIVER, f"chat = Chat({', '.join(f'{name}={value}' for name, value in given.items())})", "chat")

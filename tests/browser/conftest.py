"""One JupyterLab and one browser for all tests here."""

from tests.browser.lab import chromium, lab, notebook

__all__ = ["chromium", "lab", "notebook"]

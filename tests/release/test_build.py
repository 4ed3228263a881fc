"""What is said of a release before it is built."""

from pathlib import Path

import pytest

from release import build
from release.build import check_links, relative_links


def test_links_to_files_beside_the_readme_are_dead_on_pypi() -> None:
    readme = "[a](docs/a.md) ![b](docs/b.png) [c](https://example.org/c) [d](#d) [e](LICENSE) `x[1](y)`"
    assert relative_links(readme)[:3] == ["docs/a.md", "docs/b.png", "LICENSE"]


def test_a_page_without_address_and_with_dead_links_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "ROOT", tmp_path)
    readme = tmp_path / "README.md"
    readme.write_text("[a](docs/a.md)", encoding="utf-8")
    check_links({"readme": "README.md"})
    told = capsys.readouterr().out
    assert all(words in told for words in ("[project.urls]", "1 of the links", "docs/a.md"))
    readme.write_text("[a](https://example.org/docs/a.md)", encoding="utf-8")
    check_links({"readme": "README.md", "urls": {"Repository": "https://example.org"}})
    assert capsys.readouterr().out == ""

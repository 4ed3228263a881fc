"""Front matter of Markdown becomes metadata; hostile front matter costs nothing."""

from pathlib import Path

import pytest

from tests.tools.documents.shown import shown

TEXT = "The pump moves water from the well to the tank."


def markdown(path: Path, above: str, text: str = TEXT) -> Path:
    path.write_text(f"{above}\n{text}\n", encoding="utf-8")
    return path


def test_front_matter_is_no_text_and_names_of_places_are_kept_apart(tmp_path: Path) -> None:
    above = "---\ntitle: The pump\nheading: Mine\nsource: Gazette\ncode: 007\nland: NO\npower: {kw: 1.5, tests: [a: 1]}\nempty:\n---"
    (document,), _, remarks = shown(markdown(tmp_path / "a.md", above))
    assert document.page_content == TEXT
    assert document.metadata == {
        "source": "a.md", "title": "The pump", "record_heading": "Mine", "record_source": "Gazette", "code": "007", "land": "NO",
        "power.kw": 1.5,
    }  # fmt: skip
    assert [(name, "power.tests" in said) for name, said in remarks] == [("a.md", True)]


@pytest.mark.parametrize(
    "above", ["---\nA rule above a paragraph.\n---", "---\n\nNote: a rule.\n\n---", "---\n- a\n- b\n---", "Text\n\n---"]
)
def test_a_rule_is_no_front_matter(above: str, tmp_path: Path) -> None:
    found = shown(markdown(tmp_path / "a.md", above))
    text = " ".join(f"{document.metadata.get('heading', '')} {document.page_content}" for document in found.documents)
    assert all(word in text for word in (*above.replace("-", " ").split(), *TEXT.split()))
    assert found.remarks == []


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "fields",
    [
        BOMB,
        "a: &a [*a]",
        "[" * 9000,
        "- " * 7000,
        "a: b: c",
        "a: '",
        "a: \0",
        "x" * (1 << 20),
        "? " * 5000,
        "%TAG ! !",
    ],
    ids=["bomb", "circle", "brackets", "lists", "colons", "quote", "nul", "megabyte", "keys", "directive"],
)
def test_hostile_front_matter_costs_nothing_but_itself(fields: str, tmp_path: Path) -> None:
    found = shown(markdown(tmp_path / "a.md", f"---\n{fields}\n---\n\n# Pump"))
    if "\0" in fields:
        assert found.skipped == [("a.md", "binary, not text")]
        return
    assert TEXT in found.documents[-1].page_content
    assert found.documents[-1].metadata.keys() == {"source", "title", "heading"}


def test_a_tag_of_yaml_makes_nothing(tmp_path: Path) -> None:
    above = f'---\nauthor: !!python/object/apply:os.system ["touch {tmp_path}/made"]\nname: !!python/name:os.system x\n---'
    assert shown(markdown(tmp_path / "a.md", above)).documents[-1].metadata["name"] == "x"
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("fields", ["n = 0x" + "f" * 9000, "n = 1" + "0" * 9000, "a = " + "[" * 9000, "a = 1\na = 2", "f = [nan, inf]"])
def test_hostile_toml_costs_nothing_but_itself(fields: str, tmp_path: Path) -> None:
    found = shown(markdown(tmp_path / "a.md", f"+++\n{fields}\n+++"))
    assert TEXT in found.documents[-1].page_content
    assert found.documents[-1].metadata == {"source": "a.md", "title": "a"}
    assert len(found.remarks) == 1

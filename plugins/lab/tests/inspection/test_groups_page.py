"""The page of a hierarchy, and how its groups are told once they have changed."""

import json
import re
from html import escape
from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.inspection.test_groups import HOSTILE
from ramify.lab.inspection import page as inspect_page
from ramify.studio.cli import run
from tests.studio.conftest import Ramify
from tests.studio.drawing.test_page import read
from tests.tools.index.manual import WORDS, change_records, records, write


def page_of(ramify: Ramify, index: Path, tmp_path: Path) -> str:
    done = ramify("inspect", index, "--html", tmp_path / "page.html")
    assert done.code == 0
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_page_unfolds_every_group_and_nothing_of_a_document_is_markup(
    ramify: Ramify, grouped: Path, inspected: dict[str, Any], tmp_path: Path
) -> None:
    html = page_of(ramify, grouped, tmp_path)
    page = read(html)
    assert not {"script", "link", "img", "iframe", "object", "base", "form"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in {"src", "action"}]
    assert HOSTILE in "".join(page.words)
    ids = {value for name, value in page.attributes if name == "id"}
    links = {value[1:] for name, value in page.attributes if name == "href" and value and value.startswith("#")}
    assert ids == links == {f"group-{number}" for number in range(len(inspected["groups"]))}
    assert all(escape(finding["text"]) in html for report in inspected["reports"] for finding in report["findings"])
    assert page_of(ramify, grouped, tmp_path) == html


def test_a_page_beyond_its_size_limit_lists_what_it_omits(
    ramify: Ramify, grouped: Path, inspected: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = page_of(ramify, grouped, tmp_path)
    assert "so that the page stays small" not in whole
    for room in (15_000, 3000):
        monkeypatch.setattr(inspect_page, "MAX_PARTS_BYTES", room)
        short = page_of(ramify, grouped, tmp_path)
        shown = len(set(re.findall(r'id="group-\d+"', short)))
        left = len(inspected["groups"]) - shown
        assert shown > 0
        assert len(short) < len(whole)
        assert (left > 0) == (room == 3000)
        assert "The levels below are omitted" in short
        assert (f"Omitted to limit the size of the page: the {left} smallest groups" in short) == (left > 0)


def test_many_groups_are_cut_and_counted(ramify: Ramify, tmp_path: Path) -> None:
    pages = [(number, place) for number in range(1, 5) for place in range(1, 31)]
    chapters = {f"p{number}-{place}": {"chapter": f"{(place - 1) // 6} of {list(WORDS)[number - 1]}"} for number, place in pages}
    given = change_records(records(30), chapters)
    file = write(tmp_path, given)
    assert run(["index", str(file), "--out", str(tmp_path / "many"), "--kind", "hierarchy", "--group-by", "chapter"]) == 0
    out = ramify("inspect", tmp_path / "many").out
    left = re.search(r"^and (\d+) more groups: --group NAME shows one", out, re.MULTILINE)
    inspected = json.loads(ramify("inspect", tmp_path / "many", "--json").out)
    assert left
    assert int(left[1]) == len(inspected["groups"]) - 15


def test_groups_that_have_changed_much_are_named_with_what_to_do(ramify: Ramify, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    options = ("--out", folder, "--kind", "hierarchy", "--group-by", "chapter")
    assert ramify("index", write(tmp_path, records()), *options).code == 0
    more = [{**record, "id": f"more-{number}"} for number, record in enumerate(records(24)[16:24])]
    assert ramify("index", write(tmp_path, [*records(), *more]), *options).code == 0
    out = ramify("inspect", folder).out
    assert re.search(rf"^drift .*Bellows \d+%.*`ramify index --kind hierarchy --out {folder} --rebuild`", out, re.MULTILINE)
    assert json.loads(ramify("inspect", folder, "--json").out)["drift"]["Bellows"] > 0.1
    command = re.search(r"`ramify (index .+? --rebuild)`", out)
    assert command
    assert ramify(*command[1].split()).code == 0
    assert "drift" not in ramify("inspect", folder).out


def test_mistakes_are_one_line(ramify: Ramify, plain: Path, grouped: Path, tmp_path: Path) -> None:
    wrong = [
        (ramify("inspect", plain, "--group", "Kiln"), "build a hierarchy: `ramify index --kind hierarchy --out"),
        (ramify("inspect", grouped, "--group", "Kilns"), "there is no group 'Kilns' — choose one of"),
        (ramify("inspect", grouped, "--group", "Kiln", "--html", tmp_path / "page.html"), "exclude each other"),
    ]
    for done, said in wrong:
        assert done.code == 2
        assert said in done.err
        assert done.err.count("\n") == 1

"""What there is to see of an index: its sizes, its levels beside the paper's, its reports, and a page of all that."""

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from plugins.kinds.tests.knowledge.graph_model import build_with_model, graph_model_with
from ramify.lab.inspection import page as inspect_reports
from ramify.lab.inspection.contents import inspect_index
from ramify.lab.inspection.description import index_facts
from ramify.studio.cli import run
from ramify.tools.search.searcher import open_index
from tests.studio.conftest import Ramify
from tests.studio.drawing.test_page import read

HOSTILE = '<script>alert("x")</script>'
DOCUMENTS = {
    "acme": "Acme Rockets was founded in Graz by Paula Stern. Acme Rockets builds the Meteor engine with Emil Braun. "
    "Paula Stern studied in Vienna with Emil Braun. The Meteor engine was tested in Graz by Emil Braun for Acme Rockets.",
    "stern": "Paula Stern was born in Linz on the Danube. Paula Stern married Viktor Adler in Vienna. Viktor Adler taught in Linz.",
    "danube": "The Danube flows through Linz and Vienna. The Danube reaches Budapest after Vienna. Budapest lies on the Danube.",
    "orchard": "Mira Holt planted the Silver Orchard near Lake Onda. Tomas Reed bought the Silver Orchard from Mira Holt. "
    "Lake Onda lies below Mount Sorrel. Tomas Reed climbed Mount Sorrel with Mira Holt.",
    "sorrel": "Mount Sorrel is above Port Ellery. Port Ellery was settled by Ines Calder. Ines Calder painted Lake Onda and Port Ellery.",
    "evil": f"Oskar Vane saw {HOSTILE} with Greta Lindqvist. Greta Lindqvist told {HOSTILE} to Oskar Vane.",
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the documents, of which one has hostile words in its title and its text."""
    folder = tmp_path_factory.mktemp("inspected")
    records = [{"id": id, "title": f"{HOSTILE} Vane" if id == "evil" else id.title(), "text": text} for id, text in DOCUMENTS.items()]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert run(["index", str(folder / "corpus.jsonl"), "--out", str(folder / "plain")]) == 0
    return folder / "plain"


@pytest.fixture(scope="module")
def linked(plain: Path) -> Path:
    """The same with a graph."""
    folder = plain.with_name("linked")
    assert run(["index", str(plain.with_name("corpus.jsonl")), "--out", str(folder), "--kind", "graph"]) == 0
    return folder


@pytest.fixture
def inspected(ramify: Ramify, linked: Path) -> dict[str, Any]:
    """What --json says of the graph."""
    done = ramify("inspect", linked, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def test_a_plain_index_gets_a_hint_how_to_add_a_graph(ramify: Ramify, plain: Path) -> None:
    done = ramify("inspect", plain)
    assert done.code == 0
    assert re.search(r"^documents +6 *$", done.out, re.MULTILINE)
    assert re.search(r"^passages +6 searched", done.out, re.MULTILINE)
    assert f"`ramify index --kind graph --out {plain}`" in done.out
    contents = json.loads(ramify("inspect", plain, "--json").out)
    assert (contents["kind"], contents["levels"], contents["reports"], contents["facts"]) == ("passages", [], [], {})
    assert contents["counts"]["documents"] == 6


def test_the_remedy_for_a_plain_index_works(ramify: Ramify, plain: Path, tmp_path: Path) -> None:
    (copy := tmp_path / "copy").mkdir()
    for file in plain.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    command = re.search(r"`ramify (.+?)`", ramify("inspect", copy).out)
    assert command
    assert ramify(*command[1].split()).code == 0
    assert json.loads(ramify("inspect", copy, "--json").out)["kind"] == "graph"


def test_the_demo_can_be_inspected(ramify: Ramify) -> None:
    assert re.search(r"^documents +64 *$", ramify("inspect", "demo").out, re.MULTILINE)


def test_levels_are_compared_with_those_of_the_paper(ramify: Ramify, linked: Path, inspected: dict[str, Any]) -> None:
    out = ramify("inspect", linked).out
    root = inspected["levels"][0]
    row = next(line.split() for line in out.splitlines() if line.startswith("C0"))
    assert row[1:3] == [str(root["communities"]), f"{root['tokens']:,}"]
    assert row[-3:] == ["under", "3", "%"]
    assert re.search(r"^C3 .*67–74 % *$", out, re.MULTILINE)
    assert re.search(r"^the paper's news .* 3,197 +15,754 +19,520 *$", out, re.MULTILINE)
    assert "Edge et al. 2024" in out
    assert f"{inspected['counts']['names']:,}, found by rules (no model)" in out


def test_every_level_holds_every_connected_name_once(inspected: dict[str, Any]) -> None:
    reports = {report["community"]: report for report in inspected["reports"]}
    split = {report["parent"] for report in reports.values()}
    connected = inspected["counts"]["names"] - inspected["counts"]["unconnected_names"]
    assert [level["level"] for level in inspected["levels"]] == list(range(len(inspected["levels"])))
    for level in inspected["levels"]:
        number = level["level"]
        there = [report for id, report in reports.items() if report["level"] == number or (report["level"] < number and id not in split)]
        names = Counter(name for report in there for name in report["members"])
        assert len(there) == level["communities"]
        assert len(names) == connected
        assert set(names.values()) == {1}
        assert level["share"] == pytest.approx(level["tokens"] / inspected["counts"]["tokens"])
        assert -0.5 <= level["modularity"] <= 1
    for child in reports.values():
        assert child["parent"] is None or set(child["members"]) < set(reports[child["parent"]]["members"])


def test_findings_name_passages_of_the_index(ramify: Ramify, linked: Path, inspected: dict[str, Any]) -> None:
    there = {hit["id"]: hit["text"] for hit in json.loads(ramify("search", "who", "--index", linked, "-k", "20", "--json").out)}
    findings = [finding for report in inspected["reports"] for finding in report["findings"]]
    assert findings
    assert all(set(finding["passages"]) <= set(there) for finding in findings)
    assert all(finding["text"] in there[finding["passages"][0]] for finding in findings)


def test_units_that_a_model_failed_to_read_are_reported(linked: Path) -> None:
    inspection = inspect_index(open_index(linked))
    assert inspection.graph is not None
    said = {
        "made_by": "ollama:some-model",
        "reported_by": "ollama:some-model",
        "replaced": "2",
        "unread p1": "it broke\noff",
        "unread p2": "x",
    }
    lines = dict(index_facts(replace(inspection, graph=replace(inspection.graph, facts=said))))
    assert "found by ollama:some-model" in lines["names"]
    assert lines["reports"].endswith("2 of them replaced by quotations")
    assert lines["not read"] == "2 units, the first from p1: it broke off"


def page_of(ramify: Ramify, index: Path, tmp_path: Path) -> str:
    done = ramify("inspect", index, "--html", tmp_path / "page.html")
    assert done.code == 0
    assert "the page is in" in done.err
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def test_nothing_of_a_document_is_markup_and_the_page_loads_nothing(ramify: Ramify, linked: Path, tmp_path: Path) -> None:
    page = read(page_of(ramify, linked, tmp_path))
    assert not {"script", "link", "img", "iframe", "object", "base", "form"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in {"src", "action"}]
    assert [value for name, value in page.attributes if name == "content" and value and value.startswith("default-src 'none'")]
    words = "".join(page.words)
    assert HOSTILE in words.replace(f"{HOSTILE} Vane", "")


def test_the_picture_leads_into_the_reports(ramify: Ramify, linked: Path, inspected: dict[str, Any], tmp_path: Path) -> None:
    html = page_of(ramify, linked, tmp_path)
    page = read(html)
    ids = {value for name, value in page.attributes if name == "id"}
    links = {value[1:] for name, value in page.attributes if name == "href" and value and value.startswith("#")}
    assert set() < links <= ids
    assert ids == {f"community-{report['community']}" for report in inspected["reports"]}
    assert page.tags.count("circle") == inspected["counts"]["names"] - inspected["counts"]["unconnected_names"]
    assert re.search(r"<circle [^>]*><title>Paula Stern · connected with \d+</title>", html)
    assert all(escape(finding["text"]) in html for report in inspected["reports"] for finding in report["findings"])


def test_the_same_index_gives_the_same_page(ramify: Ramify, linked: Path, tmp_path: Path) -> None:
    assert page_of(ramify, linked, tmp_path) == page_of(ramify, linked, tmp_path)


def test_a_page_beyond_its_size_limit_lists_what_it_omits(
    ramify: Ramify, linked: Path, inspected: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = page_of(ramify, linked, tmp_path)
    monkeypatch.setattr(inspect_reports, "MAX_PARTS_BYTES", 1500)
    short = page_of(ramify, linked, tmp_path)
    assert len(short) < len(whole)
    assert "Omitted to limit the size of the page" in short
    assert "Omitted to limit the size of the page" not in whole
    shown = [int(id) for id in re.findall(r'id="community-(\d+)"', short)]
    assert shown == list(range(len(shown))) != []


def test_a_page_of_a_plain_index_shows_its_sizes(ramify: Ramify, plain: Path, tmp_path: Path) -> None:
    html = page_of(ramify, plain, tmp_path)
    assert "--kind graph" in html
    assert "<svg" not in html


def test_mistakes_are_one_line(ramify: Ramify, linked: Path, tmp_path: Path) -> None:
    wrong = [
        (ramify("inspect", tmp_path / "nowhere"), 1, "there is no index in"),
        (ramify("inspect", linked, "--json", "--html", tmp_path / "page.html"), 2, "exclude each other"),
        (ramify("inspect", linked, "--html", tmp_path / "nowhere" / "page.html"), 1, "cannot write"),
    ]
    for done, code, said in wrong:
        assert done.code == code
        assert said in done.err
        assert done.err.count("\n") == 1


def test_claims_are_listed_with_the_words_that_they_are_from(ramify: Ramify, plain: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(plain, tmp_path / "index"))
    words = "Paula Stern married Viktor Adler in Vienna"
    names = ["Paula Stern", "Viktor Adler", "Emil Braun"]
    line = f"Paula Stern | Viktor Adler | marriage | Paula Stern married. | 1904 | | {words}"
    extracted = {"entities": names, "relations": ["Paula Stern | Viktor Adler", "Paula Stern | Emil Braun"]}
    build_with_model(folder, graph_model_with(extract=extracted, claims={"claims": [line]}), claims=True)
    done = ramify("inspect", folder)
    assert re.search(r"^claims +1 *$", done.out, re.MULTILINE)
    assert re.search(r"Paula Stern +Viktor Adler +marriage +1904 +Paula Stern married", done.out)
    [claim] = json.loads(ramify("inspect", folder, "--json").out)["claims"]
    inspected = {"name": "Paula Stern", "object": "Viktor Adler", "kind": "marriage", "start": "1904", "end": "", "span": words}
    assert claim.items() >= inspected.items()
    assert ramify("inspect", folder, "--html", tmp_path / "page.html").code == 0
    assert words in (tmp_path / "page.html").read_text(encoding="utf-8")

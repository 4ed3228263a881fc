"""What there is to see of a hierarchy: its groups, what was measured and repaired, the tree of one group, and a page of all that."""

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

from plugins.kinds.tests.hierarchy.manual import build_index_with_groups, open_groups
from ramify.kinds.building import build_hierarchy
from ramify.lab.inspection.contents import inspect_index
from ramify.lab.inspection.description import index_facts
from tests.fakes import FakeModel
from tests.studio.conftest import Ramify
from tests.tools.fakes import WordEncoder
from tests.tools.index.manual import build_index, records

HOSTILE = '<script>alert("x")</script>'


GONE = {"p1-3": None, "p2-5": None}
"""Paragraphs without their chapter."""


MEASURES = ("cluster_cohesion", "outlier_rate", "meta_conflict", "step_discontinuity", "summary_support", "self_retrieval")


JUPITER = "jupiter europa orbit probe plume ocean telescope moon crater comet saturn ring"


BREAD = "bread oven flour yeast dough butter salt crust cake sugar bun rye"


ODD = "senate bill vote quorum clerk gavel motion caucus ballot whip veto docket"


def strangers(name: str, words: str) -> list[dict[str, Any]]:
    """Write ten paragraphs about something else, without a chapter."""
    draw = random.Random(name)
    inspected = [" ".join(f"{' '.join(draw.choices(words.split(), k=4))}." for _ in range(5)) for _ in range(10)]
    return [{"id": f"{name}{number}", "title": f"{name} {number}", "text": text, "metadata": {}} for number, text in enumerate(inspected)]


def test_a_plain_index_gets_a_hint_on_graph_and_hierarchy(ramify: Ramify, plain: Path) -> None:
    assert "no graph and no hierarchy" in ramify("inspect", plain).out


def test_groups_are_listed_with_their_diagnostics(ramify: Ramify, grouped: Path, inspected: dict[str, Any]) -> None:
    out = ramify("inspect", grouped).out
    assert re.search(r"^grouped by +chapter *$", out, re.MULTILINE)
    assert re.search(r"^None-pool +2 passages without metadata \(.*manual.jsonl.*\)", out, re.MULTILINE)
    assert re.search(r"^summaries +\d+, quoted from the documents \(no model\)", out, re.MULTILINE)
    assert {group["group"] for group in inspected["groups"]} >= {"Bellows", "Loom", "Kiln", HOSTILE}
    for group in inspected["groups"]:
        assert set(group["diagnostics"]) == set(MEASURES)
        assert re.search(rf"^{re.escape(group['group'])} +(by metadata|founded|ungrouped) +{group['passages']} ", out, re.MULTILINE)
        assert set(group["suspicious"]) <= set(MEASURES)
    flags = [len(group["suspicious"]) for group in inspected["groups"]]
    assert flags == sorted(flags, reverse=True)
    assert all(limit in out for limit in ("outlier_rate over 0.20", "self_retrieval under 0.50"))


def test_the_figures_agree(inspected: dict[str, Any]) -> None:
    counts = inspected["counts"]
    assert (inspected["kind"], inspected["group_by"], inspected["facts"]["made_by"]) == ("hierarchy", ["chapter"], "extractive")
    assert counts["groups"] == len(inspected["groups"])
    assert counts["none_pool"] == sum(inspected["none_pool"].values()) == len(GONE)
    assert counts["memberships"]["primary"] == counts["passages"] - len(GONE)
    assert counts["suspicious_groups"] == sum(bool(group["suspicious"]) for group in inspected["groups"])
    assert inspected["levels"][0]["summaries"] == counts["groups"]
    assert sum(group["summaries"] for group in inspected["groups"]) == counts["summaries"] == len(inspected["reports"])


def test_summaries_name_passages_of_the_index(ramify: Ramify, grouped: Path, inspected: dict[str, Any]) -> None:
    there = {hit["id"]: hit["text"] for hit in json.loads(ramify("search", "seam", "--index", grouped, "-k", "99", "--json").out)}
    findings = [finding for report in inspected["reports"] for finding in report["findings"]]
    assert findings
    assert all(finding["text"] in there[finding["passages"][0]] for finding in findings)
    lowest = Counter(id for report in inspected["reports"] for id in report.get("passages", ()))
    assert set(lowest) == set(there)


def test_one_group_is_drawn_with_its_passages(ramify: Ramify, grouped: Path) -> None:
    done = ramify("inspect", grouped, "--group", "kiln")
    assert done.code == 0
    assert re.search(r"^kind +by metadata \(chapter kiln\)", done.out, re.MULTILINE)
    assert re.search(r"^passages +1[67]: 16 by metadata", done.out, re.MULTILINE)
    assert re.search(r"^Kiln  1[67] passages", done.out, re.MULTILINE)
    assert len(re.findall(r"[├└]── 3-\d+", done.out)) >= 6
    assert "1-4. " not in done.out


def test_one_group_is_given_as_json_with_its_tree(ramify: Ramify, grouped: Path) -> None:
    tree = json.loads(ramify("inspect", grouped, "--group", "Kiln", "--json").out)

    def below(node: dict[str, Any]) -> set[str]:
        return set(node.get("passages", ())) | {id for part in node.get("parts", ()) for id in below(part)}

    assert below(tree["tree"]) == {membership["passage"] for membership in tree["memberships"] if membership["kind"] != "novel"}
    assert tree["tree"]["title"] == tree["group"] == "Kiln"


def test_what_is_asked_about_everything_is_answered_from_the_groups(ramify: Ramify, grouped: Path) -> None:
    asked = ("ask", "What are the main themes?", "--index", grouped, "--strategy", "global", "--model", "extractive")
    done = ramify(*asked, "--tree")
    assert done.code == 0
    assert "4 summaries" in done.out
    assert "each under the name of its group" in done.err + done.out
    inspected = json.loads(ramify(*asked, "--json").out)
    assert len(inspected["citations"]) >= 3
    assert all(citation["quote"] in citation["text"] for citation in inspected["citations"])


def test_new_groups_and_ungrouped_passages_are_reported(tmp_path: Path) -> None:
    build_index_with_groups(
        tmp_path / "index", [*records(), *strangers("jupiter", JUPITER), *strangers("bread", BREAD), *strangers("lone", ODD)[:1]]
    )
    lines = dict(index_facts(inspect_index(open_groups(tmp_path / "index"))))
    assert re.search(r"^[67]: 4 by metadata, 2 founded", lines["groups"])
    assert re.search(r"^21 passages without metadata \(manual.jsonl.* 21\)", lines["None-pool"])


def test_summaries_that_a_model_did_not_manage_are_counted(tmp_path: Path) -> None:
    folder = build_index(tmp_path / "index", records(5))
    fake = FakeModel(replies=lambda prompt, slots: {"sentences": ["It was built by Karl Ritter in 1877."]})
    build_hierarchy(folder, {"model": fake, "shots": 0}, ["chapter"], embedding=WordEncoder())
    lines = dict(index_facts(inspect_index(open_groups(folder))))
    assert re.search(r"^4, written by .+, 4 of them replaced by quotations$", lines["summaries"])
    assert "extractive" not in lines["summaries"]

"""A graph built with a language model: elements, claims, gleaning, and failures."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from plugins.kinds.tests.knowledge.graph_model import (
    KINDS,
    NAMES,
    Lines,
    build_with_model,
    extract_from,
    graph_model,
    graph_model_with,
    replies,
)
from plugins.kinds.tests.knowledge.valley import VALLEY, graph_file
from ramify.tools.errors import IndexingError, ModelError
from ramify.tools.index import Index
from tests.tools.fakes import WordEncoder

KELLS = "ivor-kells.md#ivor-kells"


def cut(slots: Any, names: int, relations: int) -> Lines:
    """Return the lines of a reply with only their first fields."""
    lines = extract_from(slots["text"])
    return {
        key: [" | ".join(line.split(" | ")[:parts]) for line in lines[key]] for key, parts in zip(lines, (names, relations), strict=True)
    }


class TestElements:
    def test_names_kinds_and_relations_land_in_the_graph(self, folder: Path) -> None:
        build_with_model(folder)
        reports = graph_file(folder)
        graph = reports.graph()
        assert {name.name: name.kind for name in graph.names.values()} == KINDS
        assert graph.names["nell garvey"].passages == ("harrow-point.md#harrow-point", "skerry-light.md#skerry-light")
        assert graph.edges["jonas merrin", "orla finch"].description.text == "Jonas Merrin goes with Orla Finch."
        assert "Thea Kells is in" in graph.names["thea kells"].description.text
        assert (reports.facts["made_by"], reports.facts["reported_by"]) == ("FakeModel", "FakeModel")

    def test_names_that_are_not_in_the_text_are_dropped(self, folder: Path) -> None:
        made_up = {"entities": ["Atlantis | place | Sunk.", "X | | "], "relations": ["Vane | Atlantis | near"]}
        build_with_model(
            folder,
            graph_model_with(extract=lambda slots: {key: [*lines, *made_up[key]] for key, lines in extract_from(slots["text"]).items()}),
        )
        assert set(graph_file(folder).graph().names) == NAMES

    @pytest.mark.parametrize(
        ("unit_tokens", "num_predict", "lines"),
        [(100, 2048, 10), (600, 2048, 30), (1200, 2048, 30), (1200, 4096, 60), (100_000, 16_384, 240), (600, 512, 7), (600, 16, 1)],
    )
    def test_a_list_may_be_as_long_as_its_text_and_the_reply_have_room_for(
        self, folder: Path, unit_tokens: int, num_predict: int, lines: int
    ) -> None:
        build_with_model(folder, chat := graph_model(), unit_tokens=unit_tokens, num_predict=num_predict, num_ctx=200_000)
        [schema] = [schema for schema in chat.schemas if "relations" in schema.model_json_schema()["properties"]]
        assert {field["maxItems"] for field in schema.model_json_schema()["properties"].values()} == {lines}

    def test_all_of_a_long_list_lands_in_the_graph(self, tmp_path: Path) -> None:
        names = [f"Ben {letter * 3}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
        lines = {"entities": names, "relations": [f"{one} | {other} | {one} knows {other}." for one, other in pairwise(names)]}
        Index.from_texts([" and ".join(names)], WordEncoder(), ids=["note"], path=tmp_path / "index")
        build_with_model(tmp_path / "index", graph_model_with(extract=lines))
        graph = graph_file(tmp_path / "index").graph()
        assert (len(graph.names), len(graph.edges)) == (26, 25)

    def test_after_a_full_list_more_is_looked_for(self, folder: Path) -> None:
        full = {"entities": [f"Name {number} | place | " for number in range(30)], "relations": []}
        build_with_model(
            folder,
            chat := graph_model_with(extract=lambda slots: {**extract_from(slots["text"]), "entities": full["entities"]}),
            gleanings=1,
        )
        assert chat.asked("glean")

    @pytest.mark.parametrize("line", ["", "|||||||", "Vane | Vane | itself", "Vane | Oskel | near | 9", "V" * 300, "<script> | x"])
    def test_odd_lines_break_nothing(self, folder: Path, line: str) -> None:
        build_with_model(
            folder, graph_model_with(extract=lambda slots: {key: [*lines, line] for key, lines in extract_from(slots["text"]).items()})
        )
        assert set(graph_file(folder).graph().names) == NAMES

    def test_what_is_related_to_nothing_is_connected_by_the_sentences_that_have_both(self, folder: Path) -> None:
        build_with_model(folder, graph_model_with(extract=lambda slots: {**extract_from(slots["text"]), "relations": []}))
        edge = graph_file(folder).graph().edges["lapwing", "nell garvey"]
        assert (edge.times, edge.description.text) == (1, "The crew of the Lapwing were saved by Nell Garvey.")

    def test_undescribed_relations_get_a_sentence_with_both_names(self, folder: Path) -> None:
        made, _ = build_with_model(folder, graph_model_with(extract=lambda slots: cut(slots, 1, 2)))
        reports = graph_file(folder)
        assert (
            reports.graph().edges["ivor kells", "kells company"].description.text == "Ivor Kells was a miner who founded the Kells Company."
        )
        assert made.communities == len(reports.all_reports())

    def test_a_community_without_descriptions_has_a_report(self, tmp_path: Path) -> None:
        text = "They say that Vane is old. Nobody knows how old Drumlow is."
        Index.from_texts([text], WordEncoder(), ids=["note"], path=tmp_path / "index")
        made, _ = build_with_model(
            tmp_path / "index", graph_model_with(extract={"entities": ["Vane", "Drumlow"], "relations": ["Vane | Drumlow"]})
        )
        assert (made.names, made.communities, made.replaced) == (2, 1, 1)

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("김하늘은 부산에서 태어났다. 한빛전자는 김하늘이 세웠다.", ["김하늘", "부산", "한빛전자"]),
            ("山田太郎は大阪で生まれた。ミナト工業は山田太郎が設立した。", ["山田太郎", "大阪", "ミナト工業"]),
            ("王小明出生于武汉。江南公司由王小明创立。", ["王小明", "武汉", "江南公司"]),
            ("Он родился в Казани. Завод построен Орловым.", ["Казань", "Орлов"]),
        ],
    )
    def test_names_of_a_text_in_another_language_are_kept_and_connected(self, tmp_path: Path, text: str, names: list[str]) -> None:
        Index.from_texts([text], WordEncoder(), ids=["note"], path=tmp_path / "index")
        made_up = ["부산대학교", "山川", "上海", "Казанова", "Орловская"]
        build_with_model(
            tmp_path / "index", graph_model_with(extract={"entities": [*names, *made_up], "relations": [" | ".join(names[:2])]})
        )
        graph = graph_file(tmp_path / "index").graph()
        assert {name.name for name in graph.names.values()} == set(names)
        assert len(graph.edges) == 1

    def test_names_in_a_sentence_of_another_script_are_connected(self, tmp_path: Path) -> None:
        text = "王小明出生于武汉。江南公司很大。"
        Index.from_texts([text], WordEncoder(), ids=["note"], path=tmp_path / "index")
        names = ["王小明", "武汉", "江南公司"]
        build_with_model(tmp_path / "index", graph_model_with(extract={"entities": names, "relations": []}))
        assert list(graph_file(tmp_path / "index").graph().edges) == [("武汉", "王小明")]

    def test_after_a_full_list_of_relations_as_well(self, folder: Path) -> None:
        full = ["Vane | Oskel | near"] * 30
        build_with_model(
            folder, chat := graph_model_with(extract=lambda slots: {**extract_from(slots["text"]), "relations": full}), gleanings=1
        )
        assert chat.asked("glean")


class TestClaims:
    LINE = "Ivor Kells | Kells Company | founding | Ivor Kells founded a company. | 1871 | 1904 | {}"

    def test_are_collected_on_request(self, folder: Path) -> None:
        build_with_model(folder, chat := graph_model(), claims=True)
        claims = graph_file(folder).graph().claims
        assert {claim.subject for claim in claims} == NAMES
        assert (claims[0].kind, claims[0].start, claims[0].object) == ("being", "1852", "")
        assert any("Vane: Vane is told of. (being; 1852)" in slots["material"] for slots in chat.asked("report"))
        build_with_model(folder, chat := graph_model())
        assert (graph_file(folder).graph().claims, chat.asked("claims")) == ((), [])

    def test_keep_object_type_dates_and_the_words_of_their_passage(self, folder: Path) -> None:
        line = self.LINE.format('"ivor kells was a  miner who FOUNDED the Kells Company."')
        build_with_model(folder, chat := graph_model_with(claims={"claims": [line]}), claims=True)
        [claim] = graph_file(folder).graph().claims
        assert claim[:5] == ("ivor kells", "Kells Company", "founding", "Ivor Kells founded a company.", KELLS)
        assert claim.span == "Ivor Kells was a miner who founded the Kells Company"
        assert claim.span in VALLEY["Ivor Kells"]
        assert (claim.start, claim.end) == ("1871", "1904")
        shown = "Ivor Kells: Ivor Kells founded a company. (founding; concerns Kells Company; 1871 to 1904)"
        assert any(shown in slots["material"] for slots in chat.asked("report"))

    @pytest.mark.parametrize("words", ["", '""', "He founded the firm in 1871.", "Ivor Kells ... the Kells Company"])
    def test_without_words_that_a_passage_has_are_dropped(self, folder: Path, words: str) -> None:
        build_with_model(folder, graph_model_with(claims={"claims": [self.LINE.format(words)]}), claims=True)
        assert graph_file(folder).graph().claims == ()

    @pytest.mark.parametrize(
        ("start", "end", "dates"),
        [("1852", "", "1852"), ("1852", "1852", "1852"), ("", "1904", "until 1904"), ("NONE", "none", ""), ("", "", "")],
    )
    def test_dates_are_written_as_far_as_known(self, folder: Path, start: str, end: str, dates: str) -> None:
        line = f"Ivor Kells | NONE | work | He mined. | {start} | {end} | Ivor Kells was a miner"
        build_with_model(folder, graph_model_with(claims={"claims": [line]}), claims=True)
        [claim] = graph_file(folder).graph().claims
        assert (claim.dates, claim.text) == (dates, f"He mined. (work; {dates})" if dates else "He mined. (work)")

    def test_may_be_as_many_as_the_text_and_the_reply_have_room_for(self, folder: Path) -> None:
        build_with_model(folder, chat := graph_model(), claims=True, unit_tokens=1200, num_ctx=200_000)
        fields = [field for schema in chat.schemas for name, field in schema.model_json_schema()["properties"].items() if name == "claims"]
        assert {field["maxItems"] for field in fields} == {17}


class TestDescriptions:
    def test_long_descriptions_are_summed_up_in_one(self, tmp_path: Path) -> None:
        texts = [f"At mile {number} the river Oskel passes Vane, which is told of in chapter {number}." for number in range(24)]
        said = "It winds through the lower valley, mile {}, slow and cold, between alders and old mills."
        lines = [{"entities": [f"Oskel | place | {said.format(number)}", "Vane | place | "], "relations": []} for number in range(24)]
        Index.from_texts(texts, WordEncoder(), ids=[f"t{number}" for number in range(24)], path=tmp_path / "index")
        build_with_model(tmp_path / "index", chat := graph_model_with(extract=lambda slots: lines[texts.index(slots["text"])]))
        assert "Oskel" in [slots["name"] for slots in chat.asked("describe")]
        assert "Vane" not in [slots["name"] for slots in chat.asked("describe")]
        assert graph_file(tmp_path / "index").graph().names["oskel"].description.text == "Oskel in one go."


class TestGleaning:
    def test_continues_while_new_names_are_found(self, folder: Path) -> None:
        first = graph_model_with(
            extract=lambda slots: {key: lines[:1] for key, lines in extract_from(slots["text"]).items()},
            glean=lambda slots: extract_from(slots["text"]),
        )
        build_with_model(folder, first, gleanings=1)
        assert set(graph_file(folder).graph().names) == NAMES
        assert len(first.asked("extract")) == len(first.asked("glean")) == len(VALLEY)
        assert all(slots["found"] for slots in first.asked("glean"))

    def test_ends_when_all_was_found(self, folder: Path) -> None:
        build_with_model(folder, chat := graph_model(), gleanings=3)
        assert len(chat.asked("glean")) == len(VALLEY)

    def test_ends_when_only_known_names_are_returned(self, folder: Path) -> None:
        build_with_model(folder, chat := graph_model_with(glean=lambda slots: extract_from(slots["text"])), gleanings=3)
        assert len(chat.asked("glean")) == len(VALLEY)

    def test_is_shown_the_names_that_were_found_without_their_descriptions(self, folder: Path) -> None:
        build_with_model(folder, chat := graph_model(), gleanings=1)
        [found] = [slots["found"] for slots in chat.asked("glean") if slots["title"] == "Ivor Kells"]
        assert {"Ivor Kells", "Kells Company", "Ivor Kells | Kells Company"} <= set(found)
        assert not any("goes with" in line or "signs of text" in line for line in found)

    def test_ends_after_so_many_rounds(self, folder: Path) -> None:
        build_with_model(
            folder,
            chat := graph_model_with(glean=lambda slots: {"entities": [f"Vane {len(slots['found'])} | place | "], "relations": []}),
            gleanings=2,
        )
        assert len(chat.asked("glean")) == 2 * len(VALLEY)


class TestFailures:
    def test_a_text_is_halved_twice_at_most_and_then_passed_over_until_the_next_run(self, folder: Path) -> None:
        chat = graph_model_with(extract=lambda slots: "no JSON" if slots["title"] == "Ivor Kells" else extract_from(slots["text"]))
        made, _ = build_with_model(folder, chat)
        asked = [slots["text"] for slots in chat.asked("extract") if slots["title"] == "Ivor Kells"]
        parts = list(dict.fromkeys(asked))
        assert len(asked) == 2 * len(parts) == 2 * (1 + 2 + 4), "each is asked for once more before it is halved"
        smallest = sorted(parts, key=len)[:4]
        assert sorted(" ".join(smallest).split()) == sorted(VALLEY["Ivor Kells"].split())
        assert list(made.unread) == [KELLS]
        assert "'extract' is malformed" in made.unread[KELLS]
        assert graph_file(folder).facts[f"unread {KELLS}"] == made.unread[KELLS]
        assert "thea kells" not in graph_file(folder).graph().names
        again, _ = build_with_model(folder, chat := graph_model())
        assert (again.unread, len(chat.asked("extract"))) == ({}, 1)
        assert "thea kells" in graph_file(folder).graph().names

    def test_halves_that_can_be_read_are(self, folder: Path) -> None:
        made, _ = build_with_model(
            folder, graph_model_with(extract=lambda slots: "{" if len(slots["text"]) > 120 else extract_from(slots["text"]))
        )
        assert made.unread == {}
        assert "thea kells" in graph_file(folder).graph().names

    def test_above_a_fifth_the_build_fails_in_one_line_and_replies_are_cached(self, folder: Path) -> None:
        bad = list(VALLEY)[:3]
        with pytest.raises(IndexingError, match=r"3 of 12 units could not be read: .*'extract' is malformed.* — .*unit_tokens") as caught:
            build_with_model(folder, graph_model_with(extract=lambda slots: "?" if slots["title"] in bad else extract_from(slots["text"])))
        assert "\n" not in str(caught.value)
        assert Index.open(folder, WordEncoder()).manifest.kind == "passages"
        build_with_model(folder, chat := graph_model())
        assert {slots["title"] for slots in chat.asked("extract")} == set(bad)

    def test_an_unreachable_model_is_reported_in_one_line(self, folder: Path) -> None:
        def gone(slots: Any) -> Any:
            raise ConnectionError("the plug was pulled")

        for prompt in ("extract", "report"):
            with pytest.raises(ModelError, match="cannot be reached"):
                build_with_model(folder, graph_model_with(**{prompt: gone}))

    def test_a_report_that_fails_is_quoted_marked_counted_and_tried_again(self, folder: Path) -> None:
        def some(slots: Any) -> Any:
            return "?" if any("Lapwing" in line for line in slots["material"]) else replies("report", slots)

        made, _ = build_with_model(folder, graph_model_with(report=some))
        by = [report.made_by for report in graph_file(folder).all_reports().values()]
        assert 0 < made.replaced == by.count("extractive") < made.communities
        assert graph_file(folder).facts["replaced"] == str(made.replaced)
        again, _ = build_with_model(folder, chat := graph_model())
        assert (again.replaced, chat.asked("extract")) == (0, [])
        assert {report.made_by for report in graph_file(folder).all_reports().values()} == {"FakeModel"}

"""A graph built with a language model: what it says lands in the graph, and what it does not say well is halved, quoted or told."""

from pathlib import Path
from typing import Any

import pytest

from ramify.tools.errors import IndexingError, ModelError
from ramify.tools.index import Index
from tests.tools.fakes import WordEncoder
from tests.tools.knowledge.scribe import KINDS, NAMES, Lines, built, but, found_in, replies, scribe
from tests.tools.knowledge.valley import VALLEY, reports_of

KELLS = "ivor-kells.md#ivor-kells"


def cut(slots: Any, names: int, relations: int) -> Lines:
    """Give the first parts of each line alone."""
    lines = found_in(slots["text"])
    return {
        key: [" | ".join(line.split(" | ")[:parts]) for line in lines[key]] for key, parts in zip(lines, (names, relations), strict=True)
    }


class TestElements:
    def test_names_kinds_and_relations_land_in_the_graph(self, folder: Path) -> None:
        built(folder)
        reports = reports_of(folder)
        graph = reports.graph()
        assert {one.name: one.kind for one in graph.names.values()} == KINDS
        assert graph.names["nell garvey"].passages == ("harrow-point.md#harrow-point", "skerry-light.md#skerry-light")
        assert graph.edges["jonas merrin", "orla finch"].description.text == "Jonas Merrin goes with Orla Finch."
        assert "Thea Kells is in" in graph.names["thea kells"].description.text
        assert (reports.facts["made_by"], reports.facts["reported_by"]) == ("FakeModel", "FakeModel")

    def test_names_that_are_not_in_the_text_are_dropped(self, folder: Path) -> None:
        made_up = {"entities": ["Atlantis | place | Sunk.", "X | | "], "relations": ["Vane | Atlantis | near | 3"]}
        built(folder, but(extract=lambda slots: {key: [*lines, *made_up[key]] for key, lines in found_in(slots["text"]).items()}))
        assert set(reports_of(folder).graph().names) == NAMES

    @pytest.mark.parametrize(("unit_tokens", "lines"), [(100, 10), (600, 10), (1200, 20), (100_000, 34)])
    def test_a_list_may_be_as_long_as_its_text_and_the_reply_have_room_for(self, folder: Path, unit_tokens: int, lines: int) -> None:
        built(folder, chat := scribe(), unit_tokens=unit_tokens, num_ctx=200_000)
        [schema] = [schema for schema in chat.schemas if "relations" in schema.model_json_schema()["properties"]]
        assert {field["maxItems"] for field in schema.model_json_schema()["properties"].values()} == {lines}

    def test_after_a_full_list_more_is_looked_for(self, folder: Path) -> None:
        full = {"entities": [f"Name {number} | place | " for number in range(10)], "relations": []}
        built(folder, chat := but(extract=lambda slots: {**found_in(slots["text"]), "entities": full["entities"]}), gleanings=1)
        assert chat.asked("glean")

    @pytest.mark.parametrize("line", ["", "|||||||", "Vane | Vane | itself | 9", "Vane | Oskel | near | many", "V" * 300, "<script> | x"])
    def test_odd_lines_break_nothing(self, folder: Path, line: str) -> None:
        built(folder, but(extract=lambda slots: {key: [*lines, line] for key, lines in found_in(slots["text"]).items()}))
        assert set(reports_of(folder).graph().names) == NAMES

    def test_what_is_related_to_nothing_is_connected_by_the_sentences_that_have_both(self, folder: Path) -> None:
        built(folder, but(extract=lambda slots: {**found_in(slots["text"]), "relations": []}))
        edge = reports_of(folder).graph().edges["lapwing", "nell garvey"]
        assert (edge.times, edge.description.text) == (1, "The crew of the Lapwing were saved by Nell Garvey.")

    def test_what_is_not_described_is_told_by_a_sentence_that_has_both(self, folder: Path) -> None:
        made, _ = built(folder, but(extract=lambda slots: cut(slots, 1, 2)))
        reports = reports_of(folder)
        assert (
            reports.graph().edges["ivor kells", "kells company"].description.text == "Ivor Kells was a miner who founded the Kells Company."
        )
        assert made.communities == len(reports.all_reports())

    def test_a_community_of_which_nothing_is_said_has_a_report_all_the_same(self, tmp_path: Path) -> None:
        text = "They say that Vane is old. Nobody knows how old Drumlow is."
        Index.from_texts([text], WordEncoder(), ids=["note"], path=tmp_path / "index")
        made, _ = built(tmp_path / "index", but(extract={"entities": ["Vane", "Drumlow"], "relations": ["Vane | Drumlow"]}))
        assert (made.names, made.communities, made.replaced) == (2, 1, 1)

    def test_after_a_full_list_of_relations_as_well(self, folder: Path) -> None:
        full = ["Vane | Oskel | near | 3"] * 10
        built(folder, chat := but(extract=lambda slots: {**found_in(slots["text"]), "relations": full}), gleanings=1)
        assert chat.asked("glean")


class TestClaims:
    LINE = "Ivor Kells | Kells Company | founding | Ivor Kells founded a company. | 1871 | 1904 | {}"

    def test_are_collected_where_they_are_wanted(self, folder: Path) -> None:
        built(folder, chat := scribe(), claims=True)
        claims = reports_of(folder).graph().claims
        assert {claim.subject for claim in claims} == NAMES
        assert (claims[0].kind, claims[0].start, claims[0].object) == ("being", "1852", "")
        assert any("Vane: Vane is told of. (being; 1852)" in slots["material"] for slots in chat.asked("report"))
        built(folder, chat := scribe())
        assert (reports_of(folder).graph().claims, chat.asked("claims")) == ((), [])

    def test_keep_object_type_dates_and_the_words_of_their_passage(self, folder: Path) -> None:
        line = self.LINE.format('"ivor kells was a  miner who FOUNDED the Kells Company."')
        built(folder, chat := but(claims={"claims": [line]}), claims=True)
        [claim] = reports_of(folder).graph().claims
        assert claim[:5] == ("ivor kells", "Kells Company", "founding", "Ivor Kells founded a company.", KELLS)
        assert claim.span == "Ivor Kells was a miner who founded the Kells Company"
        assert claim.span in VALLEY["Ivor Kells"]
        assert (claim.start, claim.end) == ("1871", "1904")
        shown = "Ivor Kells: Ivor Kells founded a company. (founding; concerns Kells Company; 1871 to 1904)"
        assert any(shown in slots["material"] for slots in chat.asked("report"))

    @pytest.mark.parametrize("words", ["", '""', "He founded the firm in 1871.", "Ivor Kells ... the Kells Company"])
    def test_without_words_that_a_passage_has_are_dropped(self, folder: Path, words: str) -> None:
        built(folder, but(claims={"claims": [self.LINE.format(words)]}), claims=True)
        assert reports_of(folder).graph().claims == ()

    @pytest.mark.parametrize(
        ("start", "end", "dates"),
        [("1852", "", "1852"), ("1852", "1852", "1852"), ("", "1904", "until 1904"), ("NONE", "none", ""), ("", "", "")],
    )
    def test_say_when_as_far_as_it_is_told(self, folder: Path, start: str, end: str, dates: str) -> None:
        line = f"Ivor Kells | NONE | work | He mined. | {start} | {end} | Ivor Kells was a miner"
        built(folder, but(claims={"claims": [line]}), claims=True)
        [claim] = reports_of(folder).graph().claims
        assert (claim.dates, claim.text) == (dates, f"He mined. (work; {dates})" if dates else "He mined. (work)")

    def test_may_be_as_many_as_the_text_and_the_reply_have_room_for(self, folder: Path) -> None:
        built(folder, chat := scribe(), claims=True, unit_tokens=1200, num_ctx=200_000)
        fields = [field for schema in chat.schemas for name, field in schema.model_json_schema()["properties"].items() if name == "claims"]
        assert {field["maxItems"] for field in fields} == {17}


class TestDescriptions:
    def test_long_descriptions_are_summed_up_in_one(self, tmp_path: Path) -> None:
        texts = [f"At mile {number} the river Oskel passes Vane, which is told of in chapter {number}." for number in range(24)]
        said = "It winds through the lower valley, mile {}, slow and cold, between alders and old mills."
        lines = [{"entities": [f"Oskel | place | {said.format(number)}", "Vane | place | "], "relations": []} for number in range(24)]
        Index.from_texts(texts, WordEncoder(), ids=[f"t{number}" for number in range(24)], path=tmp_path / "index")
        built(tmp_path / "index", chat := but(extract=lambda slots: lines[texts.index(slots["text"])]))
        assert "Oskel" in [slots["name"] for slots in chat.asked("describe")]
        assert "Vane" not in [slots["name"] for slots in chat.asked("describe")]
        assert reports_of(tmp_path / "index").graph().names["oskel"].description.text == "Oskel in one go."


class TestGleaning:
    def test_goes_on_where_some_were_missed(self, folder: Path) -> None:
        first = but(
            extract=lambda slots: {key: lines[:1] for key, lines in found_in(slots["text"]).items()},
            glean=lambda slots: found_in(slots["text"]),
        )
        built(folder, first, gleanings=1)
        assert set(reports_of(folder).graph().names) == NAMES
        assert len(first.asked("extract")) == len(first.asked("glean")) == len(VALLEY)
        assert all(slots["found"] for slots in first.asked("glean"))

    def test_ends_where_all_was_found(self, folder: Path) -> None:
        built(folder, chat := scribe(), gleanings=3)
        assert len(chat.asked("glean")) == len(VALLEY)

    def test_ends_where_only_what_was_found_is_named_again(self, folder: Path) -> None:
        built(folder, chat := but(glean=lambda slots: found_in(slots["text"])), gleanings=3)
        assert len(chat.asked("glean")) == len(VALLEY)

    def test_ends_after_so_many_rounds(self, folder: Path) -> None:
        built(
            folder, chat := but(glean=lambda slots: {"entities": [f"Vane | place | {len(slots['found'])}"], "relations": []}), gleanings=2
        )
        assert len(chat.asked("glean")) == 2 * len(VALLEY)


class TestFailures:
    def test_a_text_is_halved_twice_at_most_and_then_passed_over_until_the_next_run(self, folder: Path) -> None:
        chat = but(extract=lambda slots: "no JSON" if slots["title"] == "Ivor Kells" else found_in(slots["text"]))
        made, _ = built(folder, chat)
        asked = [slots["text"] for slots in chat.asked("extract") if slots["title"] == "Ivor Kells"]
        parts = list(dict.fromkeys(asked))
        assert len(asked) == 2 * len(parts) == 2 * (1 + 2 + 4), "each is asked for once more before it is halved"
        smallest = sorted(parts, key=len)[:4]
        assert sorted(" ".join(smallest).split()) == sorted(VALLEY["Ivor Kells"].split())
        assert list(made.unread) == [KELLS]
        assert "'extract' is malformed" in made.unread[KELLS]
        assert reports_of(folder).facts[f"unread {KELLS}"] == made.unread[KELLS]
        assert "thea kells" not in reports_of(folder).graph().names
        again, _ = built(folder, chat := scribe())
        assert (again.unread, len(chat.asked("extract"))) == ({}, 1)
        assert "thea kells" in reports_of(folder).graph().names

    def test_halves_that_can_be_read_are(self, folder: Path) -> None:
        made, _ = built(folder, but(extract=lambda slots: "{" if len(slots["text"]) > 120 else found_in(slots["text"])))
        assert made.unread == {}
        assert "thea kells" in reports_of(folder).graph().names

    def test_above_a_fifth_the_build_fails_in_one_line_and_what_was_read_is_kept(self, folder: Path) -> None:
        bad = list(VALLEY)[:3]
        with pytest.raises(IndexingError, match=r"3 of 12 units could not be read: .*'extract' is malformed.* — .*unit_tokens") as caught:
            built(folder, but(extract=lambda slots: "?" if slots["title"] in bad else found_in(slots["text"])))
        assert "\n" not in str(caught.value)
        assert Index.open(folder, WordEncoder()).manifest.kind == "passages"
        built(folder, chat := scribe())
        assert {slots["title"] for slots in chat.asked("extract")} == set(bad)

    def test_a_model_that_is_gone_is_told_in_one_line(self, folder: Path) -> None:
        def gone(slots: Any) -> Any:
            raise ConnectionError("the plug was pulled")

        for prompt in ("extract", "report"):
            with pytest.raises(ModelError, match="cannot be reached"):
                built(folder, but(**{prompt: gone}))

    def test_a_report_that_fails_is_quoted_marked_counted_and_tried_again(self, folder: Path) -> None:
        def some(slots: Any) -> Any:
            return "?" if any("Lapwing" in line for line in slots["material"]) else replies("report", slots)

        made, _ = built(folder, but(report=some))
        by = [report.made_by for report in reports_of(folder).all_reports().values()]
        assert 0 < made.replaced == by.count("extractive") < made.communities
        assert reports_of(folder).facts["replaced"] == str(made.replaced)
        again, _ = built(folder, chat := scribe())
        assert (again.replaced, chat.asked("extract")) == (0, [])
        assert {report.made_by for report in reports_of(folder).all_reports().values()} == {"FakeModel"}

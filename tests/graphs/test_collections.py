"""Several indexes in one question: which are searched, how what they find is joined, and what a passage says of where it is from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.vectorstores import InMemoryVectorStore

import ramify.graphs as graphs
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index import Index
from ramify.tools.search.collection_set import CollectionSet
from ramify.tools.search.searcher import find_passages, unknown_filter_fields
from tests.embeddings import WordEmbeddings
from tests.river import QUESTION, TEXTS, model, river

ENGINES = {
    "oil.md": "# Engine oil\n\nThe oil of the diesel engine is changed every 250 hours of operation.",
    "belt.md": "# Drive belt\n\nThe drive belt of the compressor is tightened until it yields by ten millimetres.",
    "shared.md": "# Greetings\n\nA note that lies in both folders, word for word: keep the workshop and the kitchen clean.",
}
BREAD = {
    "rye.md": "# Rye bread\n\nThe sourdough of rye bread rests for sixteen hours before it is baked.",
    "rolls.md": "# Rolls\n\nRolls are brushed with milk and baked for twelve minutes at 220 degrees.",
    "shared.md": "# Greetings\n\nA note that lies in both folders, word for word: keep the workshop and the kitchen clean.",
}
OIL = "How often is the oil of the diesel engine changed?"
DOUGH = "How long does the sourdough of rye bread rest?"
NOTE = "What does the note in both folders say about the workshop and the kitchen?"


def write(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The indexes `engines` and `bread`."""
    above = tmp_path_factory.mktemp("collections")
    Index.build(write(above / "manuals", ENGINES), above / "engines", description="Maintenance of diesel engines and compressors")
    Index.build(write(above / "recipes", BREAD), above / "bread", description="Recipes: baking bread and rolls at home")
    return [str(above / "engines"), str(above / "bread")]


def asked(index: Any, question: str = QUESTION, **options: Any) -> graphs.Result:
    return graphs.ask(question, "naive", model=model(), index=index, **options)


async def test_a_question_goes_where_the_description_fits_and_to_all_where_none_stands_out(places: list[str]) -> None:
    oil, dough, note = await find_passages(places, [OIL, DOUGH, NOTE], k=6)
    assert {hit.collection for hit in oil} == {"engines"}
    assert {hit.collection for hit in dough} == {"bread"}
    assert {hit.collection for hit in note} == {"engines", "bread"}


async def test_a_text_that_two_collections_hold_is_one_passage_and_says_where_else_it_lies(places: list[str]) -> None:
    [hits] = await find_passages(places, [NOTE], k=6)
    assert sorted(hit.metadata["title"] for hit in hits) == sorted(["Greetings", "Engine oil", "Drive belt", "Rye bread", "Rolls"])
    first = hits[0]
    assert first.metadata["title"] == "Greetings"
    assert first.value == max(hit.value for hit in hits) > 1.9 / 61
    assert [other["collection"] for other in first.metadata["also"]] == [{"bread": "engines", "engines": "bread"}[first.collection]]
    assert [next(iter(other)) for other in first.metadata["also"]] == ["source"], "as in the metadata of a file"
    citation = next(one for one in asked(places, NOTE).citations if one.title == "Greetings")
    assert citation.also[0].where.startswith(f"{citation.also[0].collection}: ")


def test_passages_and_citations_name_their_collection(places: list[str]) -> None:
    result = asked(places, OIL)
    assert result.index.startswith("2 collections: ")
    assert all(place in result.index for place in places)
    assert result.passages
    for passage in result.passages.values():
        assert passage.collection == "engines"
        assert passage.id.startswith("engines:")
    for citation in result.to_json()["citations"]:
        assert (citation["collection"], citation["id"].partition(":")[0]) == ("engines", "engines")
    assert result.citations[0].file.startswith("engines: ")


def test_no_further_model_call_is_made(places: list[str]) -> None:
    for strategy in ("naive", "prune", "tor", "iterative", "chain", "ircot", "self-ask", "react"):
        one = graphs.ask(QUESTION, strategy, model=model(), index=river())
        several = graphs.ask(QUESTION, strategy, model=model(), index=[river(), *places])
        assert several.usage.llm_calls == one.usage.llm_calls
        assert several.usage.retrievals == one.usage.retrievals


def test_a_list_of_one_is_that_index(places: list[str]) -> None:
    alone, listed = asked(places[0], OIL), asked(places[:1], OIL)
    assert listed.passages == alone.passages
    assert listed.citations == alone.citations
    assert (listed.index, listed.citations[0].collection) == (alone.index, "")


async def test_indexes_of_different_embeddings_stores_and_retrievers_are_searched_together(places: list[str]) -> None:
    words = Index.from_texts(["The oil filter hangs beside the engine."], WordEmbeddings(), [{"source": "w.txt"}])
    kinds = [*places, words, river(), river().as_retriever()]
    [hits] = await find_passages(kinds, [OIL], k=20)
    also = {other["collection"] for hit in hits for other in hit.metadata.get("also", ())}
    assert {"engines", "InMemoryVectorStore"} <= {hit.collection for hit in hits}
    assert "VectorStoreRetriever" in also
    assert len({hit.id for hit in hits}) == len(hits)
    assert sum(hit.text in TEXTS for hit in hits) == len(TEXTS)  # once, though the store and its retriever hold them


def test_names_tell_collections_apart() -> None:
    assert CollectionSet.from_members(["/a/manuals/index", "/b/letters/index", "milvus:http://localhost:19530/papers"]).names == (
        "manuals/index", "letters/index", "papers",
    )  # fmt: skip
    assert CollectionSet.from_members([river(), river(), "demo"]).names == ("InMemoryVectorStore 1", "InMemoryVectorStore 2", "demo")


async def test_a_filter_holds_in_each_and_only_a_field_that_none_has_is_reported(places: list[str], tmp_path: Path) -> None:
    Index.from_texts(["The oil is black."], WordEmbeddings(), [{"source": "a.txt", "year": 1}], path=tmp_path / "years")
    several: list[Any] = [places[0], Index.open(tmp_path / "years", WordEmbeddings())]
    [hits] = await find_passages(several, [OIL], k=5, filter={"title": "Engine oil"})
    assert [hit.metadata["title"] for hit in hits] == ["Engine oil"]
    assert unknown_filter_fields(several, {"year": 1}) is None
    assert "'colour'" in str(unknown_filter_fields(several, {"year": 1, "colour": "red"}))


def test_one_that_cannot_be_opened_is_an_error_whatever_is_asked(places: list[str], tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    with pytest.raises(IndexingError, match="missing"):
        asked([*places, missing], OIL)
    with pytest.raises(IndexingError, match="missing"):
        graphs.research_tool(index=[*places, missing])


@pytest.mark.parametrize("index", [[], [None]])
def test_what_is_no_list_of_indexes_is_refused(index: Any) -> None:
    with pytest.raises(UsageError, match="index"):
        graphs.ask(QUESTION, "naive", model=model(), index=index)


def test_an_index_given_twice_is_refused(places: list[str]) -> None:
    with pytest.raises(UsageError, match=f"{places[1]}.*twice"):
        asked([*places, Path(places[1]).as_posix() + "/"])


def test_reports_are_of_one_index(places: list[str]) -> None:
    with pytest.raises(UsageError, match="engines, bread"):
        graphs.ask("What are the main themes?", "global", model=model(), index=places)


def test_tools_search_several_and_say_what_they_hold(places: list[str]) -> None:
    research, search = graphs.research_tool("naive", model=model(), index=places), graphs.search_tool(places)
    for tool in (research, search):
        assert (
            "engines (Maintenance of diesel engines and compressors), bread (Recipes: baking bread and rolls at home)" in tool.description
        )
    found = search.invoke({"type": "tool_call", "id": "1", "name": search.name, "args": {"query": DOUGH}})
    assert {passage["collection"] for passage in found.artifact} == {"bread"}
    assert "] bread: " in found.content


def test_a_description_stays_until_another_is_given(places: list[str], tmp_path: Path) -> None:
    documents, out = write(tmp_path / "documents", BREAD), tmp_path / "out"
    for given, held in ((None, ""), ("About\n bread", "About bread"), (None, "About bread"), ("", "")):
        Index.build(documents, out, description=given)
        assert Index.open(out).manifest.description == held
        (documents / "rye.md").write_text(f"# Rye bread\n\nIt is baked for {len(held)} minutes.", encoding="utf-8")


def test_an_object_can_be_one_of_several() -> None:
    library = InMemoryVectorStore.from_texts(["Nothing of note."], WordEmbeddings())
    result = asked([river(), library])
    assert {passage.collection for passage in result.passages.values()} == {"InMemoryVectorStore 1", "InMemoryVectorStore 2"}

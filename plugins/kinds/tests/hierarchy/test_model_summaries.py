"""Summaries by a language model: checked against the passages, requested again, and replaced by quotations."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from plugins.kinds.tests.hierarchy.manual import dump, read_content
from ramify.kinds.building import build_hierarchy
from ramify.kinds.hierarchy.build import HierarchyBuild
from ramify.kinds.hierarchy.summaries import find_unsupported
from ramify.nodes.state import Usage
from ramify.tools.errors import ModelError, UsageError
from tests.fakes import FakeModel
from tests.tools.fakes import WordEncoder
from tests.tools.index.manual import build_index, records

INVENTED = "It was built by Karl Ritter in 1877."


def sentences(material: list[str]) -> list[str]:
    """Return the first sentences of the passages."""
    return [text.split(". ")[0].rstrip(".") + "." for text in material[:3]]


def model(say: Callable[[str, list[str]], list[str]]) -> FakeModel:
    def reply(prompt: str, slots: Mapping[str, Any]) -> Any:
        return {"sentences": say(prompt, list(slots["material"]))}

    return FakeModel(replies=reply)


def summed_up(folder: Path, fake: FakeModel, **options: Any) -> tuple[HierarchyBuild, Usage]:
    return build_hierarchy(folder, {"model": fake, "shots": 0, **options}, ["chapter"], embedding=WordEncoder())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return build_index(tmp_path / "index", records(5))


def made_by(folder: Path) -> set[str]:
    return {node.summary.made_by for tree in read_content(folder).trees.values() for node in tree}


def test_supported_sentences_are_kept_with_their_passages(folder: Path) -> None:
    done, usage = summed_up(folder, fake := model(lambda prompt, material: sentences(material)))
    assert (done.nodes, done.replaced, usage.llm_calls) == (4, 0, 4)
    assert made_by(folder) == {read_content(folder).facts["made_by"]} != {"extractive"}
    assert [prompt for prompt, _ in fake.calls] == ["summarize_cluster"] * 4
    for tree in read_content(folder).trees.values():
        assert all(sentence.leaf in tree[-1].leaves for sentence in tree[-1].summary.sentences)


def test_unsupported_sentences_are_reported_and_requested_again(folder: Path) -> None:
    def say(prompt: str, material: list[str]) -> list[str]:
        return sentences(material) if prompt == "support" else [*sentences(material)[:1], INVENTED]

    done, usage = summed_up(folder, fake := model(say))
    assert (done.replaced, usage.llm_calls) == (0, 8)
    assert [slots["unsupported"] for slots in fake.asked("support")] == [[INVENTED]] * 4


def test_what_is_made_up_again_is_quoted_instead_and_counted(folder: Path) -> None:
    done, _ = summed_up(folder, model(lambda prompt, material: [INVENTED]))
    assert (done.replaced, made_by(folder)) == (4, {"extractive"})


def test_a_model_that_repeats_itself_is_quoted_instead(folder: Path) -> None:
    done, _ = summed_up(folder, model(lambda prompt, material: [" ".join(sentences(material)[:1] * 3), *sentences(material)[:1] * 2]))
    assert (done.replaced, made_by(folder)) == (4, {"extractive"})


def test_a_sentence_that_is_made_up_is_left_out_of_a_summary_that_holds(folder: Path) -> None:
    summed_up(folder, model(lambda prompt, material: [*sentences(material), INVENTED]))
    summaries = [tree[-1].summary for tree in read_content(folder).trees.values()]
    assert all(INVENTED not in summary.text and summary.support == 0.75 for summary in summaries)
    assert made_by(folder) != {"extractive"}


def test_a_second_build_asks_nothing(folder: Path) -> None:
    summed_up(folder, model(lambda prompt, material: sentences(material)))
    before = dump(folder)
    _, usage = summed_up(folder, fake := model(lambda prompt, material: sentences(material)))
    assert (usage.llm_calls, fake.calls, dump(folder)) == (0, [], before)


def test_a_budget_ends_it_with_a_usable_hierarchy_that_is_resumed(folder: Path) -> None:
    done, usage = summed_up(folder, model(lambda prompt, material: sentences(material)), max_calls=2)
    assert (done.replaced, usage.llm_calls) == (2, 2)
    done, usage = summed_up(folder, model(lambda prompt, material: sentences(material)))
    assert (done.replaced, usage.llm_calls) == (0, 2)


def test_names_and_numbers_must_occur_in_the_passages() -> None:
    texts = ["The warp of the loom is checked by Ada Lantz every 50 hours."]
    said = [
        "The warp of the loom is checked by Ada Lantz.",
        "The warp of the loom is checked by Karl Ritter.",
        "The warp of the loom is checked every 500 hours.",
        "Ships sail at dawn.",
    ]
    assert find_unsupported(said, texts, WordEncoder()) == said[1:]


def test_a_model_that_is_not_for_nli_is_rejected_before_the_first_call(folder: Path, tmp_path: Path) -> None:
    fake = model(lambda prompt, material: sentences(material))
    with pytest.raises(ModelError, match="the NLI model"):
        summed_up(folder, fake, nli=str(tmp_path / "nowhere"))
    assert fake.calls == []


@pytest.mark.parametrize("options", [{"soft_k": 0}, {"reduction": "tsne"}, {"colour": "red"}])
def test_unknown_settings_are_rejected(folder: Path, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="a hierarchy's are soft_k, escape, novelty"):
        summed_up(folder, model(lambda prompt, material: []), **options)

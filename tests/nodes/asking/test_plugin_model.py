"""A model that another package offers: found by its name, asked by every step; and what is said where the embedded one is not installed."""

import pytest

import ramify.graphs as graphs
from ramify.nodes.asking import ask
from ramify.nodes.asking.ask import answerer_class, current_model
from ramify.nodes.asking.language_model import LanguageModel
from ramify.nodes.settings import Settings
from ramify.tools import plugins
from ramify.tools.errors import ModelError
from tests.installing import Installer

ENTRIES = """[ramify.models]
parrot = parrot_model:Parrot
"""
CODE = """
from ramify.nodes.asking.answerer import Answerer, Reply


class Parrot(Answerer):
    def __init__(self, settings, notice=""):
        self.name = settings.model

    def count(self, text):
        return len(text.split())

    async def answer(self, prompt, slots, passages=None, field="answer", on_text=None):
        fields = {"answer": slots["question"], "confidence": 0.5}
        return Reply(prompt.reply.model_validate(fields), 0.5, "stated", passages or ())
"""


def test_a_package_adds_a_model(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    Installer(tmp_path_factory.mktemp("installed"), monkeypatch)("parrot_model", ENTRIES, CODE)
    answerer_class.cache_clear()
    result = graphs.ask("Who is there?", "closed-book", model="parrot:loud", style="short")
    answerer_class.cache_clear()
    assert (result.answer, result.model, result.confidence) == ("Who is there?", "parrot:loud", 0.5)


@pytest.mark.parametrize("name", ["extractive", "extractive:large", " extractive "])
def test_without_the_embedded_model_its_name_is_one_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "answerer_class", lambda name: LanguageModel)
    with pytest.raises(ModelError, match=r"'extractive' is not installed — name a language model.*reinstall ramify-rag"):
        current_model(Settings(model=name))


def test_without_the_embedded_model_auto_says_why_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "answerer_class", lambda name: LanguageModel)
    monkeypatch.setattr(ask, "find_best", lambda options: f"no server answers: {ask.FALLBACK_NOTICE} — for a language model, start one")
    with pytest.raises(ModelError, match="no server answers, and the model 'extractive' is not installed — for a language model, start"):
        current_model(Settings())


def test_the_names_of_plug_ins_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answerer_class.cache_clear()
    asked: list[str] = []
    monkeypatch.setattr(plugins, "names", lambda group: asked.append(group) or [])
    assert [answerer_class("ollama:x") for _ in range(3)] == [LanguageModel] * 3
    assert asked == ["ramify.models"]
    answerer_class.cache_clear()

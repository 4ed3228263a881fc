"""Passages are shown to the model completely, and no score counts text that was not shown."""

import os
from pathlib import Path
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.lab.dataset import HitsBy, Question, Support
from ramify.lab.load import load_dataset
from ramify.lab.task import score_result
from ramify.nodes.asking.language_model import to_quote
from ramify.nodes.settings import Settings
from ramify.nodes.tree import Passage
from ramify.tools.documents.load import load_files as read
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.pretrained import MINILM
from ramify.tools.index.chunking import split_documents
from ramify.tools.models.tokens import estimate_tokens
from tests.fakes import FakeModel, library
from tests.graphs.wirings import Wiring, cases
from tests.river import model

DATA = os.environ.get("RAMIFY_DATA")
SET = Path(DATA or ".") / "multihop_rag"
SENTENCE = "The municipal administration commissioned comprehensive hydrological investigations throughout the surrounding countryside. "
"""Of long words: by its bytes it counts far more tokens than it has."""
FACT = "The river Seine runs through the city of Paris."
TEXT = SENTENCE * 21 + FACT
ASKED = "Which river runs through Paris?"


def naive(**settings: Any) -> tuple[FakeModel, graphs.Result]:
    chat = model()
    return chat, graphs.ask(ASKED, "naive", model=chat, index=library(TEXT), **settings)


def score(result: graphs.Result, hits_by: HitsBy) -> dict[str, Any]:
    document = next(iter(result.passages))
    gold = Question(id="1", question=ASKED, answer="Thames", supporting=(Support(doc_id=document, facts=(FACT,)),))
    return score_result(gold, result, hits_by)


def test_a_passage_of_three_hundred_tokens_is_shown_to_its_end() -> None:
    assert 270 < load_encoder(MINILM).count_tokens(TEXT) <= 300 < estimate_tokens(TEXT)
    chat, result = naive()
    assert chat.asked("answer")[0]["passages"][0]["text"] == TEXT
    assert score(result, "fact")["gold_retrieved"]
    assert score(result, "document")["gold_retrieved"]


@pytest.mark.parametrize("hits_by", ["fact", "document"])
def test_truncated_text_does_not_count_as_forgotten(hits_by: HitsBy) -> None:
    chat, result = naive(passage_tokens=100)
    assert FACT not in chat.asked("answer")[0]["passages"][0]["text"]
    scores = score(result, hits_by)
    assert not scores["gold_retrieved"]
    assert scores["retrieval"]["recall@5"] == 0


@pytest.mark.parametrize("wiring", cases(*graphs.STRATEGIES))
def test_every_wiring_records_what_the_model_was_shown(wiring: Wiring) -> None:
    chat, (strategy, arguments) = model(), wiring
    texts = ("France has the capital Paris.", "The river Seine runs through Paris.", "Berlin is in Germany.")
    result = graphs.ask("Which river runs through the capital of France?", strategy, model=chat, index=library(*texts), **arguments)
    said = {quoted["text"] for _, slots in chat.calls for quoted in slots.get("passages", [])}
    assert {result.passages[key].text[:length] for key, length in result.shown.items()} == said


def test_what_did_not_fit_was_not_shown() -> None:
    _, result = naive(context_tokens=300, k=2)
    assert result.shown.keys() == result.passages.keys()
    other = graphs.ask(ASKED, "naive", model=model(), index=library(TEXT, SENTENCE * 18), context_tokens=300, k=2)
    assert len(other.passages) == 2
    assert len(other.shown) == 1


@pytest.mark.skipif(not SET.exists(), reason="RAMIFY_DATA names no folder with multihop_rag in it")
def test_no_gold_sentence_of_a_passage_is_truncated(tmp_path: Path) -> None:
    """Of real articles, split as an index splits them; by a careful estimate a sixth was lost."""
    articles = load_dataset(SET, tmp_path)
    facts = {fact for question in articles.questions for fact in question.gold_facts}
    passages = [passage for group in split_documents(list(read(*articles.documents)), load_encoder(MINILM)) for passage in group]
    whole = "\n".join(passage.page_content for passage in passages)
    shown = "\n".join(to_quote(Passage(id="p", text=p.page_content, source="s", score=0), Settings())["text"] for p in passages)
    whole_facts = {fact for fact in facts if fact in whole}
    assert len(whole_facts) > 300
    assert {fact for fact in whole_facts if fact not in shown} == set()

"""Which questions the embedded model takes for English, told by small words, and which of them no phrase answers."""

import gzip
import json
import os
from pathlib import Path

import pytest

from ramify.embedded.extractive.questions import open_question_kind, unreadable_reason
from ramify.tools.demo import demo_corpus
from ramify.tools.languages import is_english_question

DATA = Path(os.environ.get("RAMIFY_DATA") or "nowhere")
OTHERS = (
    "Wo wurde der Erfinder des Kugelschreibers geboren?",
    "Was ist die Hauptstadt von Frankreich?",
    "In welcher Stadt starb Goethe?",
    "Où est né l'inventeur du stylo à bille ?",
    "Quelle est la capitale de la Belgique ?",
    "¿Dónde nació el inventor del bolígrafo?",
    "Cual es la capital de Francia",
    "Dove è nato l'inventore della penna a sfera?",
    "Onde nasceu o inventor do bolígrafo?",
    "Waar werd de uitvinder van de balpen geboren?",
    "Var föddes uppfinnaren av kulspetspennan?",
    "Gdzie urodził się wynalazca długopisu?",
    "Was kostet das Paket?",
    "was kostet das paket",
    "Wer war der erste Kanzler?",
    "Gibt es eine Garantie?",
    "Combien coûte le colis ?",
    "Comment s'appelle le fleuve ?",
    "Est-ce que le musée est ouvert ?",
    "¿Cuánto cuesta el paquete?",
    "Por qué el cielo es azul",
    "Quanto costa il pacco?",
    "Quanto custa o pacote?",
    "Hoeveel kost het pakket?",
    "Vad kostar paketet?",
    "Hvem skrev Peer Gynt?",
    "Ile kosztuje paczka?",
    "Kolik stojí balík?",
    "Paket ne kadar?",
    "Paljonko paketti maksaa?",
    "Mennyibe kerül a csomag?",
    "Cât costă pachetul?",
    "Berapa harga paket ini?",
    "볼펜을 발명한 사람은 누구입니까?",
    "Кто изобрёл шариковую ручку?",
)
ENGLISH = (
    "Where was the inventor of the ballpoint pen born?",
    "Who directed Der Himmel über Berlin?",
    "Is Dos Passos buried in Las Palmas?",
    "When was La vie en rose sung for the first time?",
    "Les Misérables",
    "László Bíró",
    "capital France population",
    "When?",
    "42",
    "git rebase -i?",
    "docker run as root?",
    "max depth?",
    "hay fever?",
    "Victorian era?",
    "war casualties",
    "die casting",
    "crème brûlée recipe",
    "What is a café?",
    "Das Boot",
    "La vie en rose",
    "Ludwig van Beethoven?",
    "Was Tesla born in Smiljan?",
    "When was Der Blaue Engel released?",
    "no such file or directory",
)


@pytest.mark.parametrize("question", OTHERS)
def test_a_question_in_another_language_is_recognised_and_quoted(question: str) -> None:
    reason = unreadable_reason(question)
    assert reason is not None
    assert reason.startswith(repr(question))
    assert "English only" in reason


def test_a_question_in_capitals_is_read_like_any_other() -> None:
    assert unreadable_reason("WAS KOSTET DAS PAKET?")
    assert not unreadable_reason("WHO DIRECTED DAS BOOT?")


@pytest.mark.parametrize("question", ENGLISH)
def test_an_english_question_is_not_objected_to(question: str) -> None:
    assert unreadable_reason(question) is None


def test_no_question_of_the_demo_is_objected_to() -> None:
    lines = (demo_corpus().parent / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    assert [asked for asked in (json.loads(line)["question"] for line in lines) if not is_english_question(asked)] == []


@pytest.mark.skipif(not DATA.is_dir(), reason="RAMIFY_DATA names no folder of data sets")
def test_no_question_of_the_data_sets_is_objected_to() -> None:
    for path in sorted(DATA.glob("*/questions.jsonl.gz")):
        if path.parent.name.startswith("korquad"):  # Korean, on purpose
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            assert [asked for asked in (json.loads(line)["question"] for line in lines) if not is_english_question(asked)] == [], (
                path.parent.name
            )


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How do I undo the last commit?", "how to"),
        ("how to create an index without locking writes", "how to"),
        ("What is the best way to copy a table?", "how to"),
        ("And how can one stop it?", "how to"),
        ("List all isolation levels", "list"),
        ("Name every member of the board.", "list"),
        ("Which isolation levels are there?", "list"),
        ("What are the available index types?", "list"),
        ("How does strength training help?", "explain"),
        ("Why was the bridge closed?", "explain"),
        ("What is the difference between a lease and a licence?", "explain"),
        ("Which of the two rivers is longer, the Rhine or the Vistula?", ""),
        ("How long is the Vistula?", ""),
        ("How many people can it carry?", ""),
        ("How many colours are there?", ""),
        ("Name the wife of the director of Solaris.", ""),
        ("What are the entities that offer bonuses?", "list"),
        ("Which city is the capital?", ""),
    ],
)
def test_kinds_of_questions_are_distinguished(question: str, kind: str) -> None:
    assert open_question_kind(question) == kind

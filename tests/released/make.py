"""Write what a released version leaves on a disk: run it once, in an environment with that version, and commit the archive.

    pip install 'ramify-rag[eval,serve]==0.1.0'
    python tests/released/make.py /srv/ramify tests/released/0.1.0.tar.gz

The folder is a new one, whose path is in the data. `test_released.py` opens each archive beside this file with the version at hand; none is
ever made anew for a later version.
"""

import asyncio
import io
import json
import os
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

DOCUMENTS: Final = {
    "arda.md": "---\nchapter: companies\n---\n# Arda\n\nArda is a company. Arda was founded by Ida Berka in Brno in 1921.\n",
    "berka.md": "---\nchapter: people\n---\n# Ida Berka\n\nIda Berka was an engineer who was born in Telč on 3 May 1890.\n",
}
INSTRUCTIONS: Final = (
    ("Who founded Arda?", "Ida Berka"),
    ("Where was Ida Berka born?", "Telč"),
    ("In which city was the founder of Arda born?", "Telč"),
)
QUESTION: Final = INSTRUCTIONS[2][0]


def call(*arguments: str, typed: str = "") -> None:
    """Run a command line; raise SystemExit where it fails."""
    from ramify.studio.cli import run

    sys.stdin = io.StringIO(typed)
    if code := run(list(arguments)):
        raise SystemExit(f"ramify {' '.join(arguments)}: {code}")


async def leave_question(proposal: Any) -> Any:
    """Leave a question in the middle, as a person does who closes the terminal."""
    raise asyncio.CancelledError


async def talk() -> None:
    """Ask and rate one question as `ramify serve` keeps it, and leave another in the middle."""
    from ramify.graphs import Conversation
    from ramify.graphs.ratings import CONVERSATIONS, rate

    memory = f"sqlite:serve/{CONVERSATIONS}"
    answered = await Conversation(memory, "ada/berka").ask_async(INSTRUCTIONS[1][0], "naive", model="extractive", index="passages")
    if not await rate(memory, "ada/berka", INSTRUCTIONS[1][0], answered.answer or "", "up"):
        raise SystemExit("the answer cannot be rated")
    left = Conversation("sqlite:checkpoints.sqlite", "left")
    try:
        await left.ask_async(QUESTION, "tor", model="extractive", index="passages", ask_first="splits", reviewer=leave_question)
    except asyncio.CancelledError:
        return
    raise SystemExit("the question was not left in the middle")


def main(folder: Path) -> None:
    """Write everything into a new folder."""
    folder.mkdir(parents=True)
    os.chdir(folder)
    Path("documents").mkdir()
    for name, text in DOCUMENTS.items():
        Path("documents", name).write_text(text, encoding="utf-8")
    rows = [{"id": f"q{number}", "question": asked, "answer": gold} for number, (asked, gold) in enumerate(INSTRUCTIONS)]
    Path("questions.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    call("index", "documents", "--out", "passages")
    call("index", "documents", "--out", "graph", "--kind", "graph")
    call("index", "documents", "--out", "hierarchy", "--kind", "hierarchy", "--group-by", "chapter")
    asked = ("--strategy", "naive", "--model", "extractive")
    chat = ("chat", "--index", "passages", *asked, "--memory", "sqlite:conversations.sqlite", "--thread", "berka")
    call(*chat, typed=f"{INSTRUCTIONS[1][0]}\n")
    Path("serve").mkdir()
    asyncio.run(talk())
    run = ("eval", "--index", "passages", "--questions", "questions.jsonl", "--strategy", "naive,prune", "--model", "extractive")
    call(*run, "--out", "run")
    call("calibrate", "run", "--strategy", "naive", "--risk", "0.9", "--out", "profile.json")
    for spare in (*Path("run").glob("*.html"), *Path("run").glob("*.md"), *Path().glob("profile.[hms]*")):
        spare.unlink()
    Path("version.txt").write_text(version("ramify-rag") + "\n", encoding="utf-8")


if __name__ == "__main__":
    archive = Path(sys.argv[2]).resolve()
    main(Path(sys.argv[1]))
    with tarfile.open(archive, "w:gz") as held:
        held.add(".")
    print(f"{archive.name}: {archive.stat().st_size // 1024} KB")

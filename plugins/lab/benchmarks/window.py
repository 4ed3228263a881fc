"""Count the passages that fit into a window on Ollama, before and after its server has reported how many tokens a prompt has.

    python plugins/lab/benchmarks/window.py [--letters 4.3] [--passage-tokens 300] [--num-ctx 8192]

A loopback server speaks Ollama's protocol and counts so many characters a token, about as LLaMA 3's tokenizer does with English. The
passages are 20 pieces of the demo corpus. Printed are the passages that each of three calls shows, and what share of the room beside the
reply they fill.
"""

import argparse
import asyncio
import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from ramify.nodes.asking.ask import ask
from ramify.nodes.asking.budget import Budget, call_context
from ramify.nodes.settings import Settings
from ramify.nodes.state import Usage
from ramify.nodes.tree import Passage
from ramify.prompts.answer import ANSWER
from ramify.tools.demo import demo_corpus
from ramify.tools.models.tokens import passage_length, truncate_to_tokens
from tests.tools.ollama_replies import Request
from tests.tools.ollama_server import serving


def passages(tokens: int) -> tuple[Passage, ...]:
    """Cut twenty passages out of the demo corpus."""
    rest = " ".join(json.loads(line)["text"] for line in demo_corpus().read_text(encoding="utf-8").splitlines())
    cut = []
    for number in range(20):
        part = truncate_to_tokens(rest, tokens, passage_length)
        rest = rest[len(part) :]
        cut.append(Passage(id=f"p{number}", text=part, source="demo", score=1 - number / 100))
    return tuple(cut)


async def measure(letters: float, tokens: int, num_ctx: int) -> None:
    """Ask three times, and print what each call showed."""

    def counted(request: Request) -> int:
        return sum(math.ceil(len(message["content"]) / letters) + 5 for message in request["messages"])

    shown = passages(tokens)
    with serving() as server:
        server.reports = lambda request: min(counted(request), num_ctx)
        settings = Settings(
            model="ollama:llama3.1:8b", base_url=server.address, num_ctx=num_ctx, context_tokens=100_000, passage_tokens=tokens
        )
        for number in range(1, 4):
            with call_context(settings, Budget.open(settings, Usage(), time.time(), reserves_final_call=False)):
                reply = await ask(ANSWER, shown, question="Who discovered polonium?")
            filled = counted(server.requests[-1]) / (num_ctx - settings.num_predict)
            print(f"call {number}: {len(reply.passages)} of {len(shown)} passages, {filled:.0%} of the room")


def main() -> None:
    """Read the options and measure with nothing learned before."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--letters", type=float, default=4.3)
    parser.add_argument("--passage-tokens", type=int, default=300)
    parser.add_argument("--num-ctx", type=int, default=8192)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["RAMIFY_CACHE"] = cache
        asyncio.run(measure(given.letters, given.passage_tokens, given.num_ctx))


if __name__ == "__main__":
    main()

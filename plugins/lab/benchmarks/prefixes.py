"""Measure how much of a run's prompts begins as an earlier one did: what a server with a prefix cache need not read again.

    python plugins/lab/benchmarks/prefixes.py [--strategies prune,tor,chain,iterative] [--limit 6]

The embedded model answers the demo's development questions, so that trees are what they are; its prompts are written out as a language
model would be sent them. Tokens are counted as words and signs. Printed are, for each strategy and each prompt in it: how many, and how
long; the share of it that is the same each time (task, rules, form, examples); what is known from the same question, and from the run.
"""

import argparse
import asyncio
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[3]))

from langchain_core.messages import BaseMessage

from ramify.embedded.answerer import Extractive
from ramify.graphs.run import ask_async
from ramify.lab.load import load_dataset
from ramify.nodes.asking.budget import CALL_CONTEXT
from ramify.nodes.asking.language_model import limit_passages, to_quote

TOKEN = re.compile(r"\w{1,6}|[^\w\s]")


class Sent(NamedTuple):
    """A prompt as it was sent."""

    question: int
    kind: str
    text: str
    fixed: str
    """What stands before the last message: the task, its rules, the form of the reply and the worked examples."""


def message_text(messages: Sequence[BaseMessage]) -> str:
    """Write messages out as a chat template does."""
    return "".join(f"<|{message.type}|>\n{message.text}\n" for message in messages)


def record_prompts(heard: list[Sent], at: list[int]) -> None:
    """Note every prompt from now on."""
    answer = Extractive.answer

    async def noted(self: Extractive, prompt: Any, slots: Any, passages: Any = None, *asked: Any) -> Any:
        settings = CALL_CONTEXT.get().settings
        shown = {} if passages is None else {"passages": [to_quote(passage, settings) for passage in limit_passages(passages, settings)]}
        messages = prompt.with_options(settings.thought, settings.shots).render({**slots, **shown})
        heard.append(Sent(at[0], prompt.name, message_text(messages), message_text(messages[:-1])))
        return await answer(self, prompt, slots, passages, *asked)

    Extractive.answer = noted  # type: ignore[method-assign]


def tokens(text: str) -> int:
    return len(TOKEN.findall(text))


def common_length(one: str, other: str) -> int:
    """Return the length of what two texts have in common at their beginning."""
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def cached_tokens(heard: Sequence[Sent], of_question: bool) -> dict[str, tuple[int, int]]:
    """Count, for each kind of prompt, the tokens that an earlier prompt began with, and all."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for number, sent in enumerate(heard):
        earlier = [previous.text for previous in heard[:number] if not of_question or previous.question == sent.question]
        shared = max((common_length(text, sent.text) for text in earlier), default=0)
        counts[sent.kind][0] += tokens(sent.text[:shared])
        counts[sent.kind][1] += tokens(sent.text)
    return {kind: (shared, total) for kind, (shared, total) in counts.items()}


def share(counts: dict[str, tuple[int, int]]) -> float:
    return sum(shared for shared, _ in counts.values()) / max(1, sum(total for _, total in counts.values()))


async def ask(strategy: str, questions: Sequence[str], at: list[int]) -> None:
    for number, question in enumerate(questions):
        at[0] = number
        await ask_async(question, strategy, model="extractive")


def main() -> None:
    """Print the shares of each strategy, and of each prompt in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strategies", default="prune,tor,chain,iterative")
    parser.add_argument("--limit", type=int, default=6)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        questions = [question.question for question in load_dataset("demo:development", Path(work)).questions[: arguments.limit]]
    heard: list[Sent] = []
    at = [0]
    record_prompts(heard, at)
    for strategy in arguments.strategies.split(","):
        heard.clear()
        asyncio.run(ask(strategy, questions, at))
        own, run = cached_tokens(heard, of_question=True), cached_tokens(heard, of_question=False)
        total = sum(total for _, total in run.values())
        fixed = sum(tokens(sent.fixed) for sent in heard)
        print(
            f"{strategy}: {len(heard)} prompts of {total / len(heard):.0f} tokens; fixed {fixed / total:.1%}; "
            f"known already {share(own):.1%} within a question, {share(run):.1%} within the run"
        )
        for kind, (shared, whole) in run.items():
            sent = [prompt for prompt in heard if prompt.kind == kind]
            fixed = sum(tokens(prompt.fixed) for prompt in sent)
            print(
                f"  {kind}: {len(sent)} of {whole / len(sent):.0f}; {fixed / whole:.1%}; {own[kind][0] / whole:.1%}, {shared / whole:.1%}"
            )


if __name__ == "__main__":
    main()

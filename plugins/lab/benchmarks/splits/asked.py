"""A language model as a splitter, asked by the toolkit's own prompt."""

import asyncio
import time

from langchain_core.language_models import BaseChatModel

from plugins.lab.benchmarks.splits.flatten import HOLE, Halves
from ramify.nodes.asking.ask import ask
from ramify.nodes.asking.budget import Budget, call_context
from ramify.nodes.settings import TreeSettings
from ramify.nodes.state import Usage
from ramify.nodes.tree.answers import normalize_references, reference_numbers
from ramify.prompts import DECOMPOSE
from ramify.tools.errors import ReplyError


def prompted_splitter(name: str | BaseChatModel, base_url: str | None = None) -> Halves:
    """Split with a language model, asked by the toolkit's own prompt; a reply that cannot be used leaves the question whole."""
    settings = TreeSettings(model=name, base_url=base_url)
    runner = asyncio.Runner()  # one for all calls: a client belongs to its event loop

    async def asked(question: str) -> tuple[str, str] | None:
        with call_context(settings, Budget.open(settings, Usage(), time.time(), reserves_final_call=False)):
            try:
                reply = await ask(DECOMPOSE, question=question, dependent=True, rejected=[], kept="")
            except ReplyError:
                return None
        first, second = (normalize_references(" ".join(text.split()), (question,)) for text in (reply.value.first, reply.value.second))
        usable = first and second and not reference_numbers(first) and reference_numbers(second) <= {int(HOLE[1])}
        return (first, second) if usable and not reply.value.simple else None

    return lambda question: runner.run(asked(question))

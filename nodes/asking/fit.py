"""Make a prompt fit the model's context: worked examples go first, then the least relevant passage, the question never."""

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from ramify.nodes.asking.answerer import Answerer
from ramify.nodes.settings import Settings
from ramify.nodes.tree import Passage
from ramify.prompts.prompt import Prompt, Quote
from ramify.tools.errors import ReplyError
from ramify.tools.models.tokens import cut, passage_length

Count = Callable[[str], int]

MARGIN = 64
"""Tokens left free for what a chat template adds around the messages."""


@dataclass(frozen=True)
class Request:
    """Messages that fit, their tokens and the reply's, the passages they show and how many characters of each."""

    messages: list[BaseMessage]
    tokens: int
    longest: int
    shown: tuple[Passage, ...] = ()
    lengths: Mapping[str, int] = field(default_factory=dict)


def fit(
    prompt: Prompt[Any],
    passages: tuple[Passage, ...] | None,
    slots: dict[str, Any],
    settings: Settings,
    model: Answerer,
    left: float = float("inf"),
    last: bool = False,
) -> Request:
    """Render a prompt with as many of its passages as fit into the window beside the reply, the `last` one into what is `left` of a budget.

    Worked examples go before any passage does. Blocking, since counting may ask the server. ReplyError where it does not fit into the
    window even without passages.
    """
    window = room_for(settings, model)
    affordable = min(window, left - settings.num_predict - model.thought_tokens)
    room = affordable if last else window
    shown = None if passages is None else within(passages, settings)
    quotes = {passage.id: quote(passage, settings) for passage in shown or ()}

    def with_passages(kept: tuple[Passage, ...]) -> Request:
        quoted = {} if shown is None else {"passages": [quotes[passage.id] for passage in kept]}
        messages = prompt.render({**slots, **quoted})
        return Request(messages, size(messages, model.count), 0, kept, {passage.id: len(quotes[passage.id]["text"]) for passage in kept})

    request = with_passages(shown or ())
    if prompt.shots and request.tokens > affordable:
        prompt = replace(prompt, shots=0)
        request = with_passages(shown or ())
    if request.tokens > room:
        request = with_passages(most_within(shown or (), room, lambda kept: with_passages(kept).tokens))
    if request.tokens > window:
        what = f"the prompt of {request.tokens} tokens does not fit into num_ctx {_window(settings, model) + MARGIN} beside the reply"
        raise ReplyError(what, "shorten the question, raise num_ctx, or lower num_predict")
    return replace(request, longest=longest(request.tokens, settings, model, left))


def most_within(passages: tuple[Passage, ...], room: float, tokens: Callable[[tuple[Passage, ...]], int]) -> tuple[Passage, ...]:
    """Return as many of the most relevant passages as come to at most `room` tokens, in their order; fewer than all."""
    least_first = sorted(passages, key=lambda passage: passage.score)

    def best(number: int) -> tuple[Passage, ...]:
        dropped = {passage.id for passage in least_first[: len(least_first) - number]}
        return tuple(passage for passage in passages if passage.id not in dropped)

    # By halves and not one by one, because a server may be asked for each count.
    fitting = bisect_right(range(len(passages)), room, key=lambda number: tokens(best(number)))
    return best(max(0, fitting - 1))


def once_more(request: Request, said: str, error: str, settings: Settings, model: Answerer) -> Request:
    """Show the model its malformed reply and what is wrong with it, without examples or without that where there is no room."""
    complaint = HumanMessage(
        f"Your reply was:\n{cut(said, 200, model.count)}\nIt is not valid: {error}\nReply again with the JSON object alone."
    )
    asked, *_, last = request.messages
    bare = [asked, last]  # without the worked examples
    for messages in ([*request.messages, complaint], [*bare, complaint], bare):
        tokens = size(messages, model.count)
        if tokens <= room_for(settings, model):
            break
    return replace(request, messages=messages, tokens=tokens, longest=longest(tokens, settings, model))


def room_for(settings: Settings, model: Answerer) -> int:
    """Tell how many tokens a prompt may have beside the reply and a thought before it."""
    return _window(settings, model) - settings.num_predict - model.thought_tokens


def longest(tokens: int, settings: Settings, model: Answerer, left: float = float("inf")) -> int:
    """Tell how many tokens the reply to a prompt of so many may take: with a thought, as far as the window and the budget have room."""
    room = min(_window(settings, model), left) - tokens
    return int(max(settings.num_predict, min(settings.num_predict + model.thought_tokens, room)))


def _window(settings: Settings, model: Answerer) -> int:
    return min(settings.num_ctx, model.num_ctx or settings.num_ctx) - MARGIN


def within(passages: tuple[Passage, ...], settings: Settings) -> tuple[Passage, ...]:
    """Keep the first passages that come to at most `context_tokens`, the first always."""
    kept: list[Passage] = []
    total = 0
    for passage in passages:
        total += min(passage_length(passage.text), settings.passage_tokens)
        if kept and total > settings.context_tokens:
            break
        kept.append(passage)
    return tuple(kept)


def quote(passage: Passage, settings: Settings) -> Quote:
    """Show a passage as a prompt does, cut to `passage_tokens`."""
    return Quote(title=passage.title, source=passage.place, text=cut(passage.text, settings.passage_tokens, passage_length))


def size(messages: list[BaseMessage], count: Count) -> int:
    """Count the tokens of messages."""
    return sum(count(str(message.content)) for message in messages)

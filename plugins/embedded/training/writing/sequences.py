"""Examples as the writer learns them: what is written, token by token, and every token that would be right."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from plugins.embedded.training.writing.written import Written
from ramify.embedded.splitting.writing import BEGIN, BETWEEN, END, SourceText, Vocabulary, Word, split_words, tokenize_source

COMMON = 400
"""Words of the vocabulary."""
LONGEST = 64


@dataclass(frozen=True)
class Sequenced:
    """A source, what is put in token by token, and which tokens are right behind each."""

    written: Written
    text: SourceText
    tokens: list[int]
    right: list[list[int]]


def common_words(examples: Iterable[Written]) -> Vocabulary:
    """Make the vocabulary: the words most often written that are not there to be copied, about more things than one or two."""
    about: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for example in examples:
        source = {word.key for word in split_words(f"{example.history}\n{example.question}")}
        for word in {word.key for step in example.steps for word in split_words(step)} - source - {"{1}"}:
            about[word][example.group] += 1
    counts = Counter({word: groups.total() for word, groups in about.items() if len(groups) > 2})
    return Vocabulary(tuple(word for word, _ in counts.most_common(COMMON)))


def sequenced(example: Written, known: Vocabulary) -> Sequenced | None:
    """Bring an example to tokens; nothing where a word can neither be copied nor written."""
    text = tokenize_source(example.question, example.history)
    numbers = known.numbers
    right: list[list[int]] = [[known.kinds[example.how]]]
    for number, step in enumerate(example.steps):
        right += [[numbers[BETWEEN]]] if number else []
        right += [_sayings(word.text, text.words, known) for word in split_words(step)]
    right.append([numbers[END]])
    if not all(right) or len(right) > LONGEST or not text.words:
        return None
    tokens = [numbers[BEGIN]]
    for choices in right[:-1]:
        tokens.append(_aligned(choices, tokens[-1], len(known), text))
    return Sequenced(example, text, tokens, right)


def _sayings(word: str, source: Sequence[Word], known: Vocabulary) -> list[int]:
    """Return all tokens that write a word: those of the source's equal words, and the vocabulary's."""
    key = word.casefold()
    copies = [len(known) + number for number, place in enumerate(source) if place.key == key]
    return [*copies, known.numbers[key]] if key in known.numbers else copies


def _aligned(choices: Sequence[int], before: int, known: int, text: SourceText) -> int:
    """Choose among the tokens for a word: the neighbour of what was copied last, else a word of the question, else any."""
    if before >= known and before + 1 in choices:
        return before + 1
    return max(choices, key=lambda token: (token >= known, token >= known and text.parts[token - known], -token))


@dataclass(frozen=True)
class Batch:
    """Examples side by side: states (texts, words, width), parts, there (texts, words); tokens, told (texts, steps); right (…, tokens)."""

    states: Tensor
    parts: Tensor
    mask: Tensor
    tokens: Tensor
    right: Tensor
    told: Tensor


def batch(items: Sequence[Sequenced], states: Sequence[Tensor], known: int) -> Batch:
    """Bring examples to tensors."""
    longest, steps = max(len(item.text.words) for item in items), max(len(item.tokens) for item in items)
    shape = (len(items), longest)
    given = torch.zeros(*shape, states[0].shape[-1])
    parts, there = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.bool)
    tokens = torch.zeros(len(items), steps, dtype=torch.long)
    right, mask = torch.zeros(len(items), steps, known + longest, dtype=torch.bool), torch.zeros(len(items), steps, dtype=torch.bool)
    for row, (item, state) in enumerate(zip(items, states, strict=True)):
        count = len(item.text.words)
        given[row, :count], parts[row, :count], there[row, :count] = state.float(), torch.tensor(item.text.parts), True
        tokens[row, : len(item.tokens)] = torch.tensor(item.tokens)
        mask[row, : len(item.right)] = True
        for step, choices in enumerate(item.right):
            right[row, step, choices] = True
    return Batch(given, parts, there, tokens, right, mask)

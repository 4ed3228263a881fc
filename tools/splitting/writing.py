"""Write with the trained writer: the likeliest kinds of reply, and the words of each, one after another."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ramify.tools.splitting.source import Text, cut, encode
from ramify.tools.splitting.vocabulary import BEGIN, BETWEEN, END, HOLE, KINDS, REWRITE, Vocabulary, written

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BertModel

    from ramify.tools.splitting.network import Kept, Source, Writer


@dataclass(frozen=True)
class Reply:
    """What was written: its kind, how likely that is, its questions, and the mean log probability of their words."""

    kind: str
    sure: float
    questions: tuple[str, ...]
    fluency: float = 0.0


@dataclass
class _Line:
    """A reply as it is being written."""

    kind: str
    tokens: list[int]
    total: float = 0.0
    parts: int = 1
    holes: int = 0
    done: bool = False


class Pen:
    """A trained writer with its vocabulary and the encoder it reads by."""

    def __init__(self, writer: "Writer", vocabulary: Vocabulary, encoder: "BertModel", longest: int = 64) -> None:
        self.writer, self.vocabulary, self.encoder, self.longest = writer, vocabulary, encoder, longest

    def splits(self, question: str, least: float = 0.03, most: int = 3) -> tuple[Reply, ...]:
        """Give the likeliest ways to split a question, that it is single among them, the likeliest first."""
        text = cut(question)
        if not any(text.parts):
            return (Reply("single", 1.0, ()),)
        return self._replies(text, [kind for kind in KINDS if kind != REWRITE], least, most)

    def rewrite(self, question: str, before: str) -> Reply:
        """Write a question such that it stands without what was said before it."""
        return self._replies(cut(question, before), [REWRITE], 0.0, 1)[0]

    def _replies(self, text: Text, kinds: Sequence[str], least: float, most: int) -> tuple[Reply, ...]:
        import torch

        from ramify.tools.splitting.network import READ_LAYERS

        with torch.inference_mode():
            states = encode([text], self.encoder, READ_LAYERS)[0][None]
            source = self.writer.source(states, torch.tensor([text.parts]), torch.ones(1, len(text.words), dtype=torch.bool))
            read = self.writer.kept(source)
            begin = torch.tensor([[self.vocabulary.numbers[BEGIN]]])
            scores, before = self.writer(begin, source, read)
            likely = scores[0, -1, [self.vocabulary.kind(kind) for kind in kinds]].softmax(-1).tolist()
            ranked = sorted(zip(kinds, likely, strict=True), key=lambda item: -item[1])
            chosen = [(kind, sure) for kind, sure in ranked if sure >= least][:most] or ranked[:1]
            lines = [_Line(kind, [self.vocabulary.kind(kind)], done=kind == "single") for kind, _ in chosen]
            self._write(lines, source, read, before, text)
        return tuple(self._reply(line, sure, text) for line, (_, sure) in zip(lines, chosen, strict=True))

    def _write(self, lines: list[_Line], source: "Source", read: "Kept", before: "Kept", text: Text) -> None:
        """Write all lines word by word."""
        import torch

        from ramify.tools.splitting.network import Source

        count = len(lines)
        spread = Source(source.states.expand(count, -1, -1), source.there.expand(count, -1))
        read = [(key.expand(count, -1, -1, -1), value.expand(count, -1, -1, -1)) for key, value in read]
        before = [(key.expand(count, -1, -1, -1), value.expand(count, -1, -1, -1)) for key, value in before]
        for _ in range(self.longest):
            if all(line.done for line in lines):
                return
            tokens = torch.tensor([[line.tokens[-1]] for line in lines])
            scores, before = self.writer(tokens, spread, read, before)
            for row, line in enumerate(lines):
                if not line.done:
                    self._go_on(line, scores[row, -1], text)

    def _go_on(self, line: _Line, scores: "Tensor", text: Text) -> None:
        """Write the likeliest next word."""
        allowed = scores.log_softmax(-1).clone()
        allowed[self._forbidden(line)] = -math.inf
        best = int(allowed.argmax())
        line.total += float(allowed[best])
        line.tokens.append(best)
        token = self.vocabulary.tokens[best] if best < len(self.vocabulary) else ""
        line.done = token == END
        line.parts += token == BETWEEN
        line.holes += token == HOLE

    def _forbidden(self, line: _Line) -> list[int]:
        """Name what cannot come next: a second part needs a first, a bridge one hole in its second part, nothing else any."""
        numbers = self.vocabulary.numbers
        begun = line.tokens[-1] not in (numbers[BETWEEN], line.tokens[0])
        second = line.parts == 2 or line.kind == REWRITE
        finished = begun and second and (line.kind != "bridge" or line.holes == 1)
        hole = line.kind == "bridge" and line.parts == 2 and line.holes == 0
        barred = [self.vocabulary.kind(kind) for kind in KINDS] + [numbers[BEGIN]] + _repeated(line.tokens, numbers[BETWEEN])
        barred += [] if finished else [numbers[END]]
        barred += [] if hole else [numbers[HOLE]]
        return barred + ([] if begun and not second else [numbers[BETWEEN]])

    def _reply(self, line: _Line, sure: float, text: Text) -> Reply:
        if not line.done or line.kind == "single":  # what has no end is no question: it is as if the kind had not been likely
            return Reply(line.kind, sure if line.kind == "single" else 0.0, ())
        parts: list[list[tuple[str, int]]] = [[]]
        for token in line.tokens[1:-1]:
            if token == self.vocabulary.numbers[BETWEEN]:
                parts.append([])
            else:
                copied = token - len(self.vocabulary)
                parts[-1].append((text.words[copied].text, copied) if copied >= 0 else (self.vocabulary.tokens[token], -1))
        questions = tuple(written(part, text.text, text.words) for part in parts)
        return Reply(line.kind, sure, questions, line.total / max(1, len(line.tokens) - 1))


def _repeated(tokens: Sequence[int], between: int) -> list[int]:
    """Name what would write three words of a question once more: an unsure writer runs in circles."""
    own = tokens[max((place for place, token in enumerate(tokens) if token == between), default=0) + 1 :]
    last = own[-2:]
    return [own[place + 2] for place in range(len(own) - 2) if len(last) == 2 and own[place : place + 2] == last]

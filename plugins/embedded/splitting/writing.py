"""Split questions and rewrite follow-ups with the trained writer; results are cached."""

import json
import math
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Final, cast, get_args

from ramify.embedded.arithmetic import Combination
from ramify.embedded.encoders.packaged import shared_layers
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM, load_tokenizer
from ramify.tools.english import fold
from ramify.tools.released_weights import dequantize, verify_weights

if TYPE_CHECKING:
    from torch import Tensor

    from ramify.embedded.splitting.network import EncodedSource, KeyValues, Writer
    from ramify.tools.embeddings.bert import Bert

ANSWER_SLOT: Final = "{1}"
"""The placeholder for the first question's answer in the second."""
_WORD = re.compile(r"\{1\}|['’]s\b|\d+(?:[.,]\d+)+|[^\W_]+(?:(?:[-._/]|['’](?!s\b))[^\W_]+)*|[^\w\s]|_", re.UNICODE)
"""A genitive is a separate word, so that "the count" can be copied from "the count's mother"."""
_CLOSING = frozenset("?,.;:!)]}%'’s")
_OPENING = frozenset("([{$#@")
_GENITIVE = ("'s", "’s")
REWRITE: Final = "rewrite"
REPLY_KINDS: Final[tuple[str, ...]] = (*(how for how in get_args(Combination) if how != "each"), REWRITE)
"""The kinds of replies, the first token of each: how the question is split, or that it is rewritten. The writer does not know `each`."""
BEGIN, BETWEEN, END = "<begin>", "<between>", "<end>"


@dataclass(frozen=True)
class Word:
    """A word of a text with its character span."""

    text: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """Return the word in lower case, for comparison."""
        return self.text.casefold()


def split_words(text: str) -> list[Word]:
    """Split a text into words and punctuation."""
    return [Word(match[0], *match.span()) for match in _WORD.finditer(text)]


def join_words(pieces: Sequence[tuple[str, int]], source: str, places: Sequence[Word]) -> str:
    """Join words, each with its index among the source's words or -1, into a sentence.

    Adjacent words of the source keep the text between them; the first letter is capitalised.
    """
    text, before = "", -1
    for word, number in pieces:
        space = " "
        if before >= 0 and number == before + 1:
            between = source[places[before].end : places[number].start]
            space = " " if "\n" in between else between
        elif not text or word in _GENITIVE or (len(word) == 1 and word in _CLOSING - {"s"}) or text[-1] in _OPENING:
            space = ""
        text, before = text + space + word, number
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Vocabulary:
    """The tokens: kinds, marks and common words; higher numbers are words of the source."""

    words: tuple[str, ...]

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Return the token of each number."""
        return (*(f"<{kind}>" for kind in REPLY_KINDS), BEGIN, BETWEEN, END, ANSWER_SLOT, *self.words)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Return the number of each token."""
        return {token: number for number, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def kinds(self) -> dict[str, int]:
        """Return the number of each kind."""
        return {kind: self.numbers[f"<{kind}>"] for kind in REPLY_KINDS}


MAX_HISTORY_PIECES = 110
"""Most word pieces of the history; earlier ones are dropped."""
MAX_QUESTION_PIECES = 120
"""Most word pieces of a question; earlier ones are dropped, since the question itself comes last."""


@dataclass(frozen=True)
class SourceText:
    """The source of a reply: history and question as one text, its words, and its word pieces."""

    text: str
    words: list[Word]
    parts: list[int]
    """0 for a word of the history, 1 for one of the question."""
    ids: list[int]
    word_of: list[int]
    """The index of each piece's word; -1 for special tokens."""


def tokenize_source(question: str, before: str = "") -> SourceText:
    """Split a question and its history into words and word pieces."""
    text = f"{before}\n{question}" if before else question
    start = len(text) - len(question)
    tokenizer = load_tokenizer(PACKAGED_MINILM, truncate=False)
    encoding = tokenizer.encode(text, add_special_tokens=False)
    pieces = [(piece, begin) for piece, (begin, end) in zip(encoding.ids, encoding.offsets, strict=True) if end > begin]
    earlier = [item for item in pieces if item[1] < start][-MAX_HISTORY_PIECES:]
    asked = [item for item in pieces if item[1] >= start][-MAX_QUESTION_PIECES:]
    first = min((begin for _, begin in (*earlier, *asked)), default=0)
    there = [word for word in split_words(text) if word.start >= first]
    at = {place: number for number, word in enumerate(there) for place in range(word.start, word.end)}
    begin, end = (tokenizer.token_to_id(mark) or 0 for mark in ("[CLS]", "[SEP]"))
    marked = [(begin, -1), *earlier, *([(end, -1)] if earlier else []), *asked, (end, -1)]
    return SourceText(
        text,
        there,
        [int(word.start >= start) for word in there],
        [piece for piece, _ in marked],
        [at.get(place, -1) for _, place in marked],
    )


def encode_words(texts: Sequence[SourceText], encoder: "Bert", layers: Sequence[int]) -> "list[Tensor]":
    """Return the states of each text's words, (words, layers x width): the mean over a word's pieces, layers concatenated."""
    import torch

    from ramify.tools.embeddings.bert import pad_batch

    ids, mask = pad_batch([text.ids for text in texts])
    layered = encoder(ids.to(encoder.device), mask.to(encoder.device))
    states = torch.cat([layered[layer] for layer in layers], dim=-1).float().cpu()
    by_word = []
    for text, pieces in zip(texts, states, strict=True):
        owner = torch.tensor(text.word_of)
        inside = owner >= 0
        total = torch.zeros(len(text.words), pieces.shape[-1]).index_add_(0, owner[inside], pieces[: len(owner)][inside])
        count = torch.zeros(len(text.words)).index_add_(0, owner[inside], torch.ones(int(inside.sum())))
        by_word.append(total / count.clamp_min(1)[:, None])
    return by_word


@dataclass(frozen=True)
class WriterReply:
    """A generated reply: its kind with its probability, the questions, and the mean log probability of their words."""

    kind: str
    probability: float
    questions: tuple[str, ...]
    fluency: float = 0.0


@dataclass
class _PartialReply:
    """A reply that is being generated."""

    kind: str
    tokens: list[int]
    total: float = 0.0
    parts: int = 1
    holes: int = 0
    done: bool = False


_MIN_KIND_PROBABILITY, _MAX_KINDS = 0.03, 3
"""Least probability of a kind for a reply to be generated, and most kinds."""
MAX_REPLY_WORDS = 64
"""Words that are written at most."""


class Splitter:
    """A trained writer with its vocabulary and encoder."""

    def __init__(self, writer: "Writer", vocabulary: Vocabulary, encoder: "Bert") -> None:
        self.writer, self.vocabulary, self.encoder = writer, vocabulary, encoder

    def splits(self, question: str) -> tuple[WriterReply, ...]:
        """Return the likeliest ways to split a question, including "single" (no split), the likeliest first."""
        text = tokenize_source(question)
        if not any(text.parts):
            return (WriterReply("single", 1.0, ()),)
        return self._replies(text, [kind for kind in REPLY_KINDS if kind != REWRITE])

    def rewrite(self, question: str, before: str) -> WriterReply:
        """Rewrite a follow-up question so that it can be understood without its history."""
        return self._replies(tokenize_source(question, before), [REWRITE])[0]

    def _replies(self, text: SourceText, kinds: Sequence[str]) -> tuple[WriterReply, ...]:
        """Generate a reply of each of the likeliest kinds."""
        import torch

        from ramify.embedded.splitting.network import SOURCE_LAYERS

        with torch.inference_mode():
            states = encode_words([text], self.encoder, SOURCE_LAYERS)[0][None]
            source = self.writer.encode_source(states, torch.tensor([text.parts]), torch.ones(1, len(text.words), dtype=torch.bool))
            read = self.writer.keys_values(source)
            begin = torch.tensor([[self.vocabulary.numbers[BEGIN]]])
            scores, before = self.writer(begin, source, read)
            likely = scores[0, -1, [self.vocabulary.kinds[kind] for kind in kinds]].softmax(-1).tolist()
            ranked = sorted(zip(kinds, likely, strict=True), key=lambda item: -item[1])
            chosen = [(kind, chance) for kind, chance in ranked if chance >= _MIN_KIND_PROBABILITY][:_MAX_KINDS] or ranked[:1]
            lines = [_PartialReply(kind, [self.vocabulary.kinds[kind]], done=kind == "single") for kind, _ in chosen]
            self._write(lines, text, source, read, before)
        return tuple(self._finish_reply(line, chance, text) for line, (_, chance) in zip(lines, chosen, strict=True))

    def _write(self, lines: list[_PartialReply], text: SourceText, source: "EncodedSource", read: "KeyValues", before: "KeyValues") -> None:
        """Write all lines word by word, the likeliest each time, whether it is copied or of the vocabulary (See et al. 2017, eq. 9)."""
        import torch

        from ramify.embedded.splitting.network import EncodedSource

        words = dict(self.vocabulary.numbers)
        word_of = torch.tensor([*words.values(), *(words.setdefault(word.key, len(words)) for word in text.words)])
        count = len(lines)
        spread = EncodedSource(source.states.expand(count, -1, -1), source.mask.expand(count, -1))
        read = [(key.expand(count, -1, -1, -1), value.expand(count, -1, -1, -1)) for key, value in read]
        before = [(key.expand(count, -1, -1, -1), value.expand(count, -1, -1, -1)) for key, value in before]
        for _ in range(MAX_REPLY_WORDS):
            if all(line.done for line in lines):
                return
            tokens = torch.tensor([[line.tokens[-1]] for line in lines])
            scores, before = self.writer(tokens, spread, read, before)
            for row, line in enumerate(lines):
                if line.done:
                    continue
                allowed = scores[row, -1].log_softmax(-1).clone()
                allowed[self._forbidden_tokens(line)] = -math.inf
                likeliest = torch.zeros(len(words)).index_add_(0, word_of, allowed.exp()).argmax()
                best = int(allowed.masked_fill(word_of != likeliest, -math.inf).argmax())
                line.total += float(allowed[best])
                line.tokens.append(best)
                token = self.vocabulary.tokens[best] if best < len(self.vocabulary.tokens) else ""
                line.done = token == END
                line.parts += token == BETWEEN
                line.holes += token == ANSWER_SLOT

    def _forbidden_tokens(self, line: _PartialReply) -> list[int]:
        """Return the tokens that cannot come next: a second part needs a first, and a bridge exactly one slot, in its second part."""
        numbers = self.vocabulary.numbers
        begun = line.tokens[-1] not in (numbers[BETWEEN], line.tokens[0])
        second = line.parts == 2 or line.kind == REWRITE
        finished = begun and second and (line.kind != "bridge" or line.holes == 1)
        hole = line.kind == "bridge" and line.parts == 2 and line.holes == 0
        barred = [*self.vocabulary.kinds.values(), numbers[BEGIN]]
        between = max((place for place, token in enumerate(line.tokens) if token == numbers[BETWEEN]), default=0)
        own = line.tokens[between + 1 :]
        if len(own) >= 2:  # an unsure writer runs in circles: three words of a question are not repeated
            barred += [own[place + 2] for place in range(len(own) - 2) if own[place : place + 2] == own[-2:]]
        barred += [] if finished else [numbers[END]]
        barred += [] if hole else [numbers[ANSWER_SLOT]]
        return barred + ([] if begun and not second else [numbers[BETWEEN]])

    def _finish_reply(self, line: _PartialReply, probability: float, text: SourceText) -> WriterReply:
        if not line.done or line.kind == "single":  # an unfinished reply is discarded by probability 0
            return WriterReply(line.kind, probability if line.kind == "single" else 0.0, ())
        parts: list[list[tuple[str, int]]] = [[]]
        for token in line.tokens[1:-1]:
            if token == self.vocabulary.numbers[BETWEEN]:
                parts.append([])
            else:
                copied = token - len(self.vocabulary.tokens)
                parts[-1].append((text.words[copied].text, copied) if copied >= 0 else (self.vocabulary.tokens[token], -1))
        questions = tuple(join_words(part, text.text, text.words) for part in parts)
        return WriterReply(line.kind, probability, questions, line.total / max(1, len(line.tokens) - 1))


WRITER_WEIGHTS_FILE = "weights.safetensors"
WRITER_WEIGHTS_SHA256 = "9a6e182170c46f02f3f04589342b64b50f150fc27cd3fb2e54913190169efba2"
VOCABULARY_KEY = "words"
"""The key of the vocabulary in the file's metadata."""
_REMEDY = "reinstall ramify, or name a language model, such as ollama:llama3.1:8b"


@lru_cache(maxsize=1)
def load_splitter() -> "Splitter":
    """Return the trained writer, loaded once; ModelError if its weights are missing or changed."""
    from safetensors import safe_open

    from ramify.embedded.splitting.network import Writer

    with (
        as_file(files(__package__) / WRITER_WEIGHTS_FILE) as path,
        safe_open(verify_weights(path, WRITER_WEIGHTS_SHA256, "the writer", _REMEDY), framework="pt") as file,
    ):
        known = Vocabulary(tuple(json.loads(file.metadata()[VOCABULARY_KEY])))
        weights = dequantize({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118  # it is no mapping
    writer = Writer(len(known))
    writer.load_state_dict(weights, assign=True)
    return Splitter(writer.eval(), known, shared_layers())


SINGLE: Final = "single"
_CACHE_SIZE = 4096
MAX_QUESTION_CHARS = 600
"""Longer questions are truncated at the beginning."""
COMPUTE_LOCK = threading.Lock()


@dataclass(frozen=True)
class Split:
    """A way to split a question: two questions, how their answers are combined, and the probability that it is right."""

    how: Combination
    first: str
    second: str
    probability: float


@lru_cache(maxsize=_CACHE_SIZE)
def find_splits(question: str) -> tuple[Split, ...]:
    """Return the ways to split a question, the likeliest first; "single" means no split."""
    with COMPUTE_LOCK:
        replies = load_splitter().splits(question[-MAX_QUESTION_CHARS:])
    made = []
    for reply in replies:
        if reply.kind == SINGLE:
            made.append(Split(SINGLE, "", "", reply.probability))
        elif len(reply.questions) == 2 and fold(reply.questions[0]) != fold(reply.questions[1]):
            made.append(Split(cast(Combination, reply.kind), *reply.questions, reply.probability))
    return tuple(made) or (Split(SINGLE, "", "", 1.0),)

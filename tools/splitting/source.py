"""From a question, and what was said before it, to what the writer copies from: words, and what the packaged encoder makes of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ramify.tools.embeddings.sentence_encoder import checked_minilm
from ramify.tools.splitting.vocabulary import Word, words

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor
    from transformers import BertModel

BEFORE = 110
"""Word pieces kept of what was said before; the last ones."""
LONGEST = 120
"""Word pieces kept of a question; the last ones, for what is asked comes last."""


@dataclass(frozen=True)
class Text:
    """What is copied from: the turns before and the question as one text, its words, and its word pieces."""

    text: str
    words: list[Word]
    parts: list[int]
    """0 for a word from before, 1 for one of the question."""
    ids: list[int]
    word_of: list[int]
    """The word that each piece belongs to; -1 for marks."""


def cut(question: str, before: str = "") -> Text:
    """Cut a question and what was said before it into words and pieces."""
    text = f"{before}\n{question}" if before else question
    start = len(text) - len(question)
    found = _tokenizer().encode(text, add_special_tokens=False)
    pieces = [(piece, begin) for piece, (begin, end) in zip(found.ids, found.offsets, strict=True) if end > begin]
    earlier = [item for item in pieces if item[1] < start][-BEFORE:]
    asked = [item for item in pieces if item[1] >= start][-LONGEST:]
    first = min((begin for _, begin in (*earlier, *asked)), default=0)
    there = [word for word in words(text) if word.start >= first]
    at = {place: number for number, word in enumerate(there) for place in range(word.start, word.end)}
    begin, end = (_tokenizer().token_to_id(mark) or 0 for mark in ("[CLS]", "[SEP]"))
    marked = [(begin, -1), *earlier, *([(end, -1)] if earlier else []), *asked, (end, -1)]
    return Text(
        text,
        there,
        [int(word.start >= start) for word in there],
        [piece for piece, _ in marked],
        [at.get(place, -1) for _, place in marked],
    )


def encode(texts: Sequence[Text], encoder: "BertModel", layers: Sequence[int]) -> "list[Tensor]":
    """Give the states of each text's words, (words, layers x width): the mean over a word's pieces, of several layers side by side."""
    import torch

    length = max(len(text.ids) for text in texts)
    ids = torch.zeros(len(texts), length, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, : len(text.ids)] = torch.tensor(text.ids)
        mask[row, : len(text.ids)] = 1
    told = encoder(input_ids=ids.to(encoder.device), attention_mask=mask.to(encoder.device), output_hidden_states=True).hidden_states
    states = torch.cat([told[layer] for layer in layers], dim=-1).float().cpu()
    return [_by_word(states[row], text) for row, text in enumerate(texts)]


def _by_word(states: "Tensor", text: Text) -> "Tensor":
    import torch

    owner = torch.tensor(text.word_of)
    inside = owner >= 0
    total = torch.zeros(len(text.words), states.shape[-1]).index_add_(0, owner[inside], states[: len(owner)][inside])
    count = torch.zeros(len(text.words)).index_add_(0, owner[inside], torch.ones(int(inside.sum())))
    return total / count.clamp_min(1)[:, None]


@lru_cache(maxsize=1)
def _tokenizer() -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(checked_minilm() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer

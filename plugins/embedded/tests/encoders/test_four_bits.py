"""The 4-bit file of multilingual E5: read exactly, and rejected if invalid."""

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from ramify.embedded.encoders.four_bits import BLOCK, WEIGHTS_PER_BLOCK, FormatError, read_weights, unpack_blocks
from ramify.tools.embeddings.bert import Bert

WIDTH, INNER, WORDS, POSITIONS, TYPES = 32, 64, 5, 7, 2
SIZES = struct.pack("<4sI7ifI", b"E5S1", 1, WIDTH, 1, 2, INNER, WORDS, POSITIONS, TYPES, 1e-12, WEIGHTS_PER_BLOCK)
MATRICES = {"emb.word": WORDS * WIDTH, "l0.fi.w": INNER * WIDTH, "l0.fo.w": INNER * WIDTH} | {
    f"l0.{name}.w": WIDTH * WIDTH for name in ("q", "k", "v", "ao")
}
VECTORS = {"emb.pos": POSITIONS * WIDTH, "emb.type": TYPES * WIDTH, "l0.fi.b": INNER} | dict.fromkeys(
    ("emb.ln.w", "emb.ln.b", "l0.q.b", "l0.k.b", "l0.v.b", "l0.ao.b", "l0.aln.w", "l0.aln.b", "l0.fo.b", "l0.oln.w", "l0.oln.b"), WIDTH
)
SCALE = 0.25


def blocks(count: int) -> bytes:
    """Blocks whose weights run from the lowest to the highest, over and over."""
    made = np.zeros(count // WEIGHTS_PER_BLOCK, BLOCK)
    made["scale"] = SCALE
    made["pairs"] = np.arange(16, dtype=np.uint8) | (np.arange(16, dtype=np.uint8) << 4)
    return made.tobytes()


def small_file(sizes: bytes = SIZES, vectors: dict[str, int] = VECTORS) -> bytes:
    """A whole file with one layer, with a tokenizer of two pieces."""
    tokenizer = struct.pack("<5IQ", 2, 0, 2, 1, 3, 3) + bytes(4 * 3 + 4 * 2) + b"abc" + struct.pack("<II", 1, 5) + bytes(5)
    contents = {name: (1, count, blocks(count)) for name, count in MATRICES.items()}
    contents |= {name: (0, count, np.arange(count, dtype="<f4").tobytes()) for name, count in vectors.items()}
    begin = len(sizes) + len(tokenizer) + 4 + sum(2 + len(name) + 21 for name in contents)
    directory, tensors = struct.pack("<I", len(contents)), b""
    for name, (kind, count, content) in contents.items():
        directory += struct.pack(f"<H{len(name)}sBIQQ", len(name), name.encode(), kind, count, begin + len(tensors), len(content))
        tensors += content
    return sizes + tokenizer + directory + tensors


def test_a_small_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "small.bin").write_bytes(small_file())
    shape, weights = read_weights(tmp_path / "small.bin")
    assert (shape.width, shape.layers, shape.heads, shape.inner, shape.vocabulary, shape.positions) == (32, 1, 2, 64, 5, 7)
    numbers = [SCALE * (value - 8) for value in range(16)] * 2
    assert weights["embeddings.word_embeddings.weight"].tolist() == [numbers] * WORDS
    assert weights["encoder.layer.0.output.dense.weight"].shape == (WIDTH, INNER)
    assert weights["encoder.layer.0.intermediate.dense.bias"].tolist() == list(range(INNER))
    ids = torch.tensor([[0, 3, 2]])
    assert Bert.from_weights(weights, shape)(ids, torch.ones_like(ids))[-1].shape == (1, 3, WIDTH)


def test_numbers_of_another_type_are_the_same_rounded(tmp_path: Path) -> None:
    (tmp_path / "small.bin").write_bytes(small_file())
    _, whole = read_weights(tmp_path / "small.bin")
    _, halves = read_weights(tmp_path / "small.bin", torch.bfloat16)
    assert {weight.dtype for weight in halves.values()} == {torch.bfloat16}
    assert all(torch.equal(weight.to(torch.bfloat16), halves[name]) for name, weight in whole.items())


def test_the_upper_halves_of_the_bytes_come_after_the_lower_ones() -> None:
    block = np.zeros((1, 1), BLOCK)
    block["scale"], block["pairs"] = 2.0, 0xF0
    assert unpack_blocks(block).tolist() == [[-16.0] * 16 + [14.0] * 16]


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "another kind": (lambda whole: b"GGUF" + whole[4:], "does not begin with E5S1"),
    "empty": (lambda whole: b"", "does not begin with E5S1"),
    "another version": (lambda whole: whole[:4] + struct.pack("<I", 2) + whole[8:], "of version 2"),
    "sizes": (lambda whole: whole[:8] + struct.pack("<i", -384) + whole[12:], "sizes do not fit"),
    "half a header": (lambda whole: whole[:30], "header is cut off"),
    "no directory": (lambda whole: whole[:80], "header is cut off"),
    "cut off": (lambda whole: whole[:-1], "'l0.oln.b' is cut off"),
    "a tokenizer beyond the end": (lambda whole: whole[:44] + b"\xff" * 4 + whole[48:], "header is cut off"),
    "a layer too few": (lambda whole: whole.replace(b"l0.q.w", b"l0.x.w"), "no tensor 'l0.q.w'"),
    "more words": (lambda whole: whole.replace(struct.pack("<i", WORDS), struct.pack("<i", 9), 1), "'emb.word' is cut off or of another"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_what_is_not_such_a_file_is_refused(name: str, tmp_path: Path) -> None:
    damage, message = DAMAGE[name]
    (tmp_path / "small.bin").write_bytes(damage(small_file()))
    with pytest.raises(FormatError, match=message):
        read_weights(tmp_path / "small.bin")


def test_no_cut_file_is_read_as_a_whole_one(tmp_path: Path) -> None:
    whole = small_file()
    for length in range(0, len(whole), 97):
        (tmp_path / "small.bin").write_bytes(whole[:length])
        with pytest.raises(FormatError):
            read_weights(tmp_path / "small.bin")

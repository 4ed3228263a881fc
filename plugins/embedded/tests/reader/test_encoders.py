"""The encoders under a reader: pairs are cut by the tokenizer of each, and both give a network of the same heads."""

import pytest
import torch

from plugins.embedded.tests.multilingual import DOWNLOADED
from plugins.embedded.training.network import new_network
from ramify.embedded.encoders.e5 import MULTILINGUAL_E5
from ramify.embedded.reader.network import ANSWER_KINDS
from ramify.embedded.reader.reading import collate_pairs, encode_pairs
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM, Pretrained

QUESTION, CONTEXT = "Who built the lighthouse?", "Skerry: it was built by Anna Holt (1905)."
TRUNKS = [PACKAGED_MINILM, pytest.param(MULTILINGUAL_E5, marks=DOWNLOADED)]


@pytest.mark.parametrize("trunk", TRUNKS, ids=lambda trunk: trunk.name)
@pytest.mark.parametrize("context", [CONTEXT, "스케리 등대는 안나 홀트가 지었다.", "x", ""])
def test_the_pieces_of_a_context_cover_it(trunk: Pretrained, context: str) -> None:
    (pair,) = encode_pairs([QUESTION], [context], trunk)
    covered = {place for begin, end in pair.offsets for place in range(begin, end)}
    assert {place for place, sign in enumerate(context) if not sign.isspace()} <= covered
    assert len(pair.offsets) == len(pair) - pair.first - 1, "what comes last is a mark"


@pytest.mark.parametrize("trunk", TRUNKS, ids=lambda trunk: trunk.name)
def test_a_network_reads_what_its_tokenizer_cuts(trunk: Pretrained) -> None:
    network = new_network(trunk).eval()
    asked = collate_pairs(encode_pairs([QUESTION, QUESTION], [CONTEXT, CONTEXT[:20]], trunk))
    with torch.inference_mode():
        read = network(asked)
    assert read.kind.shape == (2, len(ANSWER_KINDS))
    assert torch.allclose(read.start.exp().sum(dim=1), torch.ones(2), atol=1e-4)
    assert (read.start.exp()[~asked.readable] == 0).all()

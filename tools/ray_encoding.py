"""Passages encoded by the workers of a Ray cluster, each with an encoder of its own."""

from collections.abc import Generator, Iterable
from concurrent.futures import Future
from functools import partial
from itertools import chain

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Encoding, Matrix, Prefixes, Texts, with_prefixes
from ramify.tools.embeddings.named import FOREIGN
from ramify.tools.errors import UsageError
from ramify.tools.quoting import brief
from ramify.tools.ray_cluster import AHEAD, check_address, check_machines, join_cluster, submit_in_order, worker_errors


def encoding_on(address: str, encoder: Encoder) -> Encoding:
    """Have batches encoded on the cluster at an address, joined when there is one to encode.

    UsageError at once for an encoder that a worker cannot load by its name, and for what is no address.
    """
    plain = with_prefixes(encoder, Prefixes())
    if plain.name.startswith(FOREIGN) or type(load_encoder(plain.name)) is not type(plain):
        what = f"workers on Ray cannot load the embedding {plain.name!r}, an object of this program"
        raise UsageError(what, "give an embedding by its name, or index without ray")
    check_address(address)
    return partial(_encode, address)


def _encode(address: str, encoder: Encoder, batches: Iterable[Texts]) -> Generator[tuple[Texts, Matrix], None, None]:
    batches = iter(batches)
    first = next(batches, None)
    if first is None:
        return
    with join_cluster(address) as cluster:
        check_machines()
        room = 2 * AHEAD * (cluster.gpus or cluster.workers)  # twice: behind a batch that takes long others can be finished

        def submit(texts: Texts) -> Future[Matrix]:
            return cluster.submit(_vectors, encoder.name, encoder.prefixes, texts, gpu=cluster.gpus > 0)

        for texts, encoded in submit_in_order(submit, chain([first], batches), room):
            with worker_errors(f"encoding {len(texts):,} passages, the first {brief(texts[0], 60)!r},"):
                vectors = encoded.result()
            yield texts, vectors


def _vectors(name: str, prefixes: Prefixes, texts: Texts) -> Matrix:
    """Encode on a worker, which loads the encoder once."""
    return with_prefixes(load_encoder(name), prefixes).encode_documents(texts)

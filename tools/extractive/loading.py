"""Load what the extractive model reads with, before it is asked."""

import threading
import time

from ramify.tools.embeddings import load_encoder
from ramify.tools.extractive.read import Reader
from ramify.tools.reader.weights import load_network

_ONE_AT_A_TIME = threading.Lock()


def load(reader: Reader) -> float:
    """Load the encoder, and the network where it reads; give the seconds that took, 0 where all was there; blocking."""
    encoder = load_encoder("minilm")
    if encoder.loaded and (reader == "rules" or load_network.cache_info().currsize):
        return 0.0
    began = time.perf_counter()
    with _ONE_AT_A_TIME:  # many runs begin at once: one of them loads, the others wait
        encoder.load()
        if reader == "neural":
            load_network()
    return time.perf_counter() - began

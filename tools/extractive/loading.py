"""Load what the extractive model reads with, before it is asked."""

import threading
import time

from ramify.tools.embeddings import load_encoder
from ramify.tools.reader.weights import load_network
from ramify.tools.splitting.weights import load_pen

_ONE_AT_A_TIME = threading.Lock()


def load() -> float:
    """Load the encoder and both networks; give the seconds that took, 0 where all was there; blocking."""
    encoder = load_encoder("minilm")
    if encoder.loaded and load_network.cache_info().currsize and load_pen.cache_info().currsize:
        return 0.0
    began = time.perf_counter()
    with _ONE_AT_A_TIME:  # many runs begin at once: one of them loads, the others wait
        encoder.load()
        load_network()
        load_pen()
    return time.perf_counter() - began

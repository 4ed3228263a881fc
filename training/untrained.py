"""The network before it has learned anything: the packaged encoder with empty heads."""

from ramify.tools.embeddings.bert import Shape
from ramify.tools.embeddings.minilm import minilm_layers
from ramify.tools.reader.network import Network


def new_network() -> Network:
    """Make a network for training, without dropout."""
    network = Network(Shape())
    network.encoder = minilm_layers()
    return network

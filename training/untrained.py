"""The network before it has learned anything: an encoder with empty heads."""

from typing import Final

from ramify.tools.embeddings.pretrained import ALL_MPNET, MULTILINGUAL_E5, PACKAGED, Pretrained
from ramify.tools.reader.network import Network

TRUNKS: Final = {trunk.name: trunk for trunk in (PACKAGED, MULTILINGUAL_E5, ALL_MPNET)}
"""The encoders that a reader can be put on, by name."""


def new_network(trunk: Pretrained = PACKAGED) -> Network:
    """Make a network for training, without dropout."""
    layers = trunk.new_layers()
    network = Network(layers.shape)
    network.encoder = layers
    return network

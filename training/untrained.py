"""The network before it has learned anything: an encoder with empty heads."""

from ramify.tools.reader.network import Network
from ramify.tools.reader.trunk import SMALL, Trunk


def new_network(trunk: Trunk = SMALL) -> Network:
    """Make a network for training, without dropout."""
    layers = trunk.new_layers()
    network = Network(layers.shape)
    network.encoder = layers
    return network

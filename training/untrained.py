"""The network before it has learned anything: the packaged encoder with empty heads."""

from transformers import BertConfig, BertModel

from ramify.tools.embeddings.sentence_encoder import checked_minilm
from ramify.tools.reader.reading import Network


def new_network() -> Network:
    """Make a network for training on a processor: without dropout, which alone halves the speed, and with plain attention."""
    folder = checked_minilm()
    config = BertConfig.from_pretrained(folder, attn_implementation="eager")
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    network = Network(config)
    network.encoder = BertModel.from_pretrained(folder, config=config, add_pooling_layer=False, local_files_only=True)
    return network

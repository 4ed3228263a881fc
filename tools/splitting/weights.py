"""Load the writer that ships with the package, with its vocabulary and the encoder it reads by."""

import json
from functools import lru_cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from ramify.tools.released_weights import intact
from ramify.tools.splitting.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ramify.tools.splitting.writing import Pen

FILE = "weights.safetensors"
SHA256 = "ceee9231c13669e4c9f5cfb01159444c1f75545affe72722bfa9bdcaa84ee3e1"
WORDS = "words"
"""Where the file's metadata holds the vocabulary."""
_REMEDY = "reinstall ramify, or name a language model, such as ollama:llama3.1:8b"


@lru_cache(maxsize=1)
def load_pen() -> "Pen":
    """Return the trained writer, ready to write; ModelError where its weights are missing or not those that were released."""
    from safetensors import safe_open

    from ramify.tools.reader.weights import packaged_layers, unpack
    from ramify.tools.splitting.network import Writer
    from ramify.tools.splitting.writing import Pen

    with as_file(files(__package__) / FILE) as path, safe_open(intact(path, SHA256, "the writer", _REMEDY), framework="pt") as file:
        known = Vocabulary(tuple(json.loads(file.metadata()[WORDS])))
        weights = unpack({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118  # it is no mapping
    writer = Writer(len(known))
    writer.load_state_dict(weights)
    return Pen(writer.eval(), known, packaged_layers())

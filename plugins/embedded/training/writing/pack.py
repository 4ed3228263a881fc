"""Write the trained writer into the package, with its vocabulary, in a byte each, and the hash that the package checks it by.

python -m plugins.embedded.training.writing.pack OUT
"""

import json
import sys
from pathlib import Path

from safetensors.torch import load_file

from plugins.embedded.training.network import WEIGHTS
from plugins.embedded.training.pack import write_weights
from plugins.embedded.training.writing.train import known_words
from ramify.embedded.splitting.writing import VOCABULARY_KEY

_CODE = Path(__file__).parents[2] / "splitting" / "writing.py"


def main() -> None:
    """Pack what was trained, with its vocabulary."""
    folder = Path(sys.argv[1])
    words = json.dumps(known_words(folder).words, ensure_ascii=False)
    write_weights(_CODE, load_file(folder / WEIGHTS), {"encoder": "all-MiniLM-L6-v2", VOCABULARY_KEY: words})


if __name__ == "__main__":
    main()

"""Write trained weights into the package, quantized to 8 bits, and the hash with which the package verifies them.

python -m plugins.embedded.training.pack OUT [--frozen 1]
python -m plugins.embedded.training.pack OUT --trunk e5-multilingual --frozen 6
python -m plugins.embedded.training.pack OUT --trunk all-mpnet-base-v2
"""

import argparse
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

from plugins.embedded.training.network import ENCODERS, WEIGHTS
from ramify.embedded.encoders.e5 import MULTILINGUAL_E5
from ramify.embedded.encoders.mpnet import ALL_MPNET
from ramify.embedded.reader import large, multilingual
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM
from ramify.tools.released_weights import quantize

_CODE = Path(__file__).parents[1] / "reader" / "reading.py"
_LARGE_CODE = _CODE.with_name("large.py")
_MULTILINGUAL_CODE = _CODE.with_name("multilingual.py")


def main() -> None:
    """Write the trained weights; the others are the encoder's."""
    parser = argparse.ArgumentParser(description="Pack the reader's weights.")
    parser.add_argument("out", type=Path, help="the folder that training wrote")
    parser.add_argument("--trunk", choices=ENCODERS, default=PACKAGED_MINILM.name, help="encoder that it was put on")
    parser.add_argument("--frozen", type=int, default=1, help="lower layers that were not trained")
    given = parser.parse_args()
    if given.trunk == ALL_MPNET.name:
        changes = {
            name: weight
            for name, weight in load_file(given.out / WEIGHTS).items()
            if not name.startswith("encoder.") or name.endswith((large.DOWN_SUFFIX, large.UP_SUFFIX))
        }
        write_weights(_LARGE_CODE, changes, {"encoder": ALL_MPNET.name}, large.LARGE_WEIGHTS_FILE)
        return
    frozen = ("encoder.embeddings.", *(f"encoder.encoder.layer.{number}." for number in range(given.frozen)))
    trained = {name: weight for name, weight in load_file(given.out / WEIGHTS).items() if not name.startswith(frozen)}
    about = {"frozen_layers": str(given.frozen)}
    if given.trunk == MULTILINGUAL_E5.name:
        write_weights(_MULTILINGUAL_CODE, trained, {"encoder": "multilingual-e5-small", **about}, multilingual.MULTILINGUAL_WEIGHTS_FILE)
    else:
        write_weights(_CODE, trained, {"encoder": "all-MiniLM-L6-v2", **about})


def write_weights(code: Path, weights: Mapping[str, Tensor], metadata: dict[str, str], name: str = "weights.safetensors") -> None:
    """Write weights and their metadata beside the module that loads them, and their hash into that module."""
    target = code.with_name(name)
    save_file(quantize(dict(weights)), target, metadata=metadata)
    write_hash(code, target)


def write_hash(code: Path, target: Path) -> None:
    """Write the hash of weights into the module that loads them."""
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    code.write_text(re.sub(r'SHA256 = "[0-9a-f]*"', f'SHA256 = "{digest}"', code.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{target}: {target.stat().st_size:,} bytes, sha256 {digest}")


if __name__ == "__main__":
    main()

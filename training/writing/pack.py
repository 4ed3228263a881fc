"""Write the trained writer into the package, in a byte each, and the hash that the package checks it by.

python -m training.writing.pack OUT
"""

import hashlib
import json
import re
import sys
from pathlib import Path

from safetensors.torch import load_file, save_file

from ramify.tools.reader.packed import pack
from ramify.tools.splitting.weights import FILE, WORDS
from training.writing.train import WEIGHTS, known_words

_HOME = Path(__file__).parents[2] / "tools" / "splitting"


def main() -> None:
    """Pack what was trained, with its vocabulary."""
    folder = Path(sys.argv[1])
    words = json.dumps(known_words(folder).words, ensure_ascii=False)
    target = _HOME / FILE
    save_file(pack(load_file(folder / WEIGHTS)), target, metadata={"encoder": "all-MiniLM-L6-v2", WORDS: words})
    found = hashlib.sha256(target.read_bytes()).hexdigest()
    code = _HOME / "weights.py"
    code.write_text(re.sub(r'SHA256 = "[0-9a-f]*"', f'SHA256 = "{found}"', code.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB, sha256 {found}")


if __name__ == "__main__":
    main()

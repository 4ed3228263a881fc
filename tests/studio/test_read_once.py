"""A question from the command line opens its index once, hashes no file twice, and imports nothing that only other work needs."""

import json
import subprocess
import sys

COUNTING = """
import hashlib, json, sys
from collections import Counter
import ramify.tools.index.publication as publication
from ramify.studio.entry import main

hashed, opened = Counter(), Counter()
digest, open_index = hashlib.file_digest, publication._open

def counted_digest(file, *given):
    hashed[file.name] += 1
    return digest(file, *given)

def counted_open(folder, manifest):
    opened[str(folder)] += 1
    return open_index(folder, manifest)

hashlib.file_digest, publication._open = counted_digest, counted_open
sys.argv = ["ramify", "ask", "In which city was the inventor of the ballpoint pen born?", "--model", "extractive"]
try:
    main()
finally:
    print(json.dumps([hashed, opened, sorted({name.partition('.')[0] for name in sys.modules})]))
"""


NOT_NEEDED = {
    *("langchain", "langchain_classic", "langchain_community", "langchain_ollama", "sentence_transformers", "transformers"),
    *("scipy", "sklearn", "sympy", "graspologic_native", "PIL", "lxml", "openpyxl", "pptx", "pypdfium2"),
}


def test_a_question_opens_its_index_once_hashes_no_file_twice_and_imports_what_it_needs() -> None:
    done = subprocess.run([sys.executable, "-c", COUNTING], capture_output=True, text=True, check=True)
    hashed, opened, imported = json.loads(done.stdout.splitlines()[-1])
    assert "Budapest" in done.stdout
    assert list(opened.values()) == [1]
    assert any("weights" in name for name in hashed)
    assert {name: count for name, count in hashed.items() if count > 1} == {}
    assert NOT_NEEDED & set(imported) == set()

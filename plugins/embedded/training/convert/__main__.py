"""Convert a public release into a data folder.

python -m plugins.embedded.training.convert NAME FILE… --out DATA/NAME
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from plugins.embedded.training.convert.folder import Gathered, write
from plugins.embedded.training.convert.releases import (
    boolq_dev,
    condaqa_dev_test,
    covidqa_200423,
    hotpotqa_train,
    musique_train,
    pubmedqa_labelled,
    squad_dev,
    strategyqa,
    wikimultihopqa_train,
)
from ramify.tools.errors import InputError, RamifyError


class Release(NamedTuple):
    """The files of a release, as they are called there, and who reads them."""

    files: str
    read: Callable[[Sequence[Path]], Gathered]


RELEASES = {
    "squad_dev": Release("dev-v1.1.json dev-v2.0.json", squad_dev),
    "covidqa_200423": Release("200423_covidQA.json", covidqa_200423),
    "boolq_dev": Release("dev.jsonl", boolq_dev),
    "condaqa_dev_test": Release("condaqa_dev.json condaqa_test.json", condaqa_dev_test),
    "strategyqa": Release("train.json dev.json", strategyqa),
    "pubmedqa_labelled": Release("ori_pqal.json", pubmedqa_labelled),
    "2wikimultihopqa_train": Release("wikihop_train_preprocess.json, or train.json", wikimultihopqa_train),
    "hotpotqa_train": Release("hotpotqa_train.json, or hotpot_train_v1.1.json", hotpotqa_train),
    "musique_train": Release("musique_train.json, or musique_ans_v1.0_train.jsonl", musique_train),
}


def main(given: Sequence[str] | None = None) -> None:
    """Convert; one line on stderr and exit code 1 where that cannot be done."""
    listing = "\n".join(f"  {name:22} {release.files}" for name, release in RELEASES.items())
    parser = argparse.ArgumentParser(
        prog="python -m plugins.embedded.training.convert",
        description="Convert a public release into a data folder.",
        epilog=f"names, and the files of their releases:\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=RELEASES, metavar="NAME")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    options = parser.parse_args(given)
    try:
        gathered = convert(options.name, options.files, options.out)
    except RamifyError as error:
        sys.exit(f"error: {error}")
    print(f"{options.out}: {len(gathered.documents)} documents, {len(gathered.questions)} questions")


def convert(name: str, files: Sequence[Path], out: Path) -> Gathered:
    """Read the files of a release and write them as a data folder; InputError for what is not that release."""
    gathered = RELEASES[name].read(files)
    if not gathered.questions:
        raise InputError(f"there are no questions in {', '.join(repr(str(file)) for file in files)}", "give the files as released")
    write(gathered, out)
    return gathered


if __name__ == "__main__":
    main()

"""Evaluate every strategy on real data, with sweeps and ablations: the run behind the README's results.

    RAMIFY_DATA=/path/to/data python plugins/lab/benchmarks/evaluation.py [--out build/evaluation] [--model extractive] [--workers 2]

Interrupt it and run it again: it goes on where it stopped. The report is in the folder given by --out. With the extractive model it takes
about an hour on 2 cores, the first time 10 minutes more for the indexes.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

SETS = ("2wikimultihopqa", "hotpotqa", "musique", "multihop_rag")
SAMPLE = 150
ALL = "naive,prune,tor,iterative,chain,closed-book"
RUNS = (
    (ALL,),
    (
        *("prune", "--sweep", "tau=0,0.1,0.25,0.5,0.7,0.9,0.95,0.99", "--sweep", "max_depth=1,2,3"),
        *("--ablate", "answer,entities,confidence,adaptive,hybrid,dependent"),
    ),
    ("tor", "--sweep", "max_depth=1,2,3,4", "--sweep", "theta=0.2,0.4,0.6,0.8", "--ablate", "judge,prune,mmr,hybrid,dependent"),
)
"""Strategies with what is run beside their defaults: on the whole sets, then on the sample."""


def main() -> int:
    """Return the command lines, which all write into one folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="build/evaluation")
    parser.add_argument("--model", default="extractive")
    parser.add_argument("--workers", default="2", help="processes; for a model on a server, 1")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--limit", help="only the first questions of each set")
    options = parser.parse_args()
    data = Path(os.environ["RAMIFY_DATA"])
    common = ["--model", options.model, "--out", options.out, "--workers", options.workers, "--sample", str(SAMPLE)]
    common += ["--limit", options.limit] if options.limit else []
    ramify = str(Path(sys.executable).parent / "ramify")
    for strategy, *more in RUNS:
        command = [ramify, "eval", *(str(data / name) for name in options.sets), "--strategy", strategy, *more, *common]
        if code := subprocess.run(command, check=False).returncode:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())

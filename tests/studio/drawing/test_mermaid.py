"""A tree as Mermaid: everything is in it, and nothing in it is more than a label."""

import re

from ramify.studio.drawing.mermaid import tree_mermaid
from tests.faults import fault
from tests.studio.samples import TREE, branch

EVIL = 'a"]; click b0 "javascript:x" <script> `code` **bold** %%{init}%% | end; 1. list'
BOX = re.compile(r'    b0[\d_]*\["[^"\n]*"\]:::\w+')


def test_it_draws_every_branch_with_status_scores_and_note() -> None:
    drawn = tree_mermaid(TREE)
    assert drawn.startswith("flowchart TD\n")
    for words in ("0.0 · pruned<br/>", "→ The Seine<br/>", "confidence 0.97", "fork scored 0.20, below theta 0.4#59;", "about Marie Curie"):
        assert words in drawn
    assert drawn.count(" --> ") == len(TREE) - 1
    assert "    b0_2 --> b0_2_1\n" in drawn


@fault("interfaces", "Mermaid syntax in a question or answer", sees="text in a label", kept="all", code=0)
def test_a_label_is_only_read() -> None:
    tree = {"0": branch("0", EVIL, status="leaf", answer=EVIL + "\n\x1b[31m", note=EVIL)}
    boxes = [line for line in tree_mermaid(tree).splitlines() if "classDef" not in line][1:]
    assert [BOX.fullmatch(line) is not None for line in boxes] == [True]
    assert not set("`*%|\x1b") & set(boxes[0])
    assert boxes[0].count("<") == boxes[0].count("<br/>") == 3


def test_a_long_text_is_cut() -> None:
    assert len(tree_mermaid({"0": branch("0", "word " * 2000, status="leaf")})) < 1000

"""The mix of sources in each phase of the reader's training: first all, then mostly human questions, then other kinds of texts."""

import random
from collections.abc import Mapping, Sequence
from typing import Final

from plugins.embedded.training.example import Example
from plugins.embedded.training.technical import FOLDERS

PHASES: Final[Mapping[str, Mapping[str, float]]] = {
    "broad": {
        "relation": 0.35,
        "relation_other": 0.3,
        "relation_untold": 0.6,
        "claim": 0.4,
        "agreement": 0.4,
        "condaqa_dev_test": 0.5,
        "condaqa_dev_test_other": 0.5,
    },
    "asked": {
        "squad": 1.0,
        "squad_other": 0.5,
        "linked": 1.0,
        "whole": 1.0,
        "hops": 0.5,
        "hops_step": 0.5,
        "papers": 0.5,
        "boolq_dev": 0.3,
    },
    "wider": {
        "squadshifts": 0.22,
        "squadshifts_other": 0.35,
        "fairytaleqa": 0.1,
        "fairytaleqa_other": 0.05,
        "nq_oracle_dev": 1.0,
        "nq_oracle_dev_other": 1.0,
        "tatqa_text": 1.0,
        "tatqa_text_other": 0.5,
        "techdocs_faq": 1.0,
        "techdocs_faq_other": 1.0,
        "selqa_ass": 0.5,
        "selqa_ass_other": 0.5,
        "squad_du_test": 0.2,
        "squad_du_test_other": 0.2,
        "squad": 0.12,
        "squad_other": 0.3,
        "linked": 0.6,
        "linked_other": 0.6,
        "whole": 1.0,
        "whole_other": 1.0,
        "boolq_train": 0.3,
        "boolq_train_other": 0.15,
        "condaqa_dev_test": 0.06,
    },
    "technical": {
        **{
            f"{folder}_{kind}{other}": 0.3 if other else 1.0
            for folder in FOLDERS
            for kind in ("span", "field", "yes", "no", "none", "step", "how_to")
            for other in ("", "_other")
        },
        **{f"{folder}_step_whole": 0.3 for folder in FOLDERS},
        "records": 0.4,
        "squad": 0.09,
        "squad_other": 0.048,
        "squadshifts": 0.036,
        "squadshifts_other": 0.024,
        "nq_oracle_dev": 0.24,
        "nq_oracle_dev_other": 0.12,
        "tatqa_text": 0.3,
        "techdocs_faq": 0.12,
        "techdocs_faq_other": 0.12,
        "linked": 0.3,
        "linked_other": 0.15,
        "whole": 0.36,
        "whole_other": 0.18,
        "hops": 0.12,
        "hops_step": 0.12,
        "boolq_train": 0.072,
        "boolq_dev": 0.06,
        "condaqa_dev_test": 0.048,
    },
    "multilingual": {
        "squad": 1.0,
        "squad_other": 0.4,
        "squadshifts": 0.28,
        "squadshifts_other": 0.14,
        "nq_oracle_dev": 1.0,
        "nq_oracle_dev_other": 0.5,
        "whole": 1.0,
        "whole_other": 0.5,
        "techdocs_faq": 0.4,
        "techdocs_faq_other": 0.4,
        "boolq_train": 0.15,
        "boolq_train_other": 0.1,
        **{f"{folder}_{kind}": 1.0 for folder in FOLDERS for kind in ("span", "field", "step", "yes", "no", "none")},
        **{f"{folder}_{kind}_other": 0.5 for folder in FOLDERS for kind in ("span", "field", "step")},
    },
    "large": {
        "squadshifts": 0.5,
        "squadshifts_other": 0.35,
        "squad": 1.0,
        "squad_other": 0.6,
        "fairytaleqa": 0.4,
        "fairytaleqa_other": 0.2,
        "nq_oracle_dev": 1.0,
        "nq_oracle_dev_other": 0.8,
        "qed_dev": 1.0,
        "qed_dev_other": 0.5,
        "tatqa_text": 1.0,
        "tatqa_text_other": 0.6,
        "papers": 1.0,
        "papers_other": 0.6,
        "techdocs_faq": 0.6,
        "techdocs_faq_other": 0.6,
        "selqa_ass": 0.5,
        "selqa_ass_other": 0.5,
        "squad_du_test": 0.2,
        "squad_du_test_other": 0.2,
        "linked": 2.0,
        "linked_other": 1.0,
        "whole": 3.0,
        "whole_other": 2.0,
        "hops": 1.0,
        "hops_other": 0.6,
        "hops_step": 1.0,
        "hops_step_other": 0.6,
        "hops_both": 1.0,
        "relation": 0.12,
        "relation_other": 0.07,
        "relation_untold": 0.15,
        "relation_reversed": 0.1,
        "boolq_train": 1.0,
        "boolq_train_other": 0.5,
        "boolq_dev": 1.0,
        "boolq_dev_other": 0.5,
        "condaqa_dev_test": 0.5,
        "condaqa_dev_test_other": 0.3,
        "strategyqa": 0.6,
        "strategyqa_other": 0.3,
        "pubmedqa_labelled": 1.0,
        "pubmedqa_labelled_other": 0.5,
        "claim": 0.3,
        "agreement": 0.3,
        "records": 0.6,
        **{f"{folder}_{kind}": 2.0 for folder in FOLDERS for kind in ("span", "field", "step", "yes", "no", "none", "how_to")},
        **{f"{folder}_{kind}_other": 1.0 for folder in FOLDERS for kind in ("span", "field", "step", "yes", "no", "none", "how_to")},
        **{f"{folder}_step_whole": 1.0 for folder in FOLDERS},
    },
}
"""The share of a source per epoch, another sample each time; at 2.0 every example is used twice."""
OTHER_SOURCES_SHARE: Final = {"broad": 1.0, "asked": 0.08, "wider": 0.06, "technical": 0.02, "multilingual": 0.0, "large": 0.1}
"""The share of the sources that a phase does not list."""


def phase_sources(phase: str) -> frozenset[str] | None:
    """Return the sources of a phase; None for all."""
    return None if OTHER_SOURCES_SHARE[phase] else frozenset(PHASES[phase])


def draw_examples(examples: Sequence[Example], phase: str, draw: random.Random) -> list[Example]:
    """Return the sampled examples of an epoch."""
    shares, rest = PHASES[phase], OTHER_SOURCES_SHARE[phase]
    times = [divmod(shares.get(example.source, rest), 1) for example in examples]
    return [example for example, (whole, part) in zip(examples, times, strict=True) for _ in range(int(whole) + (draw.random() < part))]

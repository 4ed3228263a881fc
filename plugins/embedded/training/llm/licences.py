"""The data sets that examples are made of, and their licences, as their publishers state them."""

import re
from typing import Final, NamedTuple


class DataSet(NamedTuple):
    """A data set, and its licence."""

    name: str
    licence: str
    published: bool = True


UNKNOWN: Final = "unknown"
_HAND: Final = "CC0 (questions written for this project); the passages have their own"
_OTHERS_HAVE: Final = "those of the others"
_MANUALS: Final = "CC BY 4.0, of AWS CC BY-SA 4.0, of Prometheus and cert-manager Apache-2.0"

DATA_SETS: Final = {
    "2wikimultihopqa_train": DataSet("2WikiMultihopQA", "Apache-2.0"),
    "boolq_dev": DataSet("BoolQ", "CC BY-SA 3.0"),
    "boolq_train": DataSet("BoolQ", "CC BY-SA 3.0"),
    "break_dev": DataSet("BREAK", "MIT"),
    "break_dev_lowlevel": DataSet("BREAK", "MIT"),
    "canard_dev": DataSet("CANARD", "CC BY-SA 4.0"),
    "cast_ikat_rewrites": DataSet("TREC CAsT", "MIT"),
    "clapnq_dev": DataSet("CLAPnq", "Apache-2.0; text CC BY-SA 3.0"),
    "covidqa_200423": DataSet("COVID-QA", "Apache-2.0"),
    "disflqa": DataSet("Disfl-QA", "CC BY 4.0"),
    "fairytaleqa": DataSet("FairytaleQA", "Apache-2.0"),
    "fanoutqa_dev": DataSet("FanOutQA", "MIT"),
    "followup_nlidb": DataSet("FollowUp", "Apache-2.0"),
    "gecor_camrest": DataSet("GECOR", "CC BY 4.0"),
    "hotpotqa_train": DataSet("HotpotQA", "CC BY-SA 4.0"),
    "kvret_cqr": DataSet("KVRET contextual query rewrites", "MIT-0"),
    "mtrag_rewrites": DataSet("MTRAG", "Apache-2.0"),
    "musique_train": DataSet("MuSiQue", "CC BY 4.0"),
    "nq_oracle_dev": DataSet("Natural Questions", "MIT; questions Apache-2.0, text CC BY-SA 3.0"),
    "office_spans": DataSet("questions over invented office documents", "CC0", published=False),
    "pubmedqa_labelled": DataSet("PubMedQA", "MIT"),
    "qamr_dev_test": DataSet("QAMR", "MIT; text CC BY-SA 3.0 and CC BY 2.5"),
    "qed_dev": DataSet("QED", "Apache-2.0; text CC BY-SA 3.0"),
    "selqa_ass": DataSet("SelQA", "Apache-2.0; text CC BY-SA 3.0"),
    "squad_dev": DataSet("SQuAD", "CC BY-SA 4.0"),
    "squadshifts": DataSet("SQuADShifts", "CC BY 4.0"),
    "tatqa_text": DataSet("TAT-QA", "CC BY 4.0"),
    "techdocs_faq": DataSet("questions of technical documentation", _MANUALS, published=False),
    "techdocs_spans": DataSet("questions over manuals", _HAND, published=False),
    "written": DataSet("questions over manuals and licences", _HAND, published=False),
}
"""Data sets by the folder that holds them."""

OTHERS: Final = {
    "break": "break_dev",
    "musique": "musique_train",
    "wiki": "2wikimultihopqa_train",
    "fanoutqa": "fanoutqa_dev",
}
"""What a source is called that does not bear the name of its folder."""
MADE: Final = {
    "described": DataSet("follow-ups made by program, with names of the others", _OTHERS_HAVE, published=False),
    "said_before": DataSet("follow-ups made by program, with names of the others", _OTHERS_HAVE, published=False),
    "unchanged": DataSet("questions of the others behind turns of the others", _OTHERS_HAVE, published=False),
}


def data_set(source: str) -> DataSet:
    """Return the data set of an example's source; one that is not listed has an unknown licence."""
    if source in MADE:
        return MADE[source]
    folder = re.sub(r"(?:_step|_inner|_hop)+$", "", source.removeprefix("single_"))
    return DATA_SETS.get(OTHERS.get(folder, folder), DataSet(source, UNKNOWN, published=False))

"""Written summary sentences that hold, and ones that deny what the texts say, compared without a language model."""

import numpy as np
import pytest

from ramify.kinds.hierarchy import summaries
from ramify.kinds.hierarchy.summaries import find_unsupported
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.pretrained import MINILM

TEXTS = [
    "The inlet valve must be closed before the feed pump is stopped.",
    "The guard may not be removed while the saw is running.",
    "The north pump delivers 50 litres a minute. The south pump delivers 70 litres a minute.",
    "Tighten the two clamps clockwise, then open the bleed screw.",
    "The alarm is switched on when the pressure rises above 6 bar.",
    "The warehouse in Torvik was founded in 1911 and sold in 1954.",
    "No food is allowed in the laboratory. Visitors always wear goggles.",
    "The eastern quay is longer than the western quay.",
    "After the filter has been cleaned, the lid is locked.",
    "The committee accepted the proposal although the mayor opposed it.",
    "Drain the boiler completely before you remove the front plate. Never light the burner without water.",
    "Members who joined before 2010 pay 40 euros, members who joined later pay 65 euros.",
    "The ferry leaves the northern pier at 7 and returns to the southern pier at 19.",
    "The new compressor is quieter than the old compressor.",
    "Sales in Belmar rose by 12 percent in 2019 and fell by 4 percent in 2020.",
    "Once the paint is dry, sand the surface and apply the second coat.",
    "The archive does not lend original maps. Copies may be borrowed for four weeks.",
    "The court rejected the appeal because the deadline had passed.",
    "Do not disconnect the battery until the display is dark.",
    "Dr. Ana Ferreira founded the clinic in Sorvana, and her brother Luis managed it for nine years.",
    "If the pressure is too low, increase the speed of the fan.",
]
RIGHT = [
    "The inlet valve must be closed before the feed pump is stopped.",
    "Before the feed pump is stopped, the inlet valve must be closed.",
    "The feed pump is stopped after the inlet valve has been closed.",
    "The inlet valve must not be open when the feed pump is stopped.",
    "While the saw is running, the guard may not be removed.",
    "The guard can't be removed while the saw runs.",
    "The north pump delivers 50 litres a minute.",
    "The south pump delivers 70 litres a minute.",
    "The north pump delivers 50 litres a minute, and the south pump 70 litres a minute.",
    "Tighten the two clamps clockwise.",
    "The bleed screw is opened after the two clamps have been tightened.",
    "The alarm is switched on when the pressure is above 6 bar.",
    "The warehouse in Torvik was founded in 1911.",
    "The warehouse in Torvik was sold in 1954.",
    "Food is not allowed in the laboratory.",
    "Food is forbidden in the laboratory.",
    "Visitors always wear goggles in the laboratory.",
    "The western quay is shorter than the eastern quay.",
    "The lid is locked after the filter has been cleaned.",
    "The proposal was accepted by the committee.",
    "The mayor opposed the proposal.",
    "The front plate is removed after the boiler has been drained completely.",
    "Before the front plate is removed, the boiler is drained.",
    "The burner is never lit without water.",
    "The burner must not be lit without water.",
    "Members who joined before 2010 pay 40 euros.",
    "Members who joined later pay 65 euros.",
    "The ferry leaves the northern pier at 7.",
    "The ferry returns to the southern pier at 19.",
    "The old compressor is louder than the new compressor.",
    "The new compressor is quieter than the old one.",
    "Sales in Belmar rose by 12 percent in 2019.",
    "Sales in Belmar fell by 4 percent in 2020.",
    "Sand the surface after the paint has dried.",
    "The second coat is applied once the surface is sanded.",
    "Original maps are not lent by the archive.",
    "The archive lends no original maps.",
    "Copies may be borrowed for four weeks.",
    "The appeal was rejected by the court because the deadline had passed.",
    "The court did not accept the appeal.",
    "The battery isn't disconnected until the display is dark.",
    "Ana Ferreira founded the clinic in Sorvana.",
    "Her brother Luis managed the clinic for nine years.",
    "The speed of the fan is increased if the pressure is too low.",
]
WRONG = [
    "The inlet valve must not be closed before the feed pump is stopped.",
    "The inlet valve must be opened before the feed pump is stopped.",
    "The feed pump must be stopped before the inlet valve is closed.",
    "The inlet valve must be closed before the feed pump is started.",
    "The inlet valve is closed after the feed pump is stopped.",
    "The guard may be removed while the saw is running.",
    "The guard may not be removed while the saw is stopped.",
    "The north pump delivers 70 litres a minute.",
    "The south pump delivers 60 litres a minute.",
    "Tighten the three clamps clockwise.",
    "Loosen the two clamps clockwise.",
    "Tighten the two clamps counterclockwise.",
    "Open the bleed screw, then tighten the two clamps.",
    "The alarm is switched off when the pressure rises above 6 bar.",
    "The alarm is switched on when the pressure falls below 6 bar.",
    "The warehouse in Torvik was founded in 1954.",
    "The warehouse in Torvik wasn't sold in 1954.",
    "Food is allowed in the laboratory.",
    "Visitors never wear goggles.",
    "The western quay is longer than the eastern quay.",
    "The lid is unlocked after the filter has been cleaned.",
    "After the lid is locked, the filter is cleaned.",
    "The committee rejected the proposal although the mayor opposed it.",
    "The committee accepted the proposal although the mayor supported it.",
    "Fill the boiler completely before you remove the front plate.",
    "Remove the front plate before you drain the boiler completely.",
    "The rear plate is removed after the boiler has been drained.",
    "Always light the burner without water.",
    "Members who joined before 2010 do not pay 40 euros.",
    "The ferry leaves the southern pier at 7.",
    "The ferry arrives at the northern pier at 7.",
    "The ferry returns to the southern pier at 7.",
    "The old compressor is quieter than the new compressor.",
    "Sales in Belmar fell by 12 percent in 2019.",
    "Sales in Belmar rose by 4 percent in 2019.",
    "Sales in Belmar didn't rise in 2019.",
    "Sand the surface before the paint is dry.",
    "The archive lends original maps.",
    "Copies may not be borrowed for four weeks.",
    "Copies may be borrowed for six weeks.",
    "The court accepted the appeal because the deadline had passed.",
    "Disconnect the battery before the display is dark.",
    "Her brother Luis managed it for three years.",
    "If the pressure is too high, increase the speed of the fan.",
    "If the pressure is too low, reduce the speed of the fan.",
]
"""Without three that are not noticed: exchanged numbers of one sentence, an unlisted antonym, and steps joined by "and"."""


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load_encoder(MINILM)


def test_sentences_that_hold_are_kept(encoder: Encoder) -> None:
    assert find_unsupported(RIGHT, TEXTS, encoder) == []


def test_sentences_that_deny_a_statement_are_rejected(encoder: Encoder) -> None:
    assert find_unsupported(WRONG, TEXTS, encoder) == WRONG


class Judge:
    """An NLI model that holds the given premise to entail what it contains, and nothing else."""

    def predict(self, pairs: list[tuple[str, str]], show_progress_bar: bool) -> np.ndarray:
        return np.array([[0.0, 1.0] if sentence in premise else [1.0, 0.0] for premise, sentence in pairs])


def test_with_an_nli_model_it_alone_decides(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "load_nli", lambda name: (Judge(), 1))
    said = [TEXTS[0], "The inlet valve must be closed before the feed pump stops.", "must be closed"]
    assert find_unsupported(said, TEXTS, encoder, "some/nli") == said[1:2]

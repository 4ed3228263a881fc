"""Summaries of a hierarchy's clusters by a language model; unsupported ones are requested again, then replaced by quotations."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ramify.kinds.asking.reply_cache import CachedModel
from ramify.kinds.hierarchy.leaves import Summary, SummarySentence
from ramify.kinds.hierarchy.summaries import MIN_SUPPORTED_SHARE, ExtractiveSummarizer, SummaryMaterial, encode_cached, find_unsupported
from ramify.kinds.prompts import SUMMARIZE_CLUSTER, SUPPORT, Summarized
from ramify.kinds.settings import HierarchySettings
from ramify.prompts.prompt import Prompt
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.english import sentences
from ramify.tools.errors import BudgetError, ReplyError

_PROMPT_TOKENS = 600
"""Tokens reserved for the rest of the prompt."""


@dataclass(frozen=True)
class ModelSummarizer:
    """Summarizes clusters with a language model."""

    model: CachedModel[HierarchySettings]
    encoder: Encoder

    @property
    def made_by(self) -> str:
        """Return the name of the model that writes the summaries."""
        return self.model.name

    async def summarize(self, material: SummaryMaterial) -> Summary:
        """Return a summary of a cluster from supported sentences; quotations if they are too few or a budget is used up."""
        texts, nli = self._select_texts(material), self.model.settings.nli
        try:
            said = await self._ask_sentences(SUMMARIZE_CLUSTER, material, texts)
            failing = find_unsupported(said, texts, self.encoder, nli)
            if said and len(said) - len(failing) < MIN_SUPPORTED_SHARE * len(said):
                said = await self._ask_sentences(SUPPORT, material, texts, unsupported=failing)
                failing = find_unsupported(said, texts, self.encoder, nli)
        except (ReplyError, BudgetError):
            return await ExtractiveSummarizer(self.encoder).summarize(material)
        support = 1 - len(failing) / len(said) if said else 0.0
        if support < MIN_SUPPORTED_SHARE:
            return await ExtractiveSummarizer(self.encoder).summarize(material)
        kept = _without(said, failing)
        return Summary(tuple(self._cite_nearest(kept, material)), self.made_by, round(support, 4))

    async def _ask_sentences(
        self, prompt: Prompt[Summarized], material: SummaryMaterial, texts: Sequence[str], **more: object
    ) -> list[str]:
        reply: Summarized = await self.model.reply_to(prompt, "sentences", group=material.title, material=list(texts), **more)
        return [sentence for text in reply.sentences for sentence in sentences(text)]

    def _select_texts(self, material: SummaryMaterial) -> list[str]:
        """List the texts nearest to the centre that fit the window; a single too long one is cut."""
        left = self.model.prompt_room(_PROMPT_TOKENS)
        texts: list[str] = []
        for source in material.nearest:
            length = self.model.count(source.text)
            if texts and length > left:
                break
            texts.append(source.text if length <= left else source.text[: max(1, len(source.text) * left // length)])
            left -= length
        return texts

    def _cite_nearest(self, said: Sequence[str], material: SummaryMaterial) -> list[SummarySentence]:
        """Return each sentence with the leaf nearest to it."""
        vectors = np.array([source.vector for source in material.texts])
        near = encode_cached(self.encoder, tuple(said)) @ vectors.T
        return [SummarySentence(text, material.texts[int(row.argmax())].leaf) for text, row in zip(said, near, strict=True)]


def _without(said: Sequence[str], failing: Sequence[str]) -> list[str]:
    """Return the sentences without failing ones and repetitions."""
    left = Counter(said)
    left.subtract(failing)
    return [text for text in dict.fromkeys(said) if left[text] > 0]

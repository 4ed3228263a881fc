"""Sum up the clusters of a hierarchy with a language model; what its leaves do not support is asked for again, then quoted instead."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ramify.nodes.building.kept_replies import KeptModel
from ramify.nodes.settings import HierarchySettings
from ramify.prompts import SUMMARIZE_CLUSTER, SUPPORT, Summarized
from ramify.prompts.prompt import Prompt
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.english import sentences
from ramify.tools.errors import BudgetError, ReplyError
from ramify.tools.hierarchy.leaves import Summary, SummarySentence
from ramify.tools.hierarchy.summaries import MIN_SUPPORTED_SHARE, ExtractiveSummarizer, SummaryMaterial, encode_cached, find_unsupported

_TOLD = 600
"""Tokens left for what the prompt says beside its passages."""


@dataclass(frozen=True)
class Summarizing:
    """Sum up clusters by asking a model."""

    model: KeptModel[HierarchySettings]
    encoder: Encoder

    @property
    def made_by(self) -> str:
        """Name who writes the summaries."""
        return self.model.name

    async def summarize(self, material: SummaryMaterial) -> Summary:
        """Sum up a cluster by what is supported; where that is too little, or a budget is used up, sentences are quoted, and marked so."""
        texts, nli = self._fitting(material), self.model.settings.nli
        try:
            said = await self._said(SUMMARIZE_CLUSTER, material, texts)
            failing = find_unsupported(said, texts, self.encoder, nli)
            if said and len(said) - len(failing) < MIN_SUPPORTED_SHARE * len(said):
                said = await self._said(SUPPORT, material, texts, unsupported=failing)
                failing = find_unsupported(said, texts, self.encoder, nli)
        except (ReplyError, BudgetError):
            return await ExtractiveSummarizer(self.encoder).summarize(material)
        support = 1 - len(failing) / len(said) if said else 0.0
        if support < MIN_SUPPORTED_SHARE:
            return await ExtractiveSummarizer(self.encoder).summarize(material)
        kept = _without(said, failing)
        return Summary(tuple(self._resting(kept, material)), self.made_by, round(support, 4))

    async def _said(self, prompt: Prompt[Summarized], material: SummaryMaterial, texts: Sequence[str], **more: object) -> list[str]:
        reply: Summarized = await self.model.ask(prompt, "sentences", group=material.title, material=list(texts), **more)
        return [sentence for text in reply.sentences for sentence in sentences(text)]

    def _fitting(self, material: SummaryMaterial) -> list[str]:
        """List the texts nearest the centre that fit the window; one too long by itself is cut."""
        left = self.model.room(_TOLD)
        texts: list[str] = []
        for source in material.nearest:
            length = self.model.count(source.text)
            if texts and length > left:
                break
            texts.append(source.text if length <= left else source.text[: max(1, len(source.text) * left // length)])
            left -= length
        return texts

    def _resting(self, said: Sequence[str], material: SummaryMaterial) -> list[SummarySentence]:
        """Lead each sentence to the leaf nearest to it."""
        vectors = np.array([source.vector for source in material.texts])
        near = encode_cached(self.encoder, tuple(said)) @ vectors.T
        return [SummarySentence(text, material.texts[int(row.argmax())].leaf) for text, row in zip(said, near, strict=True)]


def _without(said: Sequence[str], failing: Sequence[str]) -> list[str]:
    """Leave sentences out; of one that is there several times and fails as a repetition, the first stays."""
    left = Counter(said)
    left.subtract(failing)
    return [text for text in dict.fromkeys(said) if left[text] > 0]
